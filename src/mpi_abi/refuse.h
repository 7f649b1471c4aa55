/* What the generated wrappers do when a call cannot be served. */
#ifndef PEMS_MPI_ABI_REFUSE_H
#define PEMS_MPI_ABI_REFUSE_H

#include <stdbool.h>

/* Ends the job with one line that names the function, and exit status 1. `name`
   is "MPI_X". "pems: MPI_X is not supported yet" */
_Noreturn void mpi_refuse(const char *name);

/* A thread that a rank's program started calls MPI: returns if that may be, by
   the level of threads that was provided; else ends the job. */
void mpi_helper_calls(const char *name);
/* The calling thread enters pems, and leaves. Threads of a rank that asked for
   MPI_THREAD_MULTIPLE take turns; of others, two at once end the job. mpi_leave
   gets what mpi_enter returned. */
bool mpi_enter(const char *name);
void mpi_leave(bool entered);

/* What to do about an error code that the real library returned to a
   virtual processor's thread: call the error handler that its rank has set on
   MPI_COMM_WORLD. Returns what MPI_X shall return. */
typedef int mpi_failed_fn(int code, const char *name);

/* Registers `failed`; none at first: codes are returned as they are. Called
   once, before virtual processors start. (The real library's own handlers
   must then be MPI_ERRORS_RETURN.) */
void mpi_set_failed(mpi_failed_fn *failed);

/* For the wrappers: the result of a delegated call by a virtual processor. */
int mpi_delegated(int code, const char *name);

/* One call at a time into functions for which the real library has no lock. */
void mpi_serial_enter(void);
void mpi_serial_leave(void);

#endif
