/* Any context may grow to all of the budget, so those that run may need more
   than that together. When all of them wait for room, the first in turn stays
   in memory, and the others step back: they may be evicted while they wait. A
   thread that is not its VP's own cannot do that, for its VP may be using the
   context. */
#include "context/residency/room.h"

#include "base/self.h"
#include "context/internal.h"
#include "context/residency/ledger.h"
#include "context/residency/victim.h"
#include "context/stack_part.h"
#include "os/bits.h"
#include "report/trace.h"

bool room_hold_locked(struct context *c) {
  if (!ledger_ready_locked(c)) {
    return false;
  }
  c->held = true;
  c->quiet = c->measured = c->partial.plan.made = false;
  c->measure.rest -= c->measure.rest > 0;
  ledger_note_locked(c);
  c->use.wanted = c->urgent = false;
  ledger_tell_went_on_locked(); /* one more may be read ahead */
  return true;
}

void room_hold_again_locked(struct context *c) {
  while (!room_hold_locked(c)) {
    c->use.wanted = c->urgent = true;
    ledger_tell_movers_locked();
    ledger_wait_locked();
  }
}

static void begin_growing_locked(struct context *c, bool firm) {
  ledger.growers++;
  if (c->growing++ == 0) {
    c->next_growing = ledger.growing;
    ledger.growing = c;
  }
  c->firm |= firm;
  ledger_note_locked(c);
  pthread_cond_broadcast(&ledger.changed); /* all may be waiting now */
}

static void end_growing_locked(struct context *c) {
  ledger.growers--;
  if (--c->growing == 0) {
    struct context **at = &ledger.growing;
    while (*at != c) {
      at = &(*at)->next_growing;
    }
    *at = c->next_growing;
    c->firm = false;
  }
  ledger_note_locked(c);
  ledger_tell_locked();
}

/* Does a keep its memory, so that b must step back, when both wait for room? */
static bool outranks_locked(const struct context *a, const struct context *b) {
  if (a == b) {
    return false;
  }
  if (a->firm != b->firm || a->use.turn == b->use.turn) {
    return a->firm != b->firm ? a->firm : a->index < b->index;
  }
  return a->use.turn < b->use.turn;
}

static bool outranked_locked(const struct context *c) {
  const struct context *a = ledger.growing;
  while (a && !outranks_locked(a, c)) {
    a = a->next_growing;
  }
  return a;
}

/* Lets others have c's memory until they have what they need. It comes back
   with all that it needs, for that was counted before. */
static void step_back_locked(struct context *c) {
  end_growing_locked(c);
  context_stack_settle(c);
  c->held = false;
  ledger_note_locked(c);
  c->use.wanted = c->urgent = true;
  c->use.last_used = ++ledger.tick;
  /* Once: those that step back would wake each other for ever. */
  ledger_tell_locked();
  do {
    ledger_wait_locked();
  } while (outranked_locked(c));
  room_hold_again_locked(c);
  begin_growing_locked(c, false);
}

/* Will one step back for c? */
static bool another_steps_back_locked(const struct context *c) {
  const struct context *d = ledger.growing;
  while (d && (d == c || !d->held || d->firm)) {
    d = d->next_growing;
  }
  return d;
}

/* Has someone leave memory so that `bytes` more fit, or looks who could: false
   if nobody can. */
static bool another_leaves_locked(uint64_t bytes) {
  struct context *const victim = victim_find_locked(NULL, bytes, false);
  if (victim && !victim_looked_at_locked(victim)) {
    victim_evict_locked(victim, bytes);
  }
  return victim;
}

/* c cannot step back, and neither can the others that wait for room: who has
   more than an equal share gets no more. */
static bool denied_locked(const struct context *c) {
  return c->firm && c->need + c->shared > contexts.even &&
         !another_steps_back_locked(c);
}

/* Evicts until `bytes` more fit for c, or until c itself has made room for
   others. Where there is nobody to evict just now, someone else runs, moves or
   is pinned, and will tell; or all wait for room. False: c must do without. */
static bool make_room_for_locked(struct context *c, uint64_t bytes) {
  while (!ledger_fits_locked(bytes) && ledger_moving()) {
    if (another_leaves_locked(bytes)) {
      continue;
    }
    /* Nothing is under way that will free memory by itself: all that run wait
       for room. */
    if (!victim_refused_locked() && !ledger.busy) {
      if (outranked_locked(c) && !c->firm) {
        step_back_locked(c);
        return true;
      }
      if (denied_locked(c)) {
        return false;
      }
    }
    const bool starved = !victim_refused_locked();
    ledger.starved_growers += starved;
    victim_wait_locked(&ledger.changed);
    ledger.starved_growers -= starved;
  }
  return true;
}

/* Others may be using c's memory while the calling thread waits: threads of its
   program, or its VP. Or the thread's stack is a part of that. */
static bool is_firm_locked(const struct context *c) {
  return self.helper || !self.vp || !c->held ||
         context_owns(c, __builtin_frame_address(0)) ||
         (contexts.threaded && contexts.threaded(c));
}

/* May unlock: the caller checks again whatever it relies on. */
static bool make_room_locked(struct context *c, uint64_t bytes) {
  /* A thread that the program started is not what its VP does. */
  const bool told = self.vp && !self.helper;
  const enum trace_state before = told ? trace_state_of(c->index) : 0;
  if (told) {
    trace_allocate(c->index);
  }
  begin_growing_locked(c, is_firm_locked(c));
  const bool made = make_room_for_locked(c, bytes);
  end_growing_locked(c);
  if (told) {
    trace_enter(c->index, before);
  }
  return made;
}

/* While room is made, another thread of its VP may have grown or counted it:
   then it is worked out again. A context that is not in memory is counted when
   it comes; a thread of the program may ask for more meanwhile. */
bool room_charge_locked(struct context *c) {
  while (c->state == CONTEXT_IN && c->charge < ledger_needed_locked(c)) {
    const uint64_t more = ledger_needed_locked(c) - c->charge;
    if (!ledger_fits_locked(more) && !make_room_locked(c, more)) {
      return false;
    }
    if (c->state == CONTEXT_IN && c->charge + more == ledger_needed_locked(c)) {
      ledger_charge_locked(c, more);
    }
  }
  return true;
}

bool room_charge_now_locked(struct context *c) {
  const uint64_t most = ledger_needed_locked(c);
  const uint64_t more = c->charge < most ? most - c->charge : 0;
  if (c->state != CONTEXT_IN || more == 0) {
    return true;
  }
  if (ledger_moving() && !ledger_fits_locked(more)) {
    return false;
  }
  ledger_charge_locked(c, more);
  return true;
}

/* What c can grow by. */
static uint64_t headroom_locked(const struct context *c, uint64_t bytes) {
  const uint64_t most = ledger_needed_locked(c);
  return c->charge < most ? bits_min(bytes, most - c->charge) : 0;
}

/* Memory of c for a message: true if it is there, or is not needed any more for
   c has left. Otherwise *under_way tells whether c's own I/O will change that;
   else others have it pinned. */
static bool room_now_locked(struct context *c, uint64_t bytes,
                            bool *under_way) {
  while (c->idle && ledger_moving()) {
    const uint64_t more = headroom_locked(c, bytes);
    if (ledger_fits_locked(more)) {
      ledger_charge_locked(c, more);
      return true;
    }
    if (another_leaves_locked(more)) {
      continue;
    }
    if (c->held || c->pins) {
      *under_way = ledger.going;
      return false;
    }
    /* On disk, a message needs no room. */
    victim_evict_locked(c, more);
  }
  return true;
}

bool room_for_delivery_locked(struct context *c, uint64_t bytes, bool patient) {
  bool under_way = false;
  c->measure.writes++;
  while (!room_now_locked(c, bytes, &under_way)) {
    if (!under_way && !patient) {
      return false;
    }
    ledger_wait_locked();
  }
  return true;
}
