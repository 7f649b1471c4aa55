#define _GNU_SOURCE
#include "vp/sched.h"

#include "base/message.h"
#include "base/native.h"
#include "base/trace.h"
#include "vp/helpers.h"
#include "vp/place.h"
#include "vp/self.h"

#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
  pthread_mutex_t lock;
  struct vp *vp;
  int n;
  enum order order;
  int *slot;           /* stack of the tokens, 0 .. k-1, that nobody holds */
  int tokens;          /* of them */
  _Atomic int running; /* VPs that hold one */
  _Atomic int ready;   /* VPs that wait for one */
  _Atomic int done;
  struct vp **queue; /* heap by turn: ready VPs that may be started, as far as
                        is known */
  int queued;
  struct vp *paused, **paused_end; /* VPs that poll, the first longest ago */
  sched_stuck_fn *stuck;
} sched = {/* held for a moment, so that it is worth to look again */
           .lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP};

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

bool sched_spare(void) {
  return !sched.ready && sched.running > 1;
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

enum sched_state sched_state(void) {
  return sched.done >= sched.n                          ? SCHED_ENDED
         : sched.running || sched.ready || sched.paused ? SCHED_BUSY
                                                        : SCHED_STUCK;
}

/* Queue ------------------------------------------------------------------ */

static void swap(int i, int j) {
  struct vp *vp = sched.queue[i];
  sched.queue[i] = sched.queue[j];
  sched.queue[j] = vp;
}

static bool before(int i, int j) {
  return sched.queue[i]->turn < sched.queue[j]->turn;
}

static void enqueue(struct vp *vp) {
  if (vp->queued) {
    return;
  }
  int i = sched.queued++;
  sched.queue[i] = vp;
  vp->queued = true;
  for (; i > 0 && before(i, (i - 1) / 2); i = (i - 1) / 2) {
    swap(i, (i - 1) / 2);
  }
}

static void dequeue_first(void) {
  sched.queue[0]->queued = false;
  sched.queue[0] = sched.queue[--sched.queued];
  for (int i = 0, child; (child = 2 * i + 1) < sched.queued; i = child) {
    if (child + 1 < sched.queued && before(child + 1, child)) {
      child++;
    }
    if (!before(child, i)) {
      break;
    }
    swap(i, child);
  }
}

/* Who runs next ------------------------------------------------------------ */

/* VPs that have waited less often come first; among those of one superstep the
   order is that of their numbers, up, and down in the next. */
static uint64_t turn_of(const struct vp *vp) {
  const bool down = sched.order == ORDER_ALTERNATE && vp->waits % 2;
  return vp->waits << 32 | (uint32_t)(down ? sched.n - vp->index : vp->index);
}

/* It may be started as soon as its context is in memory: those that are run
   first, whatever their turn. By number, it waits for its turn in any case. */
static void make_ready(struct vp *vp) {
  vp->next_waiting = NULL;
  vp->state = VP_READY;
  vp->turn = turn_of(vp);
  sched.ready++;
  const bool in = !vp->context || context_want(vp->context, vp->turn);
  trace_enter(vp->index, in ? TRACE_SLOT : TRACE_SWAP);
  if (in || sched.order == ORDER_ID) {
    enqueue(vp);
  }
}

/* The ready VP to start, its context held, or NULL. One whose context has left
   memory meanwhile comes back when that does. */
static struct vp *pick(void) {
  while (sched.queued) {
    struct vp *vp = sched.queue[0];
    const bool here = !vp->context || context_try_acquire(vp->context);
    if (!here && sched.order == ORDER_ID) {
      return NULL;
    }
    dequeue_first();
    if (here) {
      return vp;
    }
  }
  return NULL;
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

/* The slot that it had last, if that is free: it may be bound to its cores. */
static void take_slot(struct vp *vp) {
  int i = sched.tokens - 1;
  while (i > 0 && sched.slot[i] != vp->slot) {
    i--;
  }
  i = sched.slot[i] == vp->slot ? i : sched.tokens - 1;
  vp->slot = sched.slot[i];
  sched.slot[i] = sched.slot[--sched.tokens];
}

static void start_ready(void) {
  struct vp *vp;
  while (sched.tokens > 0 && (vp = pick())) {
    sched.ready--;
    sched.running++;
    take_slot(vp);
    vp->state = VP_RUNNING;
    futex_wake(&vp->go);
  }
}

static void unpause(struct vp *vp) {
  struct vp **link = &sched.paused;
  while (*link != vp) {
    link = &(*link)->next_paused;
  }
  *link = vp->next_paused;
  if (!*link) {
    sched.paused_end = link;
  }
  vp->paused = false;
  make_ready(vp);
}

static void dispatch(void) {
  start_ready();
  while (sched.tokens > sched.ready && sched.paused) {
    unpause(sched.paused);
    start_ready();
  }
  if (sched_state() == SCHED_STUCK) {
    sched.stuck();
  }
}

static void on_arrival(struct context *c) {
  sched_lock();
  struct vp *vp = sched.n ? &sched.vp[c->index] : NULL;
  if (vp && vp->state == VP_READY) {
    trace_enter(vp->index, TRACE_SLOT);
    enqueue(vp);
    dispatch();
  }
  sched_unlock();
}

/* While one of its threads waits, the others may still use its memory. */
static bool may_leave(const struct context *c) {
  return helpers_asleep(&sched.vp[c->index]);
}

void sched_create(struct vp *vps, int n, int k, enum order order) {
  sched_lock(); /* contexts come in as soon as they are wanted */
  sched.vp = vps;
  sched.n = n;
  sched.order = order;
  sched.slot = native_zneed(k, sizeof(*sched.slot), "scheduling");
  sched.queue = native_zneed(n, sizeof(*sched.queue), "scheduling");
  for (sched.tokens = 0; sched.tokens < k; sched.tokens++) {
    sched.slot[sched.tokens] = k - 1 - sched.tokens;
  }
  sched.running = sched.done = sched.ready = sched.queued = 0;
  sched.paused = NULL;
  sched.paused_end = &sched.paused;
  if (!sched.stuck) {
    sched.stuck = report_deadlock;
  }
  contexts_on_arrival(on_arrival);
  contexts_on_leaving(may_leave);
  for (int i = 0; i < n; i++) {
    vps[i].go = 0;
    vps[i].waits = 0;
    vps[i].queued = vps[i].paused = false;
    make_ready(&vps[i]);
  }
  sched_unlock();
}

void sched_destroy(void) {
  sched_lock();
  contexts_on_arrival(NULL);
  contexts_on_leaving(NULL);
  sched.vp = NULL;
  sched.n = sched.queued = 0;
  native_free(sched.slot);
  native_free(sched.queue);
  sched.slot = NULL;
  sched.queue = NULL;
  sched_unlock();
}

/* The token of a VP that stops running goes to the next. */
static void pass_on(struct vp *vp, enum vp_state state) {
  vp->state = state;
  sched.slot[sched.tokens++] = vp->slot;
  sched.running--;
  dispatch();
}

/* The context is in memory already; what it needs beyond that is counted. */
static void go(struct vp *vp) {
  futex_wait(&vp->go);
  place_thread(vp->index, vp->slot);
  if (vp->context) {
    context_acquire(vp->context);
  }
}

void sched_enter(struct vp *vp) {
  sched_lock();
  dispatch();
  sched_unlock();
  go(vp);
  trace_enter(vp->index, TRACE_COMPUTE);
}

void sched_leave(struct vp *vp) {
  /* Threads that the program left behind still use its memory, as in a process
     they would until the very end of it. */
  if (vp->context && helpers_settle(vp)) {
    context_discard(vp->context);
  } else if (vp->context) {
    vp->left_threads = true;
    context_release(vp->context);
  }
  sched_lock();
  trace_leave(vp->index);
  sched.done++;
  pass_on(vp, VP_DONE);
  sched_unlock();
}

/* The VP is in a list from which somebody will take it. */
static void park(struct vp *vp, const char *what) {
  const enum trace_state before_waiting = trace_state_of(vp->index);
  trace_enter(vp->index, TRACE_OTHERS);
  vp->waits_in = what;
  vp->site = self.site;
  vp->waits++;
  if (vp->context) {
    vp->context->site = image_site(&vp->context->image, self.site);
    helpers_wait(vp);
    context_release(vp->context);
  }
  pass_on(vp, VP_BLOCKED);
  sched_unlock();
  go(vp);
  trace_enter(vp->index, before_waiting);
  sched_lock();
}

void sched_wait(struct vp *vp, struct waiting *w, const char *what) {
  vp->next_waiting = w->first;
  w->first = vp;
  park(vp, what);
}

void sched_pause(struct vp *vp, const char *what) {
  if (!sched.ready && !sched.paused) {
    sched_unlock();
    sched_yield();
    sched_lock();
    return;
  }
  vp->paused = true;
  vp->next_paused = NULL;
  *sched.paused_end = vp;
  sched.paused_end = &vp->next_paused;
  park(vp, what);
}

void sched_unpause(struct vp *vp) {
  if (vp->paused) {
    unpause(vp);
    dispatch();
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
