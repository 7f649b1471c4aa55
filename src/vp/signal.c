#include "vp/signal.h"

void signal_wait_locked(struct signal *s, struct vp *vp, const char *what) {
  while (!s->raised) {
    run_queue_wait_locked(vp, &s->waiting, what);
  }
}

void signal_raise_locked(struct signal *s) {
  s->raised = true;
  run_queue_wake_locked(&s->waiting);
}

bool signal_first_locked(struct signal *s, struct vp *vp, const char *what) {
  if (s->count++ == 0) {
    return true;
  }
  signal_wait_locked(s, vp, what);
  return false;
}

bool signal_arrive_locked(struct signal *s) {
  return ++s->count == s->n;
}

bool signal_finish_locked(struct signal *s) {
  if (!signal_arrive_locked(s)) {
    return false;
  }
  signal_raise_locked(s);
  return true;
}

void signal_wait_all_locked(struct signal *s, struct vp *vp, const char *what) {
  signal_wait_locked(s, vp, what);
}

bool signal_barrier_locked(struct signal *s, struct vp *vp, const char *what) {
  if (signal_arrive_locked(s)) {
    return true;
  }
  signal_wait_locked(s, vp, what);
  return false;
}
