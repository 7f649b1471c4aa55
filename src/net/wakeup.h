/* How processes of one host wake each other's receivers: a bell each, in memory
   that they share. Others sleep for bounded times only. */
#ifndef PEMS_NET_WAKEUP_H
#define PEMS_NET_WAKEUP_H

#include <mpi.h>
#include <stdint.h>

/* Called by all processes of the communicator. Without memory to share, each
   hears its own bell only. */
void wakeup_create_all(MPI_Comm comm);
void wakeup_destroy_all(void);

/* Any thread, any lock: cheap unless the process sleeps. */
void wakeup_ring(int process);

/* For one thread: says that it will sleep; then it looks whether there is
   anything to do; then it sleeps for at most `ns`, but not if the bell rang
   after wakeup_sleeps; then it is awake. */
uint32_t wakeup_sleeps(void);
/* The same where another thread of the process looks meanwhile: no bell rings
   for it, only wakeup_call. */
uint32_t wakeup_rests(void);
void wakeup_wait(uint32_t heard, int64_t ns);
void wakeup_wakes(void);

/* Any thread: it looks itself from now on, so the sleeper need not be rung for.
 */
void wakeup_stands_in(void);
/* Wakes the sleeper of this process in any case. */
void wakeup_call(void);

#endif
