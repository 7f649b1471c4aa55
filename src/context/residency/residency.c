/* What VPs and deliveries ask of contexts in memory. */
#include "context/residency/residency.h"

#include "base/counters.h"
#include "base/invariant.h"
#include "context/granule.h"
#include "context/internal.h"
#include "context/residency/ledger.h"
#include "context/residency/moves.h"
#include "context/residency/room.h"
#include "context/residency/segment.h"
#include "context/residency/stay.h"
#include "context/residency/swap.h"
#include "context/residency/victim.h"
#include "context/store/space.h"
#include "context/store/store.h"

#include <errno.h>

/* Some contexts are wanted, and movers do not know. */
static _Atomic bool untold;

int residency_start(void) {
  ledger_start();
  untold = false;
  return moves_start();
}

void residency_end(void) {
  moves_end();
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
  INVARIANT_IS(bytes, <=, c->reserved);
  INVARIANT_IS(bytes, <=, c->need);
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

/* --- what VPs ask --- */

static bool want_locked(struct context *c, uint64_t turn) {
  c->use.wanted = true;
  c->use.turn = turn;
  c->use.since = moves_loads_locked();
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
  untold |= !in;
  ledger_unlock();
  return in;
}

void contexts_tell_wanted(void) {
  if (untold) {
    ledger_lock();
    untold = false;
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
  c->partial.waited = true;
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

bool contexts_starved(void) {
  return ledger.starved || ledger.starved_growers;
}

bool contexts_short(void) {
  return ledger.out > 0 || ledger.idle > 0;
}

int contexts_ran_when_starved(void) {
  ledger_lock();
  const int n = ledger.ran_then;
  ledger_unlock();
  return n;
}

uint64_t contexts_lacked(void) {
  ledger_lock();
  const uint64_t lacked = ledger.lacked;
  ledger_unlock();
  return lacked;
}

uint64_t contexts_budget(void) {
  return contexts.budget;
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

void context_unpin(struct context *c) {
  ledger_lock();
  INVARIANT_IS(c->pins, >, 0);
  c->pins--;
  ledger_note_locked(c);
  if (c->pins == 0) {
    pthread_cond_broadcast(&ledger.changed);
    /* Only if it was the pin that kept it from being moved: most messages go
       between a VP that runs and one that waits for others. */
    if (c->state == CONTEXT_IN ? !c->held : c->use.wanted) {
      ledger_tell_movers_locked();
    }
  }
  ledger_unlock();
}
