/* One lock guards all states; the transfers themselves happen without it. */
#include "context/residency/moves.h"

#include "base/invariant.h"
#include "context/internal.h"
#include "context/late_frees.h"
#include "context/residency/awaited.h"
#include "context/residency/ledger.h"
#include "context/residency/lending.h"
#include "context/residency/partial.h"
#include "context/residency/segment.h"
#include "context/residency/victim.h"
#include "context/store/crate.h"
#include "context/store/store.h"
#include "os/bits.h"
#include "os/native.h"

#include <errno.h>
#include <limits.h>

static struct {
  int disks;
  uint64_t loads; /* contexts that have come in */
  int *coming;    /* contexts that come in now, by the disk on which they lie,
                     if they lie on one */
  bool ending;
} moves;

int moves_start(void) {
  moves.ending = false;
  moves.disks = store_disks();
  moves.coming = native_zalloc(moves.disks + 1, sizeof(int));
  return moves.coming ? 0 : ENOMEM;
}

void moves_end(void) {
  native_free(moves.coming);
  moves.coming = NULL;
}

uint64_t moves_loads_locked(void) {
  return moves.loads;
}

/* c begins to come in (1), or is there (-1). */
static void count_coming_locked(const struct context *c, int change) {
  const int disk = store_home(c);
  if (disk >= 0) {
    moves.coming[disk] += change;
  }
}

static int coming_from_locked(int disk) {
  return disk >= 0 ? moves.coming[disk] : 0;
}

/* Bytes that c is to be charged yet, with those that it shares, if nobody in
   memory has them. */
static uint64_t wanted_locked(const struct context *c) {
  const uint64_t missing = c->idle ? 0 : segments_missing_locked(c);
  const uint64_t all = ledger_with_shared(c->need, c->shared + missing);
  return all > c->charge ? all - c->charge : 0;
}

/* Is a to come in before b? As the policy says; but where the order leaves a
   choice, first from a disk that is idle. */
static bool load_rather_locked(const struct context *a,
                               const struct context *b) {
  if (moves.disks > 1 && !contexts.policy->in_turn && !victim_urgent(a) &&
      !victim_urgent(b)) {
    const int na = coming_from_locked(store_home(a));
    const int nb = coming_from_locked(store_home(b));
    if (na != nb) {
      return na < nb;
    }
  }
  return victim_urgent(a) != victim_urgent(b)
             ? victim_urgent(a)
             : contexts.policy->load_rather(&a->use, &b->use);
}

/* What the policy compares. Nobody is passed over for ever. */
static void look_locked(struct context *c) {
  c->use.frees = awaited_frees_locked(c);
  c->use.overdue = moves.loads - c->use.since > 2 * (uint64_t)contexts.n;
}

/* Could c come in now? */
static bool may_come_locked(const struct context *c) {
  if (c->partial.missing.n && c->pins) {
    return false;
  }
  return c->use.wanted && (c->idle || (c->state == CONTEXT_OUT && !c->pins));
}

/* Contexts of few pages come many at a time: so many bytes of contexts may wait
   in memory for a slot, before others of these are read in advance. */
static uint64_t most_ahead(void) {
  return contexts.budget / 8;
}

/* What waits in memory for a slot, or comes. */
struct ahead {
  int n;
  uint64_t bytes;
  uint64_t first; /* turn among those */
};

/* Are enough there, so that `next` need not come yet? Those of few pages come
   again when half of the others have gone on, so that there are many. */
static bool enough_ahead_locked(const struct ahead *a,
                                const struct context *next) {
  const int most = next->partial.missing.n ? 1 : contexts.ahead;
  if (a->n < most || victim_urgent(next)) {
    return false;
  }
  if (crate_has(next) && a->bytes < most_ahead() / 2) {
    return false;
  }
  /* The first in turn must come in whoever else is there. */
  return !contexts.policy->in_turn || next->use.turn > a->first;
}

/* Movers that sleep since enough are there are told when so many of these have
   gone on that others may come: not each time that one does. At the latest when
   hardly any is left, for those that are there may be much larger than the
   next. */
static int rest_locked(const struct ahead *a, const struct context *next) {
  if (!next) {
    return INT_MAX; /* nobody is wanted */
  }
  const uint64_t each = ledger_needed_locked(next);
  if (contexts.policy->in_turn || !crate_has(next) || !each ||
      a->n < contexts.ahead || a->bytes < most_ahead() / 2) {
    return 0;
  }
  const uint64_t by_bytes = (a->bytes - most_ahead() / 2) / each + 1;
  return (int)bits_min(by_bytes, (uint64_t)(a->n - contexts.ahead) + 1);
}

/* The context that is to be ready next, unless enough wait for a slot already.
 */
static struct context *find_next_locked(struct ahead *a) {
  struct context *next = NULL;
  *a = (struct ahead){.first = UINT64_MAX};
  awaited_count_locked();
  for (int i = 0; i < contexts.n; i++) {
    struct context *c = &contexts.item[i];
    if (!c->use.wanted) {
      continue;
    }
    look_locked(c);
    if (ledger_ready_locked(c) || c->state == CONTEXT_COMING) {
      a->n++;
      a->bytes += c->charge;
      a->first = c->use.turn < a->first ? c->use.turn : a->first;
    } else if (may_come_locked(c) && (!next || load_rather_locked(c, next))) {
      next = c;
    }
  }
  if (!next || enough_ahead_locked(a, next)) {
    ledger.rest = rest_locked(a, next);
    return NULL;
  }
  ledger.rest = 0;
  return next;
}

/* Others than `next` that were put into a crate: those that come in first. */
static int find_others_locked(const struct context *next, struct context **c,
                              int most) {
  int n = 0;
  for (int i = 0; most > 0 && i < contexts.n; i++) {
    struct context *const one = &contexts.item[i];
    if (one != next && !one->idle && may_come_locked(one) &&
        one->weight == WEIGHT_LIGHT) {
      ledger_insert(c, &n, most, one, load_rather_locked);
    }
  }
  return n;
}

/* Tests: a context that was told to leave and that no mover has taken yet. */
static struct context *take_ordered_locked(void) {
  for (int i = 0; contexts.evict_always && i < contexts.n; i++) {
    if (contexts.item[i].ordered) {
      contexts.item[i].ordered = false;
      return &contexts.item[i];
    }
  }
  return NULL;
}

/* All contexts are looked at for one load in so many that it takes no time. */
static void note_load_locked(void) {
  enum { EACH = 16 };
  if (moves.loads++ % ((uint64_t)contexts.n / EACH + 1) == 0) {
    ledger_note_lacked_locked();
  }
}

/* It comes in, or, if it is in memory, gets back what it may touch. */
static enum move admit_locked(struct context *next, uint64_t more) {
  const bool here = next->idle;
  if (!here) {
    segments_enter_locked(next);
  }
  ledger_charge_locked(next, more);
  if (here && next->partial.missing.n) {
    moves.loads++;
    count_coming_locked(next, 1);
    ledger_set_state_locked(next, CONTEXT_COMING);
    return MOVE_FILL;
  }
  if (here) {
    ledger_tell_locked();
    return MOVE_READY;
  }
  note_load_locked();
  ledger.untaken += more;
  ledger.out--;
  count_coming_locked(next, 1);
  ledger_set_state_locked(next, CONTEXT_COMING);
  return MOVE_IN;
}

/* Those that can come with c[0], which does. */
static int admit_others_locked(struct context **c, int most,
                               const struct ahead *a) {
  uint64_t bytes = a->bytes + c[0]->charge;
  int n = 1;
  const int found =
      crate_has(c[0]) ? find_others_locked(c[0], c + 1, most - 1) : 0;
  for (int i = 1; i <= found; i++) {
    const uint64_t more = wanted_locked(c[i]);
    bytes += more;
    if (!ledger_fits_locked(more) || bytes > most_ahead()) {
      break;
    }
    (void)admit_locked(c[i], more);
    n++;
  }
  return n;
}

/* For `next`, whom `more` bytes are missing, others have to leave; where it is
   in a crate, so many that others can come with it. */
static int evict_locked(struct context *next, uint64_t more, bool stuck,
                        struct context **c, int most) {
  c[0] = victim_find_locked(next, more, stuck);
  if (!c[0] || victim_looked_at_locked(c[0])) {
    return 0;
  }
  if (victim_trims_locked(c[0], more)) {
    return 1;
  }
  ledger_leave_locked(c[0]);
  const uint64_t wanted = bits_min(most * more, most_ahead() / 2);
  return 1 + (crate_has(next) ? victim_more_locked(next, wanted, stuck, c[0],
                                                   c + 1, most - 1)
                              : 0);
}

/* A consumer wants back what was lent to contexts: one leaves for that. */
static bool leaves_for_shares_locked(struct context **c) {
  const uint64_t more =
      memory_used_wanted() && ledger_moving() ? lending_repay_locked() : 0;
  *c = more ? victim_find_locked(NULL, more, false) : NULL;
  if (!*c || victim_looked_at_locked(*c)) {
    return false;
  }
  if (!victim_trims_locked(*c, more)) {
    ledger_leave_locked(*c);
  }
  return true;
}

/* Is something to be moved now? Marks what: *n contexts. With MOVE_NONE, *c is
   NULL or the context to look at before it can be told. */
static enum move choose_locked(struct context **c, int most, int *n) {
  *n = 1;
  *c = take_ordered_locked();
  if (*c || leaves_for_shares_locked(c)) {
    return (*c)->partial.trimming ? MOVE_TRIM : MOVE_OUT;
  }
  struct ahead ahead;
  struct context *next =
      ledger.growers || !ledger_moving() ? NULL : find_next_locked(&ahead);
  ledger.starved = false;
  if (!next) {
    return MOVE_NONE;
  }
  const uint64_t more = wanted_locked(next);
  if (ledger_fits_locked(more)) {
    *c = next;
    const enum move move = admit_locked(next, more);
    *n = move == MOVE_IN ? admit_others_locked(c, most, &ahead) : 1;
    return move;
  }
  *n = evict_locked(next, more, !ahead.n && !ledger.busy, c, most);
  if (*n && (*c)->partial.trimming) {
    return MOVE_TRIM;
  }
  if (!*c && !ledger.going && !victim_refused_locked()) {
    ledger_starve_locked();
  }
  return *n ? MOVE_OUT : MOVE_NONE;
}

static void tell_arrival(struct context *const *c, int n) {
  if (contexts.arrival) {
    contexts.arrival(c, n);
  }
}

/* It is in memory already. */
static void tell_ready_locked(struct context *c) {
  ledger_unlock_and_trim();
  tell_arrival(&c, 1);
  ledger_lock();
}

enum move moves_next(struct context **c, int most, int *n) {
  enum move move = MOVE_NONE;
  ledger_lock();
  while (move == MOVE_NONE && !moves.ending) {
    move = choose_locked(c, most, n);
    if (move == MOVE_READY) {
      tell_ready_locked(*c);
      move = MOVE_NONE;
    } else if (move == MOVE_NONE && !*c) {
      victim_wait_locked(&ledger.work);
    }
  }
  ledger_unlock();
  return move;
}

void moves_took_frames(struct context *c) {
  ledger_lock();
  INVARIANT_IS(c->charge, <=, ledger.untaken);
  ledger.untaken -= c->charge;
  ledger_unlock_and_trim();
}

static void came(struct context *c) {
  /* Held until all is freed: whoever writes the context again waits for it. */
  lock_take(&c->heap_lock);
  ledger_lock();
  c->use.last_used = ++ledger.tick;
  c->fresh = true;
  count_coming_locked(c, -1);
  ledger_set_state_locked(c, CONTEXT_IN);
  ledger_unlock();
  late_frees_apply(c);
  lock_give(&c->heap_lock);
}

void moves_came(struct context *const *c, int n) {
  for (int i = 0; i < n; i++) {
    came(c[i]);
  }
  tell_arrival(c, n);
}

void moves_went(struct context *const *c, int n) {
  ledger_lock();
  for (int i = 0; i < n; i++) {
    segments_exit_locked(c[i]);
    ledger_gone_locked(c[i]);
  }
  ledger_unlock();
}

void moves_stop(void) {
  ledger_lock();
  moves.ending = true;
  pthread_cond_broadcast(&ledger.work);
  ledger_unlock();
}
