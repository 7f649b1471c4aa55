#define _GNU_SOURCE
#include "vp/run_queue.h"

#include "base/counters.h"
#include "base/self.h"
#include "context/calls/create.h"
#include "context/calls/oversize.h"
#include "context/residency/residency.h"
#include "context/stack_part.h"
#include "os/clock.h"
#include "os/futex.h"
#include "report/trace.h"
#include "vp/binding.h"
#include "vp/dispatch.h"
#include "vp/helpers.h"
#include "vp/linger.h"
#include "vp/upcall.h"

#include <sched.h>

/* ns of processor time: who waits again so soon has hardly used its memory. */
enum { BRIEF = 50000 };

/* The context is in memory already; what it needs beyond that is counted. */
static void go_on(struct vp *vp) {
  binding_thread(vp->index, vp->slot);
  vp->went_on = contexts_short() ? clock_thread_ns() : 0;
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
  linger(vp);
  run_queue_sleep(&vp->go);
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
    oversize_end(vp->context);
    context_discard(vp->context);
  } else if (vp->context) {
    vp->left_threads = true;
    context_release(vp->context);
  }
  run_queue_lock();
  dispatch_end_locked(vp);
  run_queue_unlock();
}

static void revive_locked(struct vp *vp) {
  if (vp->state == VP_BLOCKED) {
    dispatch_ready_locked(vp);
  }
}

/* Brought in for nothing: it waits again in the same call of MPI, or asks again
   in vain. */
static void count_wait_locked(struct vp *vp, bool asks) {
  const bool fresh = vp->context && context_was_read(vp->context);
  const bool again = vp->waited_call == self.calls || (asks && vp->asked);
  counter_add(waits, 1);
  counter_add(swaps_vain, fresh && again && vp->waits > 0);
  counter_add(swaps_brief, fresh && vp->waits > 0 && !vp->shared &&
                               clock_thread_ns() - vp->went_on < BRIEF);
  vp->waited_call = self.calls;
  vp->asked = asks;
}

/* Also where it was called from, as far as the depth of the stack tells, and
   what for: many programs wait in one function for all. */
static void note_site(struct context *c) {
  c->place = image_site(&c->image, self.site) ^ c->depth * 0x9e3779b97f4a7c15u;
  c->site = c->place ^ c->awaits * 0xbf58476d1ce4e5b9u;
  c->awaits = 0;
}

/* Another thread that is about to come in stays awake till it has the lock. */
static void release(struct vp *vp) {
  if (atomic_load(&vp->entering)) {
    context_release_awake(vp->context);
  } else {
    context_release(vp->context);
  }
}

static void note_wait_locked(struct vp *vp, const char *what, bool asks) {
  count_wait_locked(vp, asks);
  vp->waits_in = what;
  vp->site = self.site;
  vp->waits++;
  vp->steps += !asks;
  if (vp->context) {
    note_site(vp->context);
    helpers_wait(vp);
    context_stack_settle(vp->context);
    release(vp);
  }
}

/* The VP is in a list from which somebody will take it. */
static void park_locked(struct vp *vp, const char *what, bool asks) {
  const enum trace_state before_waiting = trace_state_of(vp->index);
  trace_enter(vp->index, TRACE_OTHERS);
  note_wait_locked(vp, what, asks);
  dispatch_pass_on_locked(vp, VP_BLOCKED);
  run_queue_unlock();
  go(vp);
  trace_enter(vp->index, before_waiting);
  run_queue_lock();
}

/* The VP is in a list, but keeps its slot for a moment, in which it may be
   taken from there (`wake_locked`). False: it is still in the list. */
static bool stays_awake_locked(struct vp *vp) {
  if (!linger_may_look_locked(vp)) {
    return false;
  }
  const enum trace_state before_waiting = trace_state_of(vp->index);
  vp->awake = true;
  run_queue_unlock();
  trace_enter(vp->index, TRACE_OTHERS);
  linger_look(vp);
  trace_enter(vp->index, before_waiting);
  run_queue_lock();
  vp->awake = false;
  return futex_take(&vp->go.word);
}

/* --- several threads of a VP --- */

/* Until the thread, which is in a list, is on. With the lock, which it gives
   back meanwhile. */
static void sleep_thread_locked(struct run_queue_waiter *me) {
  struct vp *vp = me->vp;
  run_queue_unlock();
  trim_stack(vp);
  run_queue_sleep(&me->go);
  if (me->started) {
    go_on(vp);
    trace_enter(vp->index, TRACE_COMPUTE);
  }
  /* Others have been in MPI meanwhile: a callback's call is not to enter it. */
  atomic_store(&vp->in_mpi, &self);
  run_queue_lock();
}

/* The thread that is on is in a list: another one is, or the VP is parked. */
static void give_way_locked(struct run_queue_waiter *me, const char *what,
                            bool asks) {
  struct vp *vp = me->vp;
  const bool next = vp->wanting && vp->wanting != me;
  vp->on = false;
  if (next) {
    run_queue_waiter_hand_over_locked(vp, false);
  } else {
    trace_enter(vp->index, TRACE_OTHERS);
    note_wait_locked(vp, what, asks);
    dispatch_pass_on_locked(vp, VP_BLOCKED);
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
    run_queue_waiter_want_locked(&me);
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
    run_queue_waiter_hand_over_locked(vp, false);
  } else if (vp->waiting) {
    trace_enter(vp->index, TRACE_OTHERS);
    if (vp->context) {
      helpers_none_waits(vp);
      context_release_awake(vp->context);
    }
    dispatch_pass_on_locked(vp, VP_BLOCKED);
  }
  run_queue_unlock();
  vp_not_busy(busy);
}

void run_queue_wait_locked(struct vp *vp, struct run_queue_waiting *w,
                           const char *what) {
  struct run_queue_waiter me = {.vp = vp};
  dispatch_judge_locked(vp, false);
  if (upcall_run_locked(vp)) {
    return; /* it may have taken long */
  }
  run_queue_waiter_add_locked(w, &me);
  if (vp->shared) {
    vp->waiting++;
    give_way_locked(&me, what, false);
  } else if (!stays_awake_locked(vp)) {
    park_locked(vp, what, false);
  }
  vp->awaited++;
  run_queue_waiter_remove_locked(w, &me);
  upcall_run_locked(vp);
}

static bool leaves(const struct vp *vp) {
  if (vp->leaving == VP_SETTLES) {
    return vp->gives_up;
  }
  return vp->leaving != VP_STAYS && vp_is_to_stop() && !vp->shared &&
         !vp->late && (vp->leaving == VP_LEAVES || vp_may_leave(vp->array));
}

bool run_queue_wait_or_leave_locked(struct vp *vp, struct run_queue_waiting *w,
                                    const char *what) {
  if (leaves(vp)) {
    return false;
  }
  vp->leaves = vp->leaving == VP_STAYS ? NULL : w;
  run_queue_wait_locked(vp, w, what);
  vp->leaves = NULL;
  return true;
}

void run_queue_wake_leaving_locked(void) {
  for (int i = 0; i < vps.n; i++) {
    struct vp *const vp = &vps.item[i];
    if (vp->leaves) {
      run_queue_wake_one_locked(vp->leaves, vp);
    }
  }
}

bool run_queue_give_up_locked(void) {
  bool any = false;
  for (int i = 0; i < vps.n; i++) {
    struct vp *const vp = &vps.item[i];
    if (vp->leaving == VP_SETTLES && !vp->gives_up) {
      any = vp->gives_up = true;
    }
  }
  if (any) {
    run_queue_wake_leaving_locked();
  }
  return any;
}

/* Is the VP, which is in the way of others, to let them run? Which list is it
   in, then? A VP with work lets them run when its time slice is over. */
static bool steps_aside_locked(struct vp *vp, struct looks_time now) {
  if (!looks_work(&vp->looks)) {
    dispatch_pause_locked(vp);
    return true;
  }
  if (!looks_slice_over(now, vp->went_on, vp->cost)) {
    return false;
  }
  dispatch_yield_locked(vp);
  return true;
}

/* The VP keeps its slot, while others may use the processor. */
static void stay_locked(void) {
  run_queue_unlock();
  sched_yield();
  run_queue_lock();
}

static void look_locked(struct vp *vp, const char *what, bool found,
                        struct looks_time now) {
  struct run_queue_waiter me = {.vp = vp};
  const bool next = vp->shared && vp->wanting;
  if (!next &&
      (!dispatch_in_the_way_locked() || !steps_aside_locked(vp, now))) {
    stay_locked();
  } else if (vp->shared) {
    run_queue_waiter_want_locked(&me);
    give_way_locked(&me, what, !found);
  } else {
    park_locked(vp, what, !found);
    upcall_run_locked(vp);
  }
}

/* Processor time is asked for only where not all contexts fit: elsewhere it
   costs little that a VP which computes between looks waits for others. Of a VP
   of which several threads call MPI it says nothing. */
static struct looks_time time_of(const struct vp *vp) {
  struct looks_time now = {0, 0};
  if (contexts_short() && !vp->shared) {
    now = (struct looks_time){clock_thread_ns(), clock_ns()};
  }
  return now;
}

void run_queue_pause_locked(struct vp *vp, const char *what, int asked,
                            bool found) {
  const struct looks_time now = time_of(vp);
  looks_begin(&vp->looks, asked, now);
  dispatch_judge_locked(vp, !found && !looks_work(&vp->looks));
  if (!upcall_run_locked(vp)) {
    look_locked(vp, what, found, now);
  }
  looks_end(&vp->looks, time_of(vp));
}

void run_queue_unpause_locked(struct vp *vp) {
  if (dispatch_is_paused_locked(vp)) {
    dispatch_due_locked(vp);
    dispatch_locked();
  }
}

/* It has been taken off the list in which it waited. It may be ready already,
   for an upcall. */
static void wake_locked(struct run_queue_waiter *one) {
  struct vp *vp = one->vp;
  if (vp->shared) {
    vp->waiting--;
    run_queue_waiter_want_locked(one);
    revive_locked(vp);
  } else if (vp->awake) {
    futex_post(&vp->go.word); /* it does not sleep: that is no system call */
  } else {
    revive_locked(vp);
  }
}

void run_queue_wake_locked(struct run_queue_waiting *w) {
  struct run_queue_waiter *one = w->first;
  w->first = NULL;
  while (one) {
    struct run_queue_waiter *next = one->next;
    one->listed = false;
    wake_locked(one);
    one = next;
  }
  dispatch_locked();
}

void run_queue_wake_one_locked(struct run_queue_waiting *w, struct vp *vp) {
  struct run_queue_waiter *one = run_queue_waiter_take_locked(w, vp);
  if (one) {
    while (one) {
      wake_locked(one);
      one = vp->shared ? run_queue_waiter_take_locked(w, vp) : NULL;
    }
    dispatch_locked();
  } else if (dispatch_is_due_locked(vp)) {
    dispatch_ready_locked(vp);
    dispatch_locked();
  }
}

void run_queue_wake_soon_locked(struct run_queue_waiting *w, struct vp *vp) {
  if (vp->shared || vp->awake) {
    run_queue_wake_one_locked(w, vp);
  } else if (run_queue_waiter_take_locked(w, vp) && vp->state == VP_BLOCKED) {
    dispatch_due_locked(vp);
    dispatch_locked();
  }
}

/* --- upcalls --- */

/* Does the VP wait or pause? Then it can be made ready to run although nothing
   has happened for it. */
static bool is_waiting_locked(const struct vp *vp) {
  return vp->awake || vp->state == VP_BLOCKED;
}

static void wake_for_upcall_locked(struct vp *vp) {
  if (vp->awake) {
    futex_post(&vp->go.word);
  } else {
    dispatch_ready_locked(vp);
    dispatch_locked();
  }
}

/* One of the VPs that it is for, whose threads take turns; or NULL. */
static struct vp *find_shared_locked(const struct upcall *u) {
  for (int i = 0; i < vps.n; i++) {
    if (vps.item[i].shared && u->is_for(u, &vps.item[i])) {
      return &vps.item[i];
    }
  }
  return NULL;
}

/* One of those that wait, in memory if there is one; or NULL. */
static struct vp *find_waiting_locked(const struct upcall *u) {
  struct vp *found = NULL;
  for (int i = 0; i < vps.n; i++) {
    struct vp *const vp = &vps.item[i];
    if (!is_waiting_locked(vp) || !u->is_for(u, vp)) {
      continue;
    }
    if (!vp->context || context_resident(vp->context)) {
      return vp;
    }
    found = found ? found : vp;
  }
  return found;
}

static void run_as_thread(struct upcall *u, struct vp *vp) {
  const struct self before = self;
  self = (struct self){.vp = vp, .inside = 1, .helper = true};
  run_queue_thread_enter(vp);
  atomic_store(&vp->in_mpi, &self);
  u->run(u, vp);
  atomic_store(&vp->in_mpi, NULL);
  run_queue_thread_leave(vp);
  self = before;
}

void run_queue_upcall(struct upcall *u) {
  run_queue_lock();
  struct vp *const turns = find_shared_locked(u);
  if (turns) {
    run_queue_unlock();
    run_as_thread(u, turns);
    return;
  }
  upcall_add_locked(u);
  struct vp *const waits = find_waiting_locked(u);
  if (waits) {
    wake_for_upcall_locked(waits);
  }
  run_queue_unlock();
  run_queue_sleep(&u->made);
}
