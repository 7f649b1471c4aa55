#include "context/residency/victim.h"

#include "base/message.h"
#include "context/internal.h"
#include "context/late_frees.h"
#include "context/residency/awaited.h"
#include "context/residency/footprint.h"
#include "context/residency/ledger.h"
#include "context/residency/partial.h"
#include "context/residency/segment.h"
#include "context/residency/swap.h"
#include "os/bits.h"
#include "os/clock.h"

#include <time.h>

enum {
  /* ns until a context whose threads do not sleep is asked about again. */
  REFUSED_NS = 1000000,
  /* Contexts that are charged less are not worth a look at their pages. */
  WORTH = 4 << 20,
  /* Fewer bytes that a waiting context has not touched are not counted off. */
  WORTH_IDLE = 512 << 10,
  /* A part that leaves: at least so much, at most that part of a context. What
     is missing is so spread over all contexts, for each of those that run is
     charged what it misses. */
  LEAST_TRIM = 1 << 20,
  SHARE_TRIM = 16,
  /* A context that has not left memory yet and is charged less has few pages.
   */
  LIGHT = 512 << 10,
  /* For what is touched by pems while the VP waits: heap and status. */
  SLACK = 256 << 10,
  /* Residences of a context that was full, until its pages are looked at
     again. */
  FIRST_REST = 2,
  MOST_REST = 64,
};

static struct {
  bool refused;  /* there was a victim, but for its threads */
  int refusals;  /* pauses in a row for that reason */
  int examining; /* threads that ask contexts.leaving */
} victims;

bool victim_possible_locked(const struct context *c) {
  return c->state == CONTEXT_IN && !c->held && !c->pins && c->charge;
}

bool victim_urgent(const struct context *c) {
  return c->urgent;
}

/* One that a thread waits for comes before those that wait for a slot. */
static bool may_go_for_locked(const struct context *v,
                              const struct context *next, bool stuck) {
  if (v == next) {
    return false;
  }
  if (!next || victim_urgent(next) || !v->use.wanted || (stuck && v->idle)) {
    return true;
  }
  return contexts.policy->in_turn && v->use.turn > next->use.turn;
}

/* --- its threads --- */

/* Threads of its program may use it although its VP waits. If they were found
   asleep, they stay so until the VP runs; if not, they are given a moment. */
static bool is_quiet_locked(const struct context *c) {
  return !contexts.leaving || c->quiet;
}

static bool is_refused_locked(const struct context *c, uint64_t now) {
  const bool refused = !is_quiet_locked(c) && now < c->busy_until;
  victims.refused |= refused;
  return refused;
}

/* Asks whether c's threads sleep, which reads /proc: unlocked. The caller looks
   again at all it relies on. */
static void examine_locked(struct context *c) {
  bool (*const leaving)(const struct context *) = contexts.leaving;
  const uint64_t since = c->use.last_used;
  if (!leaving) {
    return;
  }
  victims.examining++;
  ledger_unlock();
  const bool quiet = leaving(c);
  ledger_lock();
  if (--victims.examining == 0 && !contexts.leaving) {
    ledger_tell_locked();
  }
  if (!c->held && c->use.last_used == since) { /* its VP has not run since */
    c->quiet = quiet;
    c->busy_until = quiet ? 0 : clock_ns() + REFUSED_NS;
  }
}

void victim_on_leaving(bool (*leaving)(const struct context *c)) {
  ledger_lock();
  contexts.leaving = leaving;
  while (!leaving && victims.examining) {
    ledger_wait_locked();
  }
  ledger_unlock();
}

/* Said once, when memory has been short for long for the sake of threads. */
static void tell_refused(bool refused) {
  enum { PAUSES = 10000 };
  victims.refusals = refused ? victims.refusals + 1 : 0;
  if (victims.refusals == PAUSES) {
    msg_warn("memory is short: ranks wait in MPI while threads of theirs run "
             "on, so that their contexts stay in memory: let idle threads "
             "sleep (no OMP_WAIT_POLICY=active), or give more --pems-memory");
  }
}

bool victim_refused_locked(void) {
  return victims.refused;
}

void victim_wait_locked(pthread_cond_t *cond) {
  tell_refused(victims.refused);
  if (!victims.refused) {
    lock_wait(cond, &ledger.lock);
    return;
  }
  const struct timespec until = clock_after(CLOCK_REALTIME, REFUSED_NS);
  victims.refused = false;
  lock_wait_until(cond, &ledger.lock, &until);
}

bool victim_let_go_soon_locked(struct context *c) {
  enum { TRIES = 20 }; /* callers may hold what c's threads come to wait for */
  for (int tries = 0;
       victim_possible_locked(c) && !is_quiet_locked(c) && tries < TRIES;
       tries++) {
    const struct timespec pause = {0, 100000};
    if (tries) {
      ledger_unlock();
      nanosleep(&pause, NULL);
      ledger_lock();
    }
    examine_locked(c);
  }
  return victim_possible_locked(c) && is_quiet_locked(c);
}

/* --- its pages --- */

/* Not since its VP ran, and it was not full the last times. */
static bool to_be_measured_locked(const struct context *c) {
  if (partial_possible()) {
    return !c->partial.plan.made && c->charge >= WORTH;
  }
  return !c->measured && !c->measure.rest && c->charge >= WORTH;
}

/* What was full has to be found so several times, with longer and longer pauses
   between: then looking costs nothing. */
static void was_full(struct context *c, bool full) {
  c->measure.last_rest =
      full ? back_off(c->measure.last_rest, FIRST_REST, MOST_REST) : 0;
  c->measure.rest = c->measure.last_rest;
}

/* Its VP waits, so it grows no more than by what is delivered to it. */
static void measure_locked(struct context *c) {
  const uint64_t since = c->use.last_used;
  const uint64_t writes = c->measure.writes;
  struct context_plan plan = {0};
  ledger_unlock();
  uint64_t exist = footprint(c) + SLACK;
  if (partial_possible()) {
    partial_plan(c, &plan);
  }
  ledger_lock();
  exist += c->shared;
  if (!victim_possible_locked(c) || c->use.last_used != since ||
      c->measure.writes != writes || !to_be_measured_locked(c)) {
    return;
  }
  c->measured = true;
  c->partial.plan = plan;
  if (partial_possible()) {
    if (exist + WORTH_IDLE <= c->charge) {
      ledger_set_idle_locked(c, exist);
    }
    return;
  }
  was_full(c, exist > c->charge / 2);
  if (exist <= c->charge / 2) {
    ledger_set_idle_locked(c, exist);
  }
}

bool victim_looked_at_locked(struct context *c) {
  if (!is_quiet_locked(c)) {
    examine_locked(c);
    return true;
  }
  if (to_be_measured_locked(c)) {
    measure_locked(c);
    return true;
  }
  return false;
}

/* --- who --- */

/* Bytes that c lacks of all that it may touch, in units worth a move. */
static uint64_t missing_locked(const struct context *c) {
  const uint64_t all = ledger_needed_locked(c);
  return (all > c->charge ? all - c->charge : 0) / LEAST_TRIM;
}

/* Of all that may go. First who has not been looked at: looking may be enough.
   Then whose pages are due last. */
static bool rather_locked(const struct context *a, const struct context *b) {
  if (to_be_measured_locked(a) != to_be_measured_locked(b)) {
    return to_be_measured_locked(a);
  }
  if (partial_possible() && a->use.wanted == b->use.wanted) {
    const int later = partial_level(a) - partial_level(b);
    const uint64_t lacks_a = missing_locked(a), lacks_b = missing_locked(b);
    if (later != 0 || lacks_a != lacks_b) {
      return later != 0 ? later > 0 : lacks_a < lacks_b;
    }
  }
  return contexts.policy->evict_rather(&a->use, &b->use);
}

/* Of those that are charged `least` bytes; *together: what they all are. */
static struct context *search_locked(const struct context *next, bool stuck,
                                     uint64_t least, uint64_t *together) {
  const uint64_t now = clock_ns();
  struct context *best = NULL;
  *together = 0;
  victims.refused = false;
  for (int i = 0; i < contexts.n; i++) {
    struct context *c = &contexts.item[i];
    if (victim_possible_locked(c) && may_go_for_locked(c, next, stuck) &&
        c->charge >= least && !is_refused_locked(c, now)) {
      awaited_look_locked(c);
      *together += c->charge;
      best = !best || rather_locked(c, best) ? c : best;
    }
  }
  return best;
}

struct context *victim_find_locked(const struct context *next, uint64_t bytes,
                                   bool stuck) {
  const uint64_t all = ledger.used - ledger.going + bytes;
  if (all <= contexts.budget) {
    victims.refused = false;
    return NULL;
  }
  /* Small ones are of no help, unless all together are enough: else someone has
     to stop running first. */
  enum { SMALL = 8 };
  uint64_t together;
  struct context *best = search_locked(next, stuck, bytes / SMALL, &together);
  if (!best) {
    best = search_locked(next, stuck, 0, &together);
    best = all - together <= contexts.budget ? best : NULL;
  }
  return best;
}

/* Has c few pages, as far as is known? */
static bool is_light_locked(const struct context *c) {
  return c->weight == WEIGHT_LIGHT ||
         (c->weight == WEIGHT_UNKNOWN && c->charge <= LIGHT);
}

static bool may_go_too_locked(const struct context *c,
                              const struct context *next, bool stuck,
                              uint64_t now) {
  return victim_possible_locked(c) && is_light_locked(c) &&
         may_go_for_locked(c, next, stuck) && !is_refused_locked(c, now) &&
         !to_be_measured_locked(c);
}

/* Those of few pages that leave first, in order. */
static int find_light_locked(const struct context *next, bool stuck,
                             const struct context *first, struct context **c,
                             int most) {
  const uint64_t now = clock_ns();
  int n = 0;
  for (int i = 0; i < contexts.n; i++) {
    struct context *const one = &contexts.item[i];
    if (one == first || !may_go_too_locked(one, next, stuck, now)) {
      continue;
    }
    awaited_look_locked(one);
    ledger_insert(c, &n, most, one, rather_locked);
  }
  return n;
}

int victim_more_locked(const struct context *next, uint64_t bytes, bool stuck,
                       const struct context *first, struct context **c,
                       int most) {
  const int found =
      most > 0 ? find_light_locked(next, stuck, first, c, most) : 0;
  for (int i = 0; i < found; i++) {
    if (!is_quiet_locked(c[i])) {
      examine_locked(c[i]);
    }
  }
  const uint64_t now = clock_ns();
  int n = 0;
  for (int i = 0; i < found; i++) {
    /* The lock was given away meanwhile. */
    if (may_go_too_locked(c[i], next, stuck, now) && is_quiet_locked(c[i]) &&
        ledger.used - ledger.going + bytes > contexts.budget) {
      ledger_leave_locked(c[i]);
      c[n++] = c[i];
    }
  }
  return n;
}

bool victim_trims_locked(struct context *c, uint64_t bytes) {
  const int level = partial_level(c);
  if (level < 0) {
    return false;
  }
  const uint64_t all = ledger.used - ledger.going + bytes;
  const uint64_t over = all > contexts.budget ? all - contexts.budget : 0;
  uint64_t most = 0;
  for (int l = level; l < CONTEXT_LEVELS; l++) {
    most += c->partial.plan.bytes[l];
  }
  const uint64_t share = ledger_needed_locked(c) / SHARE_TRIM;
  const uint64_t enough = bits_min(over, share);
  ledger_trim_locked(
      c, bits_min(most, enough > LEAST_TRIM ? enough : (uint64_t)LEAST_TRIM));
  return true;
}

void victim_trim(struct context *c) {
  const int level = partial_level(c);
  const uint64_t most = c->partial.trimming;
  partial_trim(c, level, most);
  const uint64_t exist = footprint(c) + SLACK;
  lock_take(&c->heap_lock);
  ledger_lock();
  uint64_t left = most;
  for (int l = CONTEXT_LEVELS - 1; l >= level; l--) {
    const uint64_t gone = bits_min(left, c->partial.plan.bytes[l]);
    c->partial.plan.bytes[l] -= gone;
    left -= gone;
  }
  ledger_trimmed_locked(c, exist + c->shared);
  ledger_unlock();
  late_frees_apply(c);
  lock_give(&c->heap_lock);
}

void victim_evict_locked(struct context *c, uint64_t bytes) {
  if (victim_trims_locked(c, bytes)) {
    ledger_unlock();
    victim_trim(c);
    ledger_lock();
    return;
  }
  ledger_leave_locked(c);
  ledger_unlock();
  context_swap_out(c);
  segments_go(c);
  ledger_lock();
  segments_exit_locked(c);
  ledger_gone_locked(c);
}
