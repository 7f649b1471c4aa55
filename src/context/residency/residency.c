/* Which contexts are in memory. One lock guards all states; the transfers
   themselves happen without it. */
#include "context/residency/residency.h"

#include "base/counters.h"
#include "context/granule.h"
#include "context/internal.h"
#include "context/late_frees.h"
#include "context/residency/awaited.h"
#include "context/residency/ledger.h"
#include "context/residency/room.h"
#include "context/residency/segment.h"
#include "context/residency/stay.h"
#include "context/residency/swap.h"
#include "context/residency/victim.h"
#include "context/store/crate.h"
#include "context/store/space.h"
#include "context/store/store.h"
#include "os/bits.h"
#include "os/native.h"

#include <errno.h>
#include <limits.h>

static struct {
  int disks;
  uint64_t loads;      /* contexts that have come in */
  _Atomic bool untold; /* some are wanted, and movers do not know */
  int *coming;         /* contexts that come in now, by the disk on which they
                          lie, if they lie on one */
  bool ending;
} residency;

int residency_start(void) {
  ledger_start();
  residency.ending = false;
  residency.untold = false;
  residency.disks = store_disks();
  residency.coming = native_zalloc(residency.disks + 1, sizeof(int));
  return residency.coming ? 0 : ENOMEM;
}

void residency_end(void) {
  native_free(residency.coming);
  residency.coming = NULL;
}

/* --- what is in use --- */

/* What is in use counts, also where there was no room for it. */
static bool grow(struct context *c, uint64_t bytes, bool waits) {
  ledger_lock();
  c->need += bytes;
  const bool room = waits ? room_charge_locked(c) : room_charge_now_locked(c);
  ledger_unlock_and_trim();
  return room;
}

bool residency_charge(struct context *c) {
  return grow(c, 0, true);
}

bool residency_reserve(struct context *c, uint64_t bytes) {
  ledger_lock();
  c->reserved += bytes;
  c->need += bytes;
  const bool room = room_charge_locked(c);
  if (!room) {
    c->reserved -= bytes;
    c->need -= bytes;
  }
  ledger_unlock_and_trim();
  return room;
}

void residency_unreserve(struct context *c, uint64_t bytes) {
  ledger_lock();
  c->reserved -= bytes;
  c->need -= bytes;
  ledger_settle_locked(c);
  ledger_unlock();
}

int residency_beside(uint64_t bytes) {
  ledger_lock();
  const bool room = ledger_beside_locked(bytes);
  ledger_unlock_and_trim();
  const int code = room ? space_shrunk() : ENOMEM;
  if (room && code) {
    residency_not_beside(bytes);
  } else if (!code) {
    counter_add(beside, bytes);
  }
  return code;
}

void residency_not_beside(uint64_t bytes) {
  ledger_lock();
  ledger_not_beside_locked(bytes);
  ledger_unlock();
}

static bool claim(struct context *c, const void *p, size_t n, bool waits) {
  if (store_mapped() || granules_have(c, p, n)) {
    return true;
  }
  const uint64_t fresh = granules_use(c, p, n);
  return !fresh || grow(c, fresh, waits);
}

bool context_claim(struct context *c, const void *p, size_t n) {
  return claim(c, p, n, true);
}

bool context_claim_now(struct context *c, const void *p, size_t n) {
  return claim(c, p, n, false);
}

/* --- moves --- */

/* c begins to come in (1), or is there (-1). */
static void count_coming_locked(const struct context *c, int change) {
  const int disk = store_home(c);
  if (disk >= 0) {
    residency.coming[disk] += change;
  }
}

static int coming_from_locked(int disk) {
  return disk >= 0 ? residency.coming[disk] : 0;
}

/* Is a to come in before b? As the policy says; but where the order leaves a
   choice, first from a disk that is idle. */
static bool load_rather_locked(const struct context *a,
                               const struct context *b) {
  if (residency.disks > 1 && !contexts.policy->in_turn && !victim_urgent(a) &&
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
  c->use.overdue = residency.loads - c->use.since > 2 * (uint64_t)contexts.n;
}

/* Could c come in now? */
static bool may_come_locked(const struct context *c) {
  return (c->use.wanted || c->borrowers) &&
         (c->idle || (c->state == CONTEXT_OUT && !c->pins));
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
  if (a->n < contexts.ahead || victim_urgent(next)) {
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
    if (!c->use.wanted && !c->borrowers) {
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

/* What c is to be charged yet, and with it what it shares, if nobody in memory
   has that. */
static uint64_t wanted_locked(const struct context *c) {
  const uint64_t missing = c->idle ? 0 : segments_missing_locked(c);
  const uint64_t all = ledger_with_shared(c->need, c->shared + missing);
  return all > c->charge ? all - c->charge : 0;
}

/* It comes in, or, if it is in memory, gets back what it may touch. */
static enum residency_move admit_locked(struct context *next, uint64_t more) {
  const bool here = next->idle;
  if (!here) {
    segments_enter_locked(next);
  }
  ledger_charge_locked(next, more);
  if (here) {
    ledger_tell_locked();
    return MOVE_READY;
  }
  residency.loads++;
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
  ledger_leave_locked(c[0]);
  const uint64_t wanted = bits_min(most * more, most_ahead() / 2);
  return 1 + (crate_has(next) ? victim_more_locked(next, wanted, stuck, c[0],
                                                   c + 1, most - 1)
                              : 0);
}

/* Is something to be moved now? Marks what: *n contexts. With MOVE_NONE, *c is
   NULL or the context to look at before it can be told. */
static enum residency_move choose_locked(struct context **c, int most, int *n) {
  *n = 1;
  *c = take_ordered_locked();
  if (*c) {
    return MOVE_OUT;
  }
  struct ahead ahead;
  struct context *next =
      ledger.growers || !ledger_moving() ? NULL : find_next_locked(&ahead);
  if (!next) {
    return MOVE_NONE;
  }
  const uint64_t more = wanted_locked(next);
  if (ledger_fits_locked(more)) {
    *c = next;
    const enum residency_move move = admit_locked(next, more);
    *n = move == MOVE_IN ? admit_others_locked(c, most, &ahead) : 1;
    return move;
  }
  *n = evict_locked(next, more, !ahead.n && !ledger.busy, c, most);
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

enum residency_move residency_next(struct context **c, int most, int *n) {
  enum residency_move move = MOVE_NONE;
  ledger_lock();
  while (move == MOVE_NONE && !residency.ending) {
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

void residency_took_frames(struct context *c) {
  ledger_lock();
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

void residency_came(struct context *const *c, int n) {
  for (int i = 0; i < n; i++) {
    came(c[i]);
  }
  tell_arrival(c, n);
}

void residency_went(struct context *const *c, int n) {
  ledger_lock();
  for (int i = 0; i < n; i++) {
    segments_exit_locked(c[i]);
    ledger_gone_locked(c[i]);
  }
  ledger_unlock();
}

void residency_stop(void) {
  ledger_lock();
  residency.ending = true;
  pthread_cond_broadcast(&ledger.work);
  ledger_unlock();
}

/* --- what VPs ask --- */

static bool want_locked(struct context *c, uint64_t turn) {
  c->use.wanted = true;
  c->use.turn = turn;
  c->use.since = residency.loads;
  return ledger_ready_locked(c);
}

bool context_want(struct context *c, uint64_t turn) {
  ledger_lock();
  const bool in = want_locked(c, turn);
  if (!in) {
    ledger_tell_movers_locked();
  }
  ledger_unlock();
  return in;
}

bool context_want_soon(struct context *c, uint64_t turn) {
  ledger_lock();
  const bool in = want_locked(c, turn);
  residency.untold |= !in;
  ledger_unlock();
  return in;
}

void contexts_tell_wanted(void) {
  if (residency.untold) {
    ledger_lock();
    residency.untold = false;
    ledger_tell_movers_locked();
    ledger_unlock();
  }
}

bool context_try_acquire(struct context *c) {
  ledger_lock();
  const bool held = room_hold_locked(c);
  ledger_unlock();
  return held;
}

void context_acquire(struct context *c) {
  ledger_lock();
  room_hold_again_locked(c);
  (void)room_charge_locked(c);
  ledger_unlock_and_trim();
}

bool context_was_read(struct context *c) {
  return c->fresh && atomic_exchange(&c->fresh, false);
}

static void release_locked(struct context *c) {
  c->held = false;
  stay_wait(c);
  ledger_note_locked(c);
  c->use.last_used = ++ledger.tick;
}

void context_release_awake(struct context *c) {
  ledger_lock();
  release_locked(c);
  ledger_tell_released_locked();
  ledger_unlock();
}

void context_release(struct context *c) {
  ledger_lock();
  release_locked(c);
  if (contexts.evict_always && !contexts.frozen &&
      victim_let_go_soon_locked(c)) {
    ledger_leave_locked(c); /* a mover writes it: the caller may hold locks */
    c->ordered = true;
    ledger_tell_movers_locked();
  }
  ledger_tell_released_locked();
  ledger_unlock();
}

/* Unlocked, for it takes a while; and a context's I/O lock comes first. */
static void drop_locked(struct context *c) {
  const bool moved = !store_mapped();
  if (moved) {
    ledger.going += c->charge;
    ledger_set_state_locked(c, CONTEXT_GOING);
  }
  ledger_unlock();
  if (moved) {
    context_drop(c);
    space_release(c);
  }
  segments_go(c);
  ledger_lock();
  segments_exit_locked(c);
  if (moved) {
    c->need = 0;
    ledger_gone_locked(c);
  }
}

void context_discard(struct context *c) {
  ledger_lock();
  while (c->pins || c->state == CONTEXT_COMING || c->state == CONTEXT_GOING) {
    ledger_wait_locked();
  }
  c->held = c->quiet = c->use.wanted = false;
  ledger_note_locked(c);
  if (c->state == CONTEXT_IN) {
    drop_locked(c);
  }
  ledger_unlock();
  segments_forget(c);
}

bool contexts_crowded(void) {
  return ledger.out > 0;
}

uint64_t residency_need(const struct context *c) {
  ledger_lock();
  const uint64_t need = c->need;
  ledger_unlock();
  return need;
}

uint64_t contexts_resident_bytes(void) {
  ledger_lock();
  const uint64_t used = ledger.used;
  ledger_unlock();
  return used;
}

void context_pin(struct context *c) {
  ledger_lock();
  while (c->state == CONTEXT_COMING || c->state == CONTEXT_GOING) {
    ledger_wait_locked();
  }
  c->pins++;
  ledger_note_locked(c);
  ledger_unlock();
}

/* False: there is no room while others have c pinned, and patient is not. */
static bool pin_to_write(struct context *c, uint64_t bytes, bool patient) {
  bool room;
  ledger_lock();
  do {
    while (c->state == CONTEXT_COMING || c->state == CONTEXT_GOING) {
      ledger_wait_locked();
    }
    room = room_for_delivery_locked(c, bytes, patient);
  } while (room && (c->state == CONTEXT_COMING || c->state == CONTEXT_GOING));
  c->pins += room;
  ledger_note_locked(c);
  ledger_unlock_and_trim();
  return room;
}

bool context_try_pin_to_write(struct context *c, uint64_t bytes) {
  return pin_to_write(c, bytes, false);
}

void context_pin_to_write(struct context *c, uint64_t bytes) {
  (void)pin_to_write(c, bytes, true);
}

void context_borrow(struct context *c) {
  ledger_lock();
  c->borrowers++;
  while (!ledger_ready_locked(c)) {
    ledger_tell_movers_locked();
    ledger_wait_locked();
  }
  c->borrowers--;
  c->pins++;
  ledger_note_locked(c);
  ledger_unlock();
}

void context_unpin(struct context *c) {
  ledger_lock();
  c->pins--;
  ledger_note_locked(c);
  if (c->pins == 0) {
    pthread_cond_broadcast(&ledger.changed);
    /* Only if it was the pin that kept it from being moved: most messages go
       between a VP that runs and one that waits for others. */
    if (c->state == CONTEXT_IN ? !c->held : c->use.wanted || c->borrowers) {
      ledger_tell_movers_locked();
    }
  }
  ledger_unlock();
}
