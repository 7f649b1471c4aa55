/* The ranks that the job has room for: which are taken by MPI_Comm_spawn, and
   when the last one has ended. Process 0 counts them. Ranks are never taken
   twice. */
#ifndef PEMS_MPI_COMM_UNIVERSE_H
#define PEMS_MPI_COMM_UNIVERSE_H

#include <stdint.h>

struct vp;

/* By all processes, before am_start, once vps is complete. `prepare` is called
   for each VP that starts (vp/dormant.h). */
void universe_start(void (*prepare)(struct vp *vp));

/* A number that no other job has. */
uint64_t universe_job(void);

/* Takes n ranks: returns the first, the others follow; -1: there are fewer. By
   a VP, which waits in `function`. */
int universe_take(int n, const char *function);
/* Starts n ranks that were taken; the calling VP tells each what it is. */
void universe_spawn(int first, int n);

#endif
