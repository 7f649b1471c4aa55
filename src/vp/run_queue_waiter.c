#include "vp/run_queue_waiter.h"

#include <stddef.h>

void run_queue_waiter_add_locked(struct run_queue_waiting *w,
                                 struct run_queue_waiter *me) {
  me->next = w->first;
  me->listed = true;
  w->first = me;
}

void run_queue_waiter_remove_locked(struct run_queue_waiting *w,
                                    struct run_queue_waiter *me) {
  if (!me->listed) {
    return;
  }
  struct run_queue_waiter **link = &w->first;
  while (*link != me) {
    link = &(*link)->next;
  }
  *link = me->next;
  me->listed = false;
}

struct run_queue_waiter *
run_queue_waiter_take_locked(struct run_queue_waiting *w, const struct vp *vp) {
  struct run_queue_waiter **link = &w->first;
  while (*link && (*link)->vp != vp) {
    link = &(*link)->next;
  }
  struct run_queue_waiter *one = *link;
  if (one) {
    *link = one->next;
    one->listed = false;
  }
  return one;
}

void run_queue_waiter_want_locked(struct run_queue_waiter *me) {
  struct run_queue_waiter **link = &me->vp->wanting;
  while (*link) {
    link = &(*link)->next;
  }
  me->next = NULL;
  *link = me;
}

void run_queue_waiter_hand_over_locked(struct vp *vp, bool started) {
  struct run_queue_waiter *w = vp->wanting;
  vp->wanting = w->next;
  vp->on = true;
  w->started = started;
  run_queue_post_locked(&w->go);
}
