#include "vp/upcall.h"

#include <stddef.h>

/* Under the scheduler's lock: those that no VP has begun. */
static struct upcall *first;

void upcall_add_locked(struct upcall *u) {
  u->next = first;
  first = u;
}

static struct upcall *take_locked(const struct vp *vp) {
  struct upcall **link = &first;
  while (*link && !(*link)->is_for(*link, vp)) {
    link = &(*link)->next;
  }
  struct upcall *const u = *link;
  if (u) {
    *link = u->next;
  }
  return u;
}

bool upcall_run_locked(struct vp *vp) {
  bool any = false;
  struct upcall *u;
  while (first && !vp->shared && (u = take_locked(vp))) {
    run_queue_unlock();
    u->run(u, vp);
    run_queue_lock();
    run_queue_post_locked(&u->made);
    any = true;
  }
  return any;
}
