/* Files in which Open MPI's mpirun, and its daemon on each other host, keep
   what belongs to a job, and those of the processes' shared memory. They remove
   them, unless they are killed. */
#ifndef PEMS_MPI_BELOW_SESSION_H
#define PEMS_MPI_BELOW_SESSION_H

#include <stdbool.h>

/* Removes a job's directory .../ompi.HOST.UID/jf.N, .../pid.N or .../dvm.N with
   all that is in it, and that above it if no other job has one there; or
   .../ompi.PID (of Open MPI 5; early versions of it say prte for ompi), of its
   daemon .../prted.PID. Does nothing to a path that does not end so. */
void session_remove(const char *directory);

/* Removes this host's shared memory of the job of number `job` that no process
   has mapped: numbers come again. */
void session_remove_memory(unsigned long job);

/* Calls f with the path of each file of shared memory that Open MPI 5 or MPICH
   has mapped in this process; no more than a hash of its job's name is in their
   names. */
void session_each_segment(void (*f)(const char *path));

/* Whether a file is such memory, by its path. */
bool session_is_segment(const char *path);

/* Removes one that no process has mapped: numbers in names come again. */
void session_remove_segment(const char *path);

#endif
