/* The threads of a rank whose program started some: do they sleep, so that
   nobody uses the rank's context while one of them waits in MPI? */
#ifndef PEMS_VP_HELPERS_H
#define PEMS_VP_HELPERS_H

#include <stdbool.h>
#include <stdint.h>

struct vp;

/* The calling thread, one of the VP's, is about to start another one. Returns
   false if out of memory. */
bool helpers_starting(struct vp *vp);
/* It could not. */
void helpers_not_started(struct vp *vp);
/* The new thread begins. Its end is noticed, which may come after the VP's. */
void helpers_begin(struct vp *vp);

/* The calling thread is the one of the VP that waits in MPI. */
void helpers_wait(struct vp *vp);
/* Nobody waits there: all threads of the VP count. */
void helpers_none_waits(struct vp *vp);
/* Are all others asleep until one of the VP's threads wakes them: in a futex,
   without a time limit? So they stay until who waits in MPI goes on. A thread
   that computes, spins, or waits for a time or for I/O may touch the context
   any moment. */
bool helpers_asleep(const struct vp *vp);
/* The program of the VP has ended, and the calling thread with it: waits, a
   second at most, until the others are asleep or have ended, too. Returns false
   if some still run. */
bool helpers_settle(struct vp *vp);

/* Processor time of all threads of the VP but the calling one, also of those
   that have ended, in nanoseconds. */
struct helpers_time {
  uint64_t user, system;
};
void helpers_times(const struct vp *vp, struct helpers_time *to);

#endif
