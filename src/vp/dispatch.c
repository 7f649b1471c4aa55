#define _GNU_SOURCE
#include "vp/dispatch.h"

#include "base/message.h"
#include "base/need.h"
#include "base/self.h"
#include "context/calls/create.h"
#include "context/residency/residency.h"
#include "os/clock.h"
#include "os/native.h"
#include "report/trace.h"
#include "vp/alarm.h"
#include "vp/helpers.h"
#include "vp/pace.h"
#include "vp/patients.h"
#include "vp/ready_heap.h"
#include "vp/run_queue_waiter.h"

#include <stdio.h>
#include <string.h>

static struct {
  struct vp *vp;
  int n;
  const struct policy *policy;
  int *slot;           /* stack of the tokens, 0 .. k-1, that nobody holds */
  int tokens;          /* of them */
  _Atomic int running; /* VPs that hold one */
  _Atomic int ready;   /* VPs that wait for one */
  _Atomic int done;    /* VPs that have ended, or are dormant */
  _Atomic int dormant;
  struct ready_heap queue; /* ready VPs that may be started, as far as is
                              known */
  uint64_t starts;         /* how often a VP was given a slot */
  struct patients due;     /* something has happened for them */
  struct patients paused;  /* nothing has: they ask in vain */
  struct vp *guess;        /* one that nothing happened for, coming from disk */
  struct pace pace;        /* of such guesses */
  dispatch_stuck_fn *stuck;
} sched;

int dispatch_dormant(void) {
  return sched.dormant;
}

int dispatch_done(void) {
  return sched.done - sched.dormant;
}

int dispatch_running(void) {
  return sched.running;
}

bool dispatch_spare(void) {
  return !sched.ready && sched.running > 1;
}

bool dispatch_none_ready(void) {
  return !sched.ready;
}

bool dispatch_unwanted_locked(void) {
  return !sched.ready && !sched.due.first && !sched.paused.first;
}

void dispatch_on_stuck(dispatch_stuck_fn *f) {
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

enum dispatch_state dispatch_state_locked(void) {
  return sched.done >= sched.n          ? DISPATCH_ENDED
         : sched.running || sched.ready ? DISPATCH_BUSY
         : sched.due.first              ? DISPATCH_BUSY
         : sched.paused.first           ? DISPATCH_BUSY
         : is_any_loose()               ? DISPATCH_BUSY
                                        : DISPATCH_STUCK;
}

/* --- who runs next --- */

/* It may be started as soon as its context is in memory: those that are run
   first, unless the policy has VPs run in turn. */
void dispatch_ready_locked(struct vp *vp) {
  if (vp->among) {
    patients_remove(vp);
  }
  if (vp->state == VP_BLOCKED) {
    trace_woken(vp->index, self.vp ? self.vp->rank : TRACE_ELSEWHERE);
  }
  vp->state = VP_READY;
  vp->turn = sched.policy->turn(vp->steps, vp->index, sched.n);
  sched.ready++;
  const bool in = !vp->context || context_want_soon(vp->context, vp->turn);
  vp->wanted_at = in ? 0 : clock_ns();
  trace_enter(vp->index, in ? TRACE_SLOT : TRACE_SWAP);
  if (in || sched.policy->in_turn) {
    ready_heap_push(&sched.queue, vp);
  }
}

/* The ready VP to start, its context held, or NULL. One whose context has left
   memory meanwhile comes back when that does. */
static struct vp *pick_locked(void) {
  struct vp *vp;
  while ((vp = ready_heap_first(&sched.queue))) {
    const bool here = !vp->context || context_try_acquire(vp->context);
    if (!here && sched.policy->in_turn) {
      return NULL;
    }
    ready_heap_pop(&sched.queue);
    if (here) {
      return vp;
    }
  }
  return NULL;
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

static void came_locked(struct vp *vp) {
  const uint64_t now = vp->wanted_at ? clock_ns() : 0;
  vp->cost = now - vp->wanted_at;
  if (vp == sched.guess) {
    pace_paid(&sched.pace, now);
    sched.guess = NULL;
  }
}

static void start_ready_locked(void) {
  struct vp *vp;
  while (sched.tokens > 0 && (vp = pick_locked())) {
    sched.ready--;
    sched.running++;
    sched.starts++;
    came_locked(vp);
    take_slot_locked(vp);
    vp->state = VP_RUNNING;
    if (vp->wanting) {
      run_queue_waiter_hand_over_locked(vp, true);
    } else {
      run_queue_post_locked(&vp->go);
    }
  }
}

/* --- those that let others run first --- */

void dispatch_pause_locked(struct vp *vp) {
  vp->due_at = sched.starts;
  patients_add(&sched.paused, vp);
}

void dispatch_yield_locked(struct vp *vp) {
  vp->due_at = sched.starts;
  patients_add(&sched.due, vp);
}

bool dispatch_is_paused_locked(const struct vp *vp) {
  return vp->among == &sched.paused;
}

bool dispatch_is_due_locked(const struct vp *vp) {
  return vp->among == &sched.due;
}

static bool in_memory(const struct vp *vp) {
  return !vp->context || context_resident(vp->context);
}

void dispatch_due_locked(struct vp *vp) {
  if (vp->among) {
    patients_remove(vp);
  }
  if (in_memory(vp)) {
    dispatch_ready_locked(vp);
    return;
  }
  trace_woken(vp->index, self.vp ? self.vp->rank : TRACE_ELSEWHERE);
  trace_enter(vp->index, TRACE_SLOT);
  vp->due_at = sched.starts;
  patients_add(&sched.due, vp);
}

/* VPs that wait for a slot, but for a guess whose context is not here yet. */
static int ready_here_locked(void) {
  return sched.ready - (sched.guess && !sched.guess->queued);
}

/* The paused VP to be tried now, or NULL: the first, wherever its context is,
   where another guess may be made, so that each has its turn; else the first
   in memory. */
static struct vp *find_guess_locked(uint64_t now) {
  const bool any = pace_allows(&sched.pace, now);
  struct vp *vp = sched.paused.first;
  while (vp && !any && !in_memory(vp)) {
    vp = vp->next_patient;
  }
  return vp;
}

static void make_guess_locked(struct vp *vp, uint64_t now) {
  if (!in_memory(vp)) {
    vp->guessed = true;
    sched.guess = vp;
    pace_begin(&sched.pace, now);
  }
  dispatch_ready_locked(vp);
}

/* Others wait for the memory of a paused VP: it is looked at again soon. */
static bool is_memory_short_locked(uint64_t now) {
  enum { SOON = 20 * 1000 * 1000 };
  if (!contexts_starved()) {
    return false;
  }
  alarm_set(now + SOON);
  return true;
}

/* No VP is ready, or too few: false if none can be made so now. */
static bool try_patient_locked(void) {
  if (sched.due.first) {
    dispatch_ready_locked(sched.due.first);
    return true;
  }
  if (!sched.paused.first || sched.tokens <= ready_here_locked()) {
    return false;
  }
  const uint64_t now = clock_ns();
  if (is_memory_short_locked(now)) {
    return false;
  }
  struct vp *vp = find_guess_locked(now);
  if (vp) {
    make_guess_locked(vp, now);
  } else if (sched.pace.next != UINT64_MAX) {
    alarm_set(sched.pace.next);
  }
  return vp;
}

/* Have as many VPs been started since as there are? */
static bool is_overdue_locked(const struct vp *vp) {
  return sched.starts - vp->due_at >= (uint64_t)sched.n;
}

/* A VP that was passed over for long is made ready, whoever else is. */
static bool make_overdue_ready_locked(void) {
  if (sched.due.first && is_overdue_locked(sched.due.first)) {
    dispatch_ready_locked(sched.due.first);
    return true;
  }
  if (!sched.paused.first || !is_overdue_locked(sched.paused.first)) {
    return false;
  }
  const uint64_t now = clock_ns();
  struct vp *const vp = find_guess_locked(now);
  if (!vp || !is_overdue_locked(vp)) {
    return false;
  }
  make_guess_locked(vp, now);
  return true;
}

bool dispatch_in_the_way_locked(void) {
  if (contexts_starved()) {
    return true;
  }
  const int ready = ready_here_locked();
  return sched.tokens
             ? ready > sched.tokens
             : ready || sched.due.first ||
                   (sched.paused.first && find_guess_locked(clock_ns()));
}

/* Does any VP but this one do more than look in vain? Only then are guesses,
   which take the disk from it, to become rare before each paused VP has had a
   try. */
static bool others_work_locked(const struct vp *me) {
  int i = 0;
  while (i < sched.n && (sched.vp[i].state != VP_RUNNING ||
                         &sched.vp[i] == me || sched.vp[i].looks.vain)) {
    i++;
  }
  return i < sched.n || ready_here_locked() || sched.due.first;
}

void dispatch_judge_locked(struct vp *vp, bool in_vain) {
  if (vp->guessed) {
    vp->guessed = false;
    pace_result(&sched.pace, in_vain,
                in_vain && !others_work_locked(vp) ? (unsigned)sched.n : 1);
  }
}

/* A due VP is read ahead while others run; a paused one is not. */
void dispatch_locked(void) {
  start_ready_locked();
  while (make_overdue_ready_locked()) {
    start_ready_locked();
  }
  while ((sched.tokens > ready_here_locked() || !sched.ready) &&
         try_patient_locked()) {
    start_ready_locked();
  }
  contexts_tell_wanted();
  if (dispatch_state_locked() == DISPATCH_STUCK) {
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

static void on_arrival(struct context *const *c, int n) {
  bool any = false;
  run_queue_lock();
  for (int i = 0; i < n && sched.n; i++) {
    struct vp *const vp = &sched.vp[c[i]->index];
    if (vp->state == VP_READY) {
      trace_enter(vp->index, TRACE_SLOT);
      ready_heap_push(&sched.queue, vp);
      any = true;
    }
  }
  if (any) {
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

static void begin_locked(struct vp *vp) {
  vp->go = (struct run_queue_go){0};
  vp->waits = vp->steps = vp->awaited = 0;
  vp->queued = vp->guessed = false;
  vp->among = NULL;
  if (vp->dormant) {
    begin_dormant_locked(vp);
  } else {
    dispatch_ready_locked(vp);
  }
}

void dispatch_create(struct vp *vps, int n, int k,
                     const struct policy *policy) {
  run_queue_lock(); /* contexts come in as soon as they are wanted */
  sched.vp = vps;
  sched.n = n;
  sched.policy = policy;
  sched.slot = need_zalloc(k, sizeof(*sched.slot), "scheduling");
  ready_heap_create(&sched.queue, n);
  for (sched.tokens = 0; sched.tokens < k; sched.tokens++) {
    sched.slot[sched.tokens] = k - 1 - sched.tokens;
  }
  sched.running = sched.done = sched.ready = 0;
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
    begin_locked(&vps[i]);
  }
  contexts_tell_wanted();
  run_queue_unlock();
}

void dispatch_add(struct vp *vp) {
  run_queue_lock();
  vp->dormant = false;
  sched.dormant--;
  sched.done--;
  dispatch_ready_locked(vp);
  contexts_tell_wanted();
  run_queue_unlock();
}

void dispatch_destroy(void) {
  alarm_destroy();
  contexts_on_leaving(NULL);
  run_queue_lock();
  contexts_on_arrival(NULL);
  contexts_on_growing(NULL);
  sched.vp = NULL;
  sched.n = 0;
  native_free(sched.slot);
  sched.slot = NULL;
  ready_heap_destroy(&sched.queue);
  run_queue_unlock();
}

void dispatch_pass_on_locked(struct vp *vp, enum vp_state state) {
  vp->state = state;
  sched.slot[sched.tokens++] = vp->slot;
  sched.running--;
  dispatch_locked();
}

void dispatch_end_locked(struct vp *vp) {
  trace_leave(vp->index);
  sched.done++;
  dispatch_pass_on_locked(vp, VP_DONE);
}
