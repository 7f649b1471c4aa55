#include "vp/signal.h"

void signal_wait(struct signal *s, struct vp *vp, const char *what) {
  while (!s->raised) {
    sched_wait(vp, &s->waiting, what);
  }
}

void signal_raise(struct signal *s) {
  s->raised = true;
  sched_wake(&s->waiting);
}

bool signal_first(struct signal *s, struct vp *vp, const char *what) {
  if (s->count++ == 0) {
    return true;
  }
  signal_wait(s, vp, what);
  return false;
}

bool signal_finish(struct signal *s) {
  if (++s->count < s->n) {
    return false;
  }
  signal_raise(s);
  return true;
}

void signal_wait_all(struct signal *s, struct vp *vp, const char *what) {
  signal_wait(s, vp, what);
}

bool signal_barrier(struct signal *s, struct vp *vp, const char *what) {
  if (++s->count == s->n) {
    return true;
  }
  signal_wait(s, vp, what);
  return false;
}
