#include "context/residency/ledger.h"

#include "base/counters.h"
#include "base/invariant.h"
#include "config/memory_used.h"
#include "context/internal.h"
#include "context/residency/frames.h"
#include "context/store/space.h"
#include "context/store/store.h"
#include "os/bits.h"
#include "report/trace.h"

#include <limits.h>

struct ledger ledger = {.lock = LOCK_INITIALIZER(LOCK_RESIDENCY),
                        .changed = PTHREAD_COND_INITIALIZER,
                        .work = PTHREAD_COND_INITIALIZER};

/* A process that the program forks shares the scratch files with its parent: it
   must move nothing, whatever it touches. Its threads are gone, and with them
   who held the lock. */
static void in_forked_child(void) {
  contexts.frozen = true;
  space_in_forked_child();
  lock_init(&ledger.lock, LOCK_RESIDENCY);
  pthread_cond_init(&ledger.changed, NULL);
  pthread_cond_init(&ledger.work, NULL);
}

static void watch_forks(void) {
  pthread_atfork(NULL, NULL, in_forked_child);
}

void ledger_start(void) {
  ledger.used = ledger.untaken = ledger.going = ledger.tick = 0;
  contexts.beside = 0;
  ledger.busy = ledger.growers = ledger.rest = 0;
  ledger.starved = false;
  ledger.ran_then = 0;
  ledger.lacked = 0;
  ledger.starved_growers = 0;
  ledger.growing = NULL;
  ledger.out = ledger.idle = 0;
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_forks);
}

void ledger_lock(void) {
  lock_take(&ledger.lock);
}

void ledger_unlock(void) {
  lock_give(&ledger.lock);
}

void ledger_unlock_and_trim(void) {
  const uint64_t used = ledger.used - ledger.untaken;
  const uint64_t room = used < contexts.budget ? contexts.budget - used : 0;
  ledger_unlock();
  frames_trim(room);
}

void ledger_wait_locked(void) {
  lock_wait(&ledger.changed, &ledger.lock);
}

void ledger_tell_movers_locked(void) {
  ledger.rest = 0;
  if (ledger.out || ledger.idle || memory_used_wanted()) {
    pthread_cond_broadcast(&ledger.work);
  }
}

void ledger_tell_locked(void) {
  pthread_cond_broadcast(&ledger.changed);
  ledger_tell_movers_locked();
}

void ledger_tell_went_on_locked(void) {
  if (ledger.rest == INT_MAX || (ledger.rest > 0 && --ledger.rest > 0)) {
    return;
  }
  ledger_tell_movers_locked();
}

void ledger_tell_released_locked(void) {
  pthread_cond_broadcast(&ledger.changed);
  if (ledger.rest == 0 || memory_used_wanted()) {
    ledger_tell_movers_locked();
  }
}

bool ledger_moving(void) {
  return store_swaps() && !contexts.frozen;
}

uint64_t ledger_with_shared(uint64_t need, uint64_t shared) {
  return bits_min(bits_min(need, contexts.mu) + shared, contexts_room());
}

uint64_t ledger_needed_locked(const struct context *c) {
  return ledger_with_shared(c->need, c->shared);
}

void ledger_note_lacked_locked(void) {
  uint64_t all = contexts.beside;
  for (int i = 0; i < contexts.n; i++) {
    all += ledger_needed_locked(&contexts.item[i]);
  }
  if (all > contexts.budget + ledger.lacked) {
    ledger.lacked = all - contexts.budget;
  }
}

void ledger_starve_locked(void) {
  int run = 0;
  for (int i = 0; i < contexts.n; i++) {
    run += contexts.item[i].held;
  }
  ledger.ran_then = run > ledger.ran_then ? run : ledger.ran_then;
  ledger.starved = true;
  counter_add(starved, 1);
}

bool ledger_fits_locked(uint64_t bytes) {
  return ledger.used + bytes <= contexts.budget;
}

void ledger_note_locked(struct context *c) {
  const bool busy =
      !c->growing && (c->held || c->pins || c->state == CONTEXT_GOING ||
                      c->state == CONTEXT_COMING);
  ledger.busy += busy - c->busy;
  c->busy = busy;
}

static void set_idle(struct context *c, bool idle) {
  ledger.idle += idle - c->idle;
  c->idle = idle;
}

/* A context that its VP has no use for any more goes without being written;
   from IN to COMING, and from GOING to IN, a context passes in part. */
static bool is_legal(int from, enum context_state to) {
  return (from == CONTEXT_OUT && to == CONTEXT_COMING) ||
         (from == CONTEXT_COMING && to == CONTEXT_IN) ||
         (from == CONTEXT_IN && to == CONTEXT_COMING) ||
         (from == CONTEXT_IN && to == CONTEXT_GOING) ||
         (from == CONTEXT_GOING && to == CONTEXT_IN) ||
         (from == CONTEXT_GOING && to == CONTEXT_OUT);
}

void ledger_set_state_locked(struct context *c, enum context_state state) {
  INVARIANT(is_legal(c->state, state));
  INVARIANT(state == CONTEXT_IN || !c->pins);
  INVARIANT(state == CONTEXT_IN || state == CONTEXT_COMING || !c->held);
  c->state = state;
  if (state != CONTEXT_IN) {
    set_idle(c, false);
  }
  ledger_note_locked(c);
  ledger_tell_locked();
}

void ledger_charge_locked(struct context *c, uint64_t more) {
  c->charge += more;
  ledger.used += more;
  INVARIANT_IS(c->charge, <=, ledger_needed_locked(c));
  trace_resident(ledger.used);
  if (c->charge >= ledger_needed_locked(c)) {
    set_idle(c, false);
  }
}

/* Who comes or goes is counted with what it is charged. */
static void cap_charges_locked(void) {
  for (int i = 0; i < contexts.n; i++) {
    struct context *c = &contexts.item[i];
    const uint64_t most = ledger_needed_locked(c);
    if (c->state == CONTEXT_IN && c->charge > most) {
      ledger_uncharge_locked(c, c->charge - most);
    }
  }
}

bool ledger_beside_locked(uint64_t bytes) {
  const uint64_t all = contexts.beside + bytes;
  if (ledger_moving() && all > contexts.budget / 2) {
    return false;
  }
  contexts.beside = all;
  ledger.used += bytes;
  trace_resident(ledger.used);
  cap_charges_locked();
  return true;
}

void ledger_not_beside_locked(uint64_t bytes) {
  INVARIANT_IS(bytes, <=, contexts.beside);
  contexts.beside -= bytes;
  ledger.used -= bytes;
  trace_resident(ledger.used);
  ledger_tell_locked();
}

void ledger_uncharge_locked(struct context *c, uint64_t less) {
  INVARIANT_IS(less, <=, c->charge);
  INVARIANT_IS(less, <=, ledger.used);
  c->charge -= less;
  ledger.used -= less;
  trace_resident(ledger.used);
}

void ledger_gave_back(struct context *c, uint64_t left) {
  ledger_lock();
  left += c->shared;
  if (c->charge > left) {
    const uint64_t less = c->charge - left;
    ledger.going -= less;
    ledger_uncharge_locked(c, less);
    ledger_tell_locked();
  }
  ledger_unlock_and_trim();
}

void ledger_set_idle_locked(struct context *c, uint64_t bytes) {
  ledger_uncharge_locked(c, c->charge - bytes);
  set_idle(c, true);
  ledger_tell_locked();
}

void ledger_settle_locked(struct context *c) {
  const uint64_t most = ledger_needed_locked(c);
  if (c->state == CONTEXT_IN && c->charge > most) {
    ledger_uncharge_locked(c, c->charge - most);
    ledger_tell_locked();
  }
}

/* Who comes or goes is counted apart, too. */
static void add_charge_locked(struct context *c, uint64_t bytes) {
  c->charge += bytes;
  ledger.untaken += c->state == CONTEXT_COMING ? bytes : 0;
  ledger.going += c->state == CONTEXT_GOING ? bytes : 0;
}

void ledger_pass_locked(struct context *from, struct context *to,
                        uint64_t bytes) {
  const uint64_t most = ledger_needed_locked(to);
  const uint64_t room = most > to->charge ? most - to->charge : 0;
  const uint64_t has = bits_min(bytes, from->charge);
  const uint64_t passed = bits_min(has, room);
  add_charge_locked(to, passed);
  add_charge_locked(from, -passed);
}

bool ledger_ready_locked(const struct context *c) {
  return c->state == CONTEXT_IN && !c->idle;
}

void ledger_trim_locked(struct context *c, uint64_t bytes) {
  c->partial.trimming = bits_min(bytes, c->charge);
  INVARIANT_IS(c->partial.trimming, >, 0);
  ledger.going += c->partial.trimming;
  ledger_set_state_locked(c, CONTEXT_GOING);
}

void ledger_trimmed_locked(struct context *c, uint64_t exist) {
  INVARIANT_IS(c->partial.trimming, <=, ledger.going);
  ledger.going -= c->partial.trimming;
  c->partial.trimming = 0;
  ledger_set_state_locked(c, CONTEXT_IN);
  if (exist < c->charge) {
    ledger_uncharge_locked(c, c->charge - exist);
  }
  set_idle(c, c->charge < ledger_needed_locked(c));
}

void ledger_leave_locked(struct context *c) {
  ledger.going += c->charge;
  ledger.out++;
  ledger_set_state_locked(c, CONTEXT_GOING);
}

void ledger_gone_locked(struct context *c) {
  INVARIANT_IS(c->charge, <=, ledger.going);
  ledger.going -= c->charge;
  ledger_uncharge_locked(c, c->charge);
  ledger_set_state_locked(c, CONTEXT_OUT);
}

void ledger_insert(struct context **list, int *n, int most, struct context *c,
                   ledger_before *before) {
  int at = *n;
  if (at == most && !before(c, list[at - 1])) {
    return;
  }
  at -= at == most;
  for (; at > 0 && before(c, list[at - 1]); at--) {
    list[at] = list[at - 1];
  }
  list[at] = c;
  *n += *n < most;
}
