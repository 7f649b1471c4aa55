#define _GNU_SOURCE
#include "vp/linger.h"

#include "context/residency/residency.h"
#include "os/bits.h"
#include "os/clock.h"
#include "os/cycle.h"
#include "os/futex.h"
#include "vp/dispatch.h"

#include <sched.h>
#include <stdatomic.h>

enum {
  AWAKE_NS = 20000, /* for others of this process */
  /* For other processes: so long that the messages of a call come meanwhile. */
  LOOKING_NS = 100000,
  MOST_REST = 64, /* waits */
};

static const struct linger_user *others;
static atomic_int lingering;

void linger_for(const struct linger_user *user) {
  others = user;
}

/* After waits in vain it rests for more and more of them. */
static bool rests(struct vp *vp) {
  return vp->linger_rest && vp->linger_rest--;
}

static void learn(struct vp *vp, bool in_vain) {
  vp->linger_last =
      in_vain ? (unsigned)bits_min(2 * vp->linger_last + 1, MOST_REST) : 0;
  vp->linger_rest = vp->linger_last;
}

void linger(struct vp *vp) {
  if (others) {
    others->sleeps();
    return;
  }
  if (contexts_crowded() || dispatch_running() + lingering >= vps.plan.k ||
      rests(vp)) {
    return;
  }
  atomic_fetch_add(&lingering, 1);
  const bool posted = futex_glance(&vp->go.word, AWAKE_NS);
  atomic_fetch_sub(&lingering, 1);
  learn(vp, !posted);
}

bool linger_may_look_locked(struct vp *vp) {
  return others && dispatch_unwanted_locked() && !contexts_crowded() &&
         !rests(vp);
}

/* Threads that are no VPs may need the core, too: those that this one waits
   for, where there are more processes than cores. But to ask the system for who
   does takes longer than most answers. True if it was in vain. */
static bool look_in_vain(const struct vp *vp) {
  enum { HARD = 128, BETWEEN = 16 };
  uint64_t until = 0;
  for (unsigned vain = 1; !futex_is_posted(&vp->go.word); vain++) {
    if (!dispatch_none_ready() || contexts_crowded()) {
      return false;
    }
    if (others->look()) {
      vain = 0;
      until = 0;
      continue;
    }
    cycle_pause();
    if (vain >= HARD && vain % BETWEEN == 0) {
      const uint64_t now = clock_ns();
      until = until ? until : now + LOOKING_NS;
      if (now > until) {
        return true;
      }
      sched_yield();
    }
  }
  return false;
}

void linger_look(struct vp *vp) {
  learn(vp, look_in_vain(vp));
}
