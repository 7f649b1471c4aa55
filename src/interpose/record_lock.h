/* POSIX record locks (F_SETLK and its kin, lockf) of ranks. The kernel keeps
   them by process; here each rank has its own: those of an open file
   description that the rank has to itself for each file that it locks, however
   it has that open. So they keep apart ranks of a process, of several, and
   other programs; a forked child has none. */
#ifndef PEMS_INTERPOSE_RECORD_LOCK_H
#define PEMS_INTERPOSE_RECORD_LOCK_H

#include <fcntl.h>
#include <stdbool.h>

struct vp;

/* Is the command one for record locks, and the caller's file one whose locks
   are the rank's? Those of devices, pipes and sockets are the process's. */
bool record_lock_is(int fd, int command);
/* As fcntl, with the program's struct. A rank that waits lets others run. */
int record_lock_control(int fd, int command, struct flock *l);

/* The rank's program closes fd: its locks on the file go, as POSIX has it. */
void record_lock_close(int fd);
/* Does the rank have a lock? */
bool record_locks_held(const struct vp *vp);
/* vp's program has ended. */
void record_locks_end(struct vp *vp);

#endif
