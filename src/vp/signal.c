#include "vp/signal.h"

void signal_wait(struct signal *s, struct vp *vp, const char *what) {
  while (!s->raised) {
    run_queue_wait(vp, &s->waiting, what);
  }
}

void signal_raise(struct signal *s) {
  s->raised = true;
  run_queue_wake(&s->waiting);
}

bool signal_first(struct signal *s, struct vp *vp, const char *what) {
  if (s->count++ == 0) {
    return true;
  }
  signal_wait(s, vp, what);
  return false;
}

bool signal_arrive(struct signal *s) {
  return ++s->count == s->n;
}

bool signal_finish(struct signal *s) {
  if (!signal_arrive(s)) {
    return false;
  }
  signal_raise(s);
  return true;
}

void signal_wait_all(struct signal *s, struct vp *vp, const char *what) {
  signal_wait(s, vp, what);
}

bool signal_barrier(struct signal *s, struct vp *vp, const char *what) {
  if (signal_arrive(s)) {
    return true;
  }
  signal_wait(s, vp, what);
  return false;
}
