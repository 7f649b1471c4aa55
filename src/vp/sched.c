#define _GNU_SOURCE
#include "vp/sched.h"

#include "base/message.h"

#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
  pthread_mutex_t lock;
  struct vp *vp;
  int n;
  int tokens;          /* not in use, of k */
  _Atomic int running; /* VPs that hold one */
  int ready;
  _Atomic int done;
  int next; /* index after the VP that was started last */
  sched_stuck_fn *stuck;
} sched = {.lock = PTHREAD_MUTEX_INITIALIZER};

void sched_lock(void) {
  pthread_mutex_lock(&sched.lock);
}

void sched_unlock(void) {
  pthread_mutex_unlock(&sched.lock);
}

int sched_done(void) {
  return sched.done;
}

int sched_running(void) {
  return sched.running;
}

void sched_on_stuck(sched_stuck_fn *f) {
  sched.stuck = f;
}

/* Says where VPs wait, as far as one line allows. */
static void report_deadlock(void) {
  char where[600] = "";
  size_t at = 0;
  for (int i = 0; i < sched.n && at < sizeof(where) - 80; i++) {
    const struct vp *vp = &sched.vp[i];
    at += snprintf(where + at, sizeof(where) - at, "%srank %d %s%s",
                   i ? ", " : "", vp->rank,
                   vp->state == VP_DONE ? "has ended" : "waits in ",
                   vp->state == VP_DONE ? "" : vp->waits_in);
  }
  msg_fail(MSG_FAILED,
           "deadlock: %s%s: every rank must make the same collective calls",
           where, at >= sizeof(where) - 80 ? ", ..." : "");
}

void sched_create(struct vp *vps, int n, int k) {
  sched.vp = vps;
  sched.n = n;
  sched.tokens = k;
  sched.running = sched.done = sched.next = 0;
  sched.ready = n;
  sched.stuck = report_deadlock;
  for (int i = 0; i < n; i++) {
    vps[i].state = VP_READY;
    if (vps[i].context) {
      context_want(vps[i].context, true);
    }
    vps[i].go = 0;
  }
}

void sched_destroy(void) {
  sched.vp = NULL;
  sched.n = 0;
}

static void futex_wait(_Atomic uint32_t *word) {
  while (!atomic_load_explicit(word, memory_order_acquire)) {
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
  }
  atomic_store_explicit(word, 0, memory_order_relaxed);
}

static void futex_wake(_Atomic uint32_t *word) {
  atomic_store_explicit(word, 1, memory_order_release);
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* The ready VP to start: first those whose context is still in memory, so that
   what one superstep leaves resident is used first in the next; else in the
   order of ranks, going round. */
static struct vp *pick(void) {
  struct vp *other = NULL;
  for (int i = 0; i < sched.n; i++) {
    struct vp *vp = &sched.vp[(sched.next + i) % sched.n];
    if (vp->state != VP_READY) {
      continue;
    }
    if (!vp->context || context_resident(vp->context)) {
      return vp;
    }
    if (!other) {
      other = vp;
    }
  }
  return other;
}

static void dispatch(void) {
  while (sched.tokens > 0 && sched.ready > 0) {
    struct vp *vp = pick();
    sched.next = vp->index + 1;
    sched.ready--;
    sched.tokens--;
    sched.running++;
    vp->state = VP_RUNNING;
    futex_wake(&vp->go);
  }
  if (!sched.running && sched.done < sched.n) {
    sched.stuck();
  }
}

/* The token of a VP that stops running goes to the next. */
static void pass_on(struct vp *vp, enum vp_state state) {
  vp->state = state;
  sched.tokens++;
  sched.running--;
  dispatch();
}

static void make_resident(struct vp *vp) {
  if (vp->context) {
    context_acquire(vp->context);
  }
}

void sched_enter(struct vp *vp) {
  sched_lock();
  dispatch();
  sched_unlock();
  futex_wait(&vp->go);
  make_resident(vp);
}

void sched_leave(struct vp *vp) {
  if (vp->context) {
    context_discard(vp->context);
  }
  sched_lock();
  sched.done++;
  pass_on(vp, VP_DONE);
  sched_unlock();
}

void sched_wait(struct vp *vp, struct waiting *w, const char *what) {
  vp->waits_in = what;
  vp->next_waiting = w->first;
  w->first = vp;
  if (vp->context) {
    context_release(vp->context);
  }
  pass_on(vp, VP_BLOCKED);
  sched_unlock();
  futex_wait(&vp->go);
  make_resident(vp);
  sched_lock();
}

static void make_ready(struct vp *vp) {
  vp->next_waiting = NULL;
  vp->state = VP_READY;
  sched.ready++;
  if (vp->context) {
    context_want(vp->context, true);
  }
}

void sched_wake(struct waiting *w) {
  struct vp *vp = w->first;
  w->first = NULL;
  while (vp) {
    struct vp *next = vp->next_waiting;
    make_ready(vp);
    vp = next;
  }
  dispatch();
}

void sched_wake_one(struct waiting *w, struct vp *vp) {
  for (struct vp **link = &w->first; *link; link = &(*link)->next_waiting) {
    if (*link == vp) {
      *link = vp->next_waiting;
      make_ready(vp);
      dispatch();
      return;
    }
  }
}
