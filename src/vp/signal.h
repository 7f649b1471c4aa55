/* The composite signals of PEMS2 (section 4.3): a counter and a flag that
   outlive the moment, and the VPs that wait. One signal serves one collective
   call of n VPs. All functions are called by a running VP with the scheduler's
   lock held, and return with it held; waiting gives the VP's slot away. */
#ifndef PEMS_VP_SIGNAL_H
#define PEMS_VP_SIGNAL_H

#include "vp/run_queue.h"

struct signal {
  int n;       /* VPs that take part */
  int count;   /* of them that have arrived */
  bool raised; /* the event has happened */
  struct run_queue_waiting waiting;
};

/* Rooted synchronisation (EM-WAIT-FOR-ROOT): waits until the signal is raised.
   Does not wait at all when that has happened before. */
void signal_wait_locked(struct signal *s, struct vp *vp, const char *what);
/* EM-SIGNAL-THREADS: raises it and wakes those that wait. */
void signal_raise_locked(struct signal *s);

/* Initial synchronisation (EM-FIRST-THREAD): true for the first VP to arrive,
   at once; it must signal_raise when its work is done. The others wait for
   that and get false. */
bool signal_first_locked(struct signal *s, struct vp *vp, const char *what);

/* Counts the caller; true if it is the last. Nobody waits or is woken. */
bool signal_arrive_locked(struct signal *s);

/* Final synchronisation. EM-THREAD-FINISHED: counts the caller; true if it is
   the last, then those that wait are woken. */
bool signal_finish_locked(struct signal *s);
/* EM-WAIT-THREADS: waits until all n have finished. */
void signal_wait_all_locked(struct signal *s, struct vp *vp, const char *what);

/* A superstep barrier: the last VP to arrive returns true at once, without
   releasing the others: it calls signal_raise when its work is done. */
bool signal_barrier_locked(struct signal *s, struct vp *vp, const char *what);

#endif
