#define _GNU_SOURCE
#include "vp/run_queue.h"

#include "base/message.h"
#include "base/need.h"
#include "base/self.h"
#include "context/calls/create.h"
#include "context/residency/residency.h"
#include "context/stack_part.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/lock.h"
#include "os/native.h"
#include "report/trace.h"
#include "vp/alarm.h"
#include "vp/binding.h"
#include "vp/helpers.h"
#include "vp/pace.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* VPs that let others run first, the first longest ago. */
struct patients {
  struct vp *first, *last;
};

static struct {
  struct lock lock;
  struct vp *vp;
  int n;
  const struct policy *policy;
  int *slot;           /* stack of the tokens, 0 .. k-1, that nobody holds */
  int tokens;          /* of them */
  _Atomic int running; /* VPs that hold one */
  _Atomic int ready;   /* VPs that wait for one */
  _Atomic int done;    /* VPs that have ended, or are dormant */
  _Atomic int dormant;
  struct vp **queue; /* heap by turn: ready VPs that may be started, as far as
                        is known */
  int queued;
  uint64_t starts;        /* how often a VP was given a slot */
  struct patients due;    /* something has happened for them */
  struct patients paused; /* nothing has: they ask in vain */
  struct vp *guess;       /* one that nothing happened for, coming from disk */
  struct pace pace;       /* of such guesses */
  run_queue_stuck_fn *stuck;
} sched = {/* held for a moment, so that it is worth to look again */
           .lock = LOCK_ADAPTIVE_INITIALIZER(LOCK_RUN_QUEUE)};

void run_queue_lock(void) {
  lock_take(&sched.lock);
}

static _Thread_local void (*after)(void);

void run_queue_unlock(void) {
  lock_give(&sched.lock);
  if (after) {
    void (*const f)(void) = after;
    after = NULL;
    f();
  }
}

void run_queue_after_locked(void (*f)(void)) {
  after = f;
}

int run_queue_dormant(void) {
  return sched.dormant;
}

int run_queue_done(void) {
  return sched.done - sched.dormant;
}

int run_queue_running(void) {
  return sched.running;
}

bool run_queue_spare(void) {
  return !sched.ready && sched.running > 1;
}

void run_queue_on_stuck(run_queue_stuck_fn *f) {
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

/* Do threads of a VP run outside MPI while others wait there? They are looked
   at again soon. */
static bool is_loose(const struct vp *vp) {
  return vp->shared && vp->state == VP_BLOCKED &&
         (!helpers_asleep(vp) || atomic_load(&vp->entering));
}

static bool is_any_loose(void) {
  enum { SOON = 20 * 1000 * 1000 };
  int i = 0;
  while (i < sched.n && !is_loose(&sched.vp[i])) {
    i++;
  }
  if (i < sched.n) {
    alarm_set(clock_ns() + SOON);
  }
  return i < sched.n;
}

enum run_queue_state run_queue_state_locked(void) {
  return sched.done >= sched.n          ? SCHED_ENDED
         : sched.running || sched.ready ? SCHED_BUSY
         : sched.due.first              ? SCHED_BUSY
         : sched.paused.first           ? SCHED_BUSY
         : is_any_loose()               ? SCHED_BUSY
                                        : SCHED_STUCK;
}

/* --- queue --- */

static void swap(int i, int j) {
  struct vp *vp = sched.queue[i];
  sched.queue[i] = sched.queue[j];
  sched.queue[j] = vp;
}

static bool before(int i, int j) {
  return sched.queue[i]->turn < sched.queue[j]->turn;
}

static void enqueue_locked(struct vp *vp) {
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

static void dequeue_first_locked(void) {
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

/* --- who runs next --- */

/* It may be started as soon as its context is in memory: those that are run
   first, unless the policy has VPs run in turn. */
static void make_ready_locked(struct vp *vp) {
  if (vp->state == VP_BLOCKED) {
    trace_woken(vp->index, self.vp ? self.vp->rank : TRACE_ELSEWHERE);
  }
  vp->state = VP_READY;
  vp->turn = sched.policy->turn(vp->waits, vp->index, sched.n);
  sched.ready++;
  const bool in = !vp->context || context_want(vp->context, vp->turn);
  trace_enter(vp->index, in ? TRACE_SLOT : TRACE_SWAP);
  if (in || sched.policy->in_turn) {
    enqueue_locked(vp);
  }
}

/* The ready VP to start, its context held, or NULL. One whose context has left
   memory meanwhile comes back when that does. */
static struct vp *pick_locked(void) {
  while (sched.queued) {
    struct vp *vp = sched.queue[0];
    const bool here = !vp->context || context_try_acquire(vp->context);
    if (!here && sched.policy->in_turn) {
      return NULL;
    }
    dequeue_first_locked();
    if (here) {
      return vp;
    }
  }
  return NULL;
}

static void sleep_on(_Atomic uint32_t *word) {
  while (!atomic_load_explicit(word, memory_order_acquire)) {
    futex_wait(word, 0);
  }
  atomic_store_explicit(word, 0, memory_order_relaxed);
}

static void wake_from(_Atomic uint32_t *word) {
  atomic_store_explicit(word, 1, memory_order_release);
  futex_wake(word, 1);
}

/* The slot that it had last, if that is free: it may be bound to its cores. */
static void take_slot_locked(struct vp *vp) {
  int i = sched.tokens - 1;
  while (i > 0 && sched.slot[i] != vp->slot) {
    i--;
  }
  i = sched.slot[i] == vp->slot ? i : sched.tokens - 1;
  vp->slot = sched.slot[i];
  sched.slot[i] = sched.slot[--sched.tokens];
}

/* The first of the VP's threads that want to go on has the VP. */
static void hand_over_locked(struct vp *vp, bool started) {
  struct run_queue_waiter *w = vp->wanting;
  vp->wanting = w->next;
  vp->on = true;
  w->started = started;
  wake_from(&w->go);
}

static void start_ready_locked(void) {
  struct vp *vp;
  while (sched.tokens > 0 && (vp = pick_locked())) {
    sched.ready--;
    sched.running++;
    sched.starts++;
    if (vp == sched.guess) {
      pace_paid(&sched.pace, clock_ns());
      sched.guess = NULL;
    }
    take_slot_locked(vp);
    vp->state = VP_RUNNING;
    if (vp->wanting) {
      hand_over_locked(vp, true);
    } else {
      wake_from(&vp->go);
    }
  }
}

/* --- those that let others run first --- */

static void be_patient_locked(struct vp *vp, struct patients *among) {
  vp->among = among;
  vp->next_patient = NULL;
  *(among->first ? &among->last->next_patient : &among->first) = vp;
  among->last = vp;
}

static void leave_patients_locked(struct vp *vp) {
  struct patients *among = vp->among;
  struct vp *before = NULL;
  for (struct vp *at = among->first; at != vp; at = at->next_patient) {
    before = at;
  }
  *(before ? &before->next_patient : &among->first) = vp->next_patient;
  if (among->last == vp) {
    among->last = before;
  }
  vp->among = NULL;
}

static void hurry_locked(struct vp *vp) {
  leave_patients_locked(vp);
  make_ready_locked(vp);
}

static bool in_memory(const struct vp *vp) {
  return !vp->context || context_resident(vp->context);
}

/* The VP can go on: at once where that costs nothing, else when others have
   run that might do more for it. */
static void make_due_locked(struct vp *vp) {
  if (in_memory(vp)) {
    make_ready_locked(vp);
    return;
  }
  trace_woken(vp->index, self.vp ? self.vp->rank : TRACE_ELSEWHERE);
  trace_enter(vp->index, TRACE_SLOT);
  vp->due_at = sched.starts;
  be_patient_locked(vp, &sched.due);
}

/* One of those that ask in vain, to be tried now; or NULL. */
static struct vp *find_guess_locked(uint64_t now) {
  struct vp *vp = sched.paused.first;
  while (vp && !in_memory(vp)) {
    vp = vp->next_patient;
  }
  return vp ? vp : pace_allows(&sched.pace, now) ? sched.paused.first : NULL;
}

static void make_guess_locked(struct vp *vp, uint64_t now) {
  if (!in_memory(vp)) {
    vp->guessed = true;
    sched.guess = vp;
    pace_begin(&sched.pace, now);
  }
  hurry_locked(vp);
}

/* Nobody else is ready, or not enough: false if nobody can be made so now. */
static bool try_patient_locked(void) {
  if (sched.due.first) {
    hurry_locked(sched.due.first);
    return true;
  }
  if (!sched.paused.first || sched.tokens <= sched.ready) {
    return false;
  }
  const uint64_t now = clock_ns();
  struct vp *vp = find_guess_locked(now);
  if (vp) {
    make_guess_locked(vp, now);
  } else if (sched.pace.next != UINT64_MAX) {
    alarm_set(sched.pace.next);
  }
  return vp;
}

/* What came of bringing in a VP for which nothing had happened. */
static void judge_guess_locked(struct vp *vp, bool in_vain) {
  if (vp->guessed) {
    vp->guessed = false;
    pace_result(&sched.pace, in_vain);
  }
}

/* One that is due is read ahead while others run; who asks in vain is not. */
static void dispatch_locked(void) {
  start_ready_locked();
  while (sched.due.first &&
         sched.starts - sched.due.first->due_at >= (uint64_t)sched.n) {
    hurry_locked(sched.due.first);
    start_ready_locked();
  }
  while ((sched.tokens > sched.ready || !sched.ready) && try_patient_locked()) {
    start_ready_locked();
  }
  if (run_queue_state_locked() == SCHED_STUCK) {
    sched.stuck();
  }
}

static void on_alarm(void) {
  run_queue_lock();
  if (sched.n) {
    dispatch_locked();
  }
  run_queue_unlock();
}

static void on_arrival(struct context *c) {
  run_queue_lock();
  struct vp *vp = sched.n ? &sched.vp[c->index] : NULL;
  if (vp && vp->state == VP_READY) {
    trace_enter(vp->index, TRACE_SLOT);
    enqueue_locked(vp);
    dispatch_locked();
  }
  run_queue_unlock();
}

/* While one of its threads waits, the others may still use its memory. */
static bool may_leave(const struct context *c) {
  return helpers_asleep(&sched.vp[c->index]);
}

static bool has_threads(const struct context *c) {
  return sched.vp[c->index].helpers;
}

/* As one that has ended, but for who counts those. */
static void begin_dormant_locked(struct vp *vp) {
  vp->state = VP_DONE;
  sched.done++;
  sched.dormant++;
  trace_leave(vp->index);
}

void run_queue_create(struct vp *vps, int n, int k,
                      const struct policy *policy) {
  run_queue_lock(); /* contexts come in as soon as they are wanted */
  sched.vp = vps;
  sched.n = n;
  sched.policy = policy;
  sched.slot = need_zalloc(k, sizeof(*sched.slot), "scheduling");
  sched.queue = need_zalloc(n, sizeof(*sched.queue), "scheduling");
  for (sched.tokens = 0; sched.tokens < k; sched.tokens++) {
    sched.slot[sched.tokens] = k - 1 - sched.tokens;
  }
  sched.running = sched.done = sched.ready = sched.queued = 0;
  sched.dormant = 0;
  sched.starts = 0;
  sched.due = sched.paused = (struct patients){NULL, NULL};
  sched.guess = NULL;
  sched.pace = (struct pace){0};
  alarm_create(on_alarm);
  if (!sched.stuck) {
    sched.stuck = report_deadlock;
  }
  contexts_on_arrival(on_arrival);
  contexts_on_leaving(may_leave);
  contexts_on_growing(has_threads);
  for (int i = 0; i < n; i++) {
    vps[i].go = 0;
    vps[i].waits = 0;
    vps[i].queued = vps[i].guessed = false;
    vps[i].among = NULL;
    if (vps[i].dormant) {
      begin_dormant_locked(&vps[i]);
    } else {
      make_ready_locked(&vps[i]);
    }
  }
  run_queue_unlock();
}

void run_queue_add(struct vp *vp) {
  run_queue_lock();
  vp->dormant = false;
  sched.dormant--;
  sched.done--;
  make_ready_locked(vp);
  run_queue_unlock();
}

void run_queue_destroy(void) {
  alarm_destroy();
  contexts_on_leaving(NULL);
  run_queue_lock();
  contexts_on_arrival(NULL);
  contexts_on_growing(NULL);
  sched.vp = NULL;
  sched.n = sched.queued = 0;
  native_free(sched.slot);
  native_free(sched.queue);
  sched.slot = NULL;
  sched.queue = NULL;
  run_queue_unlock();
}

/* The token of a VP that stops running goes to the next. */
static void pass_on_locked(struct vp *vp, enum vp_state state) {
  vp->state = state;
  sched.slot[sched.tokens++] = vp->slot;
  sched.running--;
  dispatch_locked();
}

/* The context is in memory already; what it needs beyond that is counted. */
static void go_on(struct vp *vp) {
  binding_thread(vp->index, vp->slot);
  if (vp->context) {
    context_acquire(vp->context);
  }
}

/* Memory that a VP's frames do not need is given back where others want it. */
static void trim_stack(const struct vp *vp) {
  if (vp->context && contexts_crowded()) {
    context_stack_trim(vp->context);
  }
}

static void go(struct vp *vp) {
  trim_stack(vp);
  sleep_on(&vp->go);
  go_on(vp);
}

void run_queue_enter(struct vp *vp) {
  run_queue_lock();
  dispatch_locked();
  run_queue_unlock();
  go(vp);
  trace_enter(vp->index, TRACE_COMPUTE);
}

void run_queue_leave(struct vp *vp) {
  /* Threads that the program left behind still use its memory, as in a process
     they would until the very end of it. */
  if (vp->context && helpers_settle(vp)) {
    context_discard(vp->context);
  } else if (vp->context) {
    vp->left_threads = true;
    context_release(vp->context);
  }
  run_queue_lock();
  trace_leave(vp->index);
  sched.done++;
  pass_on_locked(vp, VP_DONE);
  run_queue_unlock();
}

/* The VP's threads that wait for nothing, in the order in which they came. */
static void want_locked(struct run_queue_waiter *me) {
  struct run_queue_waiter **link = &me->vp->wanting;
  while (*link) {
    link = &(*link)->next;
  }
  me->next = NULL;
  *link = me;
}

static void revive_locked(struct vp *vp) {
  if (vp->state != VP_BLOCKED) {
    return;
  }
  if (vp->among) {
    hurry_locked(vp);
  } else {
    make_ready_locked(vp);
  }
}

static void note_wait_locked(struct vp *vp, const char *what) {
  vp->waits_in = what;
  vp->site = self.site;
  vp->waits++;
  if (vp->context) {
    vp->context->site = image_site(&vp->context->image, self.site);
    helpers_wait(vp);
    context_stack_settle(vp->context);
    context_release(vp->context);
  }
}

/* The VP is in a list from which somebody will take it. */
static void park_locked(struct vp *vp, const char *what) {
  const enum trace_state before_waiting = trace_state_of(vp->index);
  trace_enter(vp->index, TRACE_OTHERS);
  note_wait_locked(vp, what);
  pass_on_locked(vp, VP_BLOCKED);
  run_queue_unlock();
  go(vp);
  trace_enter(vp->index, before_waiting);
  run_queue_lock();
}

/* --- several threads of a VP --- */

/* Until the thread, which is in a list, is on. With the lock, which it gives
   back meanwhile. */
static void sleep_thread_locked(struct run_queue_waiter *me) {
  struct vp *vp = me->vp;
  run_queue_unlock();
  trim_stack(vp);
  sleep_on(&me->go);
  if (me->started) {
    go_on(vp);
    trace_enter(vp->index, TRACE_COMPUTE);
  }
  run_queue_lock();
}

/* The thread that is on is in a list: another one is, or the VP is parked. */
static void give_way_locked(struct run_queue_waiter *me, const char *what) {
  struct vp *vp = me->vp;
  const bool next = vp->wanting && vp->wanting != me;
  vp->on = false;
  if (next) {
    hand_over_locked(vp, false);
  } else {
    trace_enter(vp->index, TRACE_OTHERS);
    note_wait_locked(vp, what);
    pass_on_locked(vp, VP_BLOCKED);
  }
  sleep_thread_locked(me);
}

void run_queue_share(struct vp *vp) {
  run_queue_lock();
  vp->shared = true;
  run_queue_unlock();
}

void run_queue_thread_enter(struct vp *vp) {
  atomic_fetch_add(&vp->entering, 1);
  run_queue_lock();
  if (vp->state == VP_RUNNING && !vp->on) {
    vp->on = true;
    atomic_fetch_sub(&vp->entering, 1);
  } else {
    struct run_queue_waiter me = {.vp = vp};
    want_locked(&me);
    atomic_fetch_sub(&vp->entering, 1);
    revive_locked(vp);
    dispatch_locked();
    sleep_thread_locked(&me);
  }
  run_queue_unlock();
}

void run_queue_thread_leave(struct vp *vp) {
  struct vp *const busy = vp_busy(vp);
  run_queue_lock();
  vp->on = false;
  if (vp->wanting) {
    hand_over_locked(vp, false);
  } else if (vp->waiting) {
    trace_enter(vp->index, TRACE_OTHERS);
    if (vp->context) {
      helpers_none_waits(vp);
      context_release(vp->context);
    }
    pass_on_locked(vp, VP_BLOCKED);
  }
  run_queue_unlock();
  vp_not_busy(busy);
}

void run_queue_wait_locked(struct vp *vp, struct run_queue_waiting *w,
                           const char *what) {
  struct run_queue_waiter me = {.vp = vp, .next = w->first};
  judge_guess_locked(vp, false);
  w->first = &me;
  if (vp->shared) {
    vp->waiting++;
    give_way_locked(&me, what);
  } else {
    park_locked(vp, what);
  }
}

/* Does a VP that runs keep another from its slot? */
static bool is_in_the_way_locked(void) {
  return sched.tokens
             ? sched.ready > sched.tokens
             : sched.ready || sched.due.first ||
                   (sched.paused.first && find_guess_locked(clock_ns()));
}

void run_queue_pause_locked(struct vp *vp, const char *what, bool found) {
  struct run_queue_waiter me = {.vp = vp};
  judge_guess_locked(vp, !found);
  if (vp->shared && vp->wanting) {
    want_locked(&me);
    give_way_locked(&me, what);
    return;
  }
  if (!is_in_the_way_locked()) {
    run_queue_unlock();
    sched_yield();
    run_queue_lock();
    return;
  }
  be_patient_locked(vp, &sched.paused);
  if (vp->shared) {
    want_locked(&me);
    give_way_locked(&me, what);
  } else {
    park_locked(vp, what);
  }
}

void run_queue_unpause_locked(struct vp *vp) {
  if (vp->among == &sched.paused) {
    leave_patients_locked(vp);
    make_due_locked(vp);
    dispatch_locked();
  }
}

/* It has been taken off the list in which it waited. */
static void wake_locked(struct run_queue_waiter *one) {
  struct vp *vp = one->vp;
  if (vp->shared) {
    vp->waiting--;
    want_locked(one);
    revive_locked(vp);
  } else {
    make_ready_locked(vp);
  }
}

void run_queue_wake_locked(struct run_queue_waiting *w) {
  struct run_queue_waiter *one = w->first;
  w->first = NULL;
  while (one) {
    struct run_queue_waiter *next = one->next;
    wake_locked(one);
    one = next;
  }
  dispatch_locked();
}

static struct run_queue_waiter **
find_waiting_locked(const struct run_queue_waiting *w, const struct vp *vp) {
  struct run_queue_waiter **link = (struct run_queue_waiter **)&w->first;
  while (*link && (*link)->vp != vp) {
    link = &(*link)->next;
  }
  return link;
}

bool run_queue_waits_locked(const struct run_queue_waiting *w,
                            const struct vp *vp) {
  return *find_waiting_locked(w, vp);
}

static struct run_queue_waiter *take_waiting_locked(struct run_queue_waiting *w,
                                                    const struct vp *vp) {
  struct run_queue_waiter **link = find_waiting_locked(w, vp), *one = *link;
  if (one) {
    *link = one->next;
  }
  return one;
}

void run_queue_wake_one_locked(struct run_queue_waiting *w, struct vp *vp) {
  struct run_queue_waiter *one = take_waiting_locked(w, vp);
  if (one) {
    while (one) {
      wake_locked(one);
      one = vp->shared ? take_waiting_locked(w, vp) : NULL;
    }
    dispatch_locked();
  } else if (vp->among == &sched.due) {
    hurry_locked(vp);
    dispatch_locked();
  }
}

void run_queue_wake_soon_locked(struct run_queue_waiting *w, struct vp *vp) {
  if (vp->shared) {
    run_queue_wake_one_locked(w, vp);
  } else if (take_waiting_locked(w, vp)) {
    make_due_locked(vp);
    dispatch_locked();
  }
}
