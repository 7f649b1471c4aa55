/* Threads of VPs that wait: for an event, or for their turn in their VP. The
   scheduler's lock guards all of this but `go`. */
#ifndef PEMS_VP_RUN_QUEUE_WAITER_H
#define PEMS_VP_RUN_QUEUE_WAITER_H

#include "vp/vp.h"

/* A thread of a VP that waits: on its own stack. */
struct run_queue_waiter {
  struct vp *vp;
  struct run_queue_waiter *next; /* in a list of those that wait, or of those of
                                    its VP that want to go on */
  bool listed;  /* it waits for an event that has not happened */
  bool started; /* it goes on, and its VP had to be given a slot for that */
  struct run_queue_go go;
};

/* Threads of VPs that wait for the same event. Zeroed: nobody. */
struct run_queue_waiting {
  struct run_queue_waiter *first;
};

void run_queue_waiter_add_locked(struct run_queue_waiting *w,
                                 struct run_queue_waiter *me);
/* It waits no longer, if it still does. */
void run_queue_waiter_remove_locked(struct run_queue_waiting *w,
                                    struct run_queue_waiter *me);
/* Takes out the VP's thread that came last, or returns NULL. */
struct run_queue_waiter *
run_queue_waiter_take_locked(struct run_queue_waiting *w, const struct vp *vp);

/* It waits for no event and wants to go on, after others of its VP that do. */
void run_queue_waiter_want_locked(struct run_queue_waiter *me);
/* The first of the VP's threads that want to go on, there is one, has the VP
   and is woken. `started`: the VP has just been given a slot. */
void run_queue_waiter_hand_over_locked(struct vp *vp, bool started);

#endif
