#include "vp/dormant.h"

#include "os/futex.h"
#include "vp/dispatch.h"
#include "vp/vp.h"

static struct {
  const struct dormant_user *user; /* or NULL */
  void (*_Atomic start)(struct vp *vp);
  _Atomic uint32_t changes; /* futex: grows when one starts, and at the end */
  atomic_bool closed;
} dormant;

void dormant_serve(const struct dormant_user *user) {
  dormant.user = user;
}

void dormant_begin(void (*start)(struct vp *vp)) {
  atomic_store(&dormant.start, start);
  if (dormant.user) {
    dormant.user->begun();
  }
}

void dormant_ended(int n) {
  if (dormant.user) {
    dormant.user->ended(n);
  }
}

bool dormant_can_start(void) {
  return atomic_load(&dormant.start);
}

static void change(void) {
  atomic_fetch_add(&dormant.changes, 1);
  futex_wake_all(&dormant.changes);
}

void dormant_start(struct vp *vp, void (*prepare)(struct vp *vp)) {
  vp->prepare = prepare;
  dispatch_add(vp);
  atomic_load (&dormant.start)(vp);
  atomic_store(&vp->started, true);
  change();
}

void dormant_close(void) {
  atomic_store(&dormant.closed, true);
  change();
}

static struct vp *find_started(void) {
  for (int i = vps.n - vps.dormant; i < vps.n; i++) {
    if (atomic_exchange(&vps.item[i].started, false)) {
      return &vps.item[i];
    }
  }
  return NULL;
}

struct vp *dormant_next(void) {
  for (;;) {
    const uint32_t seen = atomic_load(&dormant.changes);
    const bool closed = atomic_load(&dormant.closed);
    struct vp *vp = find_started();
    if (vp || closed) {
      return vp;
    }
    futex_wait(&dormant.changes, seen);
  }
}
