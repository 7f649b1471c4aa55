/* Which contexts are in memory. One lock guards all states; the transfers
   themselves happen without it. */
#include "context/residency/residency.h"

#include "base/message.h"
#include "base/need.h"
#include "base/self.h"
#include "config/size.h"
#include "context/granule.h"
#include "context/internal.h"
#include "context/late_frees.h"
#include "context/residency/frames.h"
#include "context/residency/swap.h"
#include "context/store/space.h"
#include "context/store/store.h"
#include "os/clock.h"
#include "os/lock.h"
#include "os/native.h"
#include "report/trace.h"

#include <string.h>
#include <time.h>

static struct {
  struct lock lock;
  pthread_cond_t changed; /* some state, pin count or the total changed */
  pthread_cond_t work;    /* perhaps something is to be moved */
  uint64_t used;          /* sum of all charges */
  uint64_t untaken;       /* of them, of contexts that come in and have not yet
                             taken pages for it */
  uint64_t going;         /* charges of contexts that are being written */
  uint64_t tick;          /* counts uses, for least recently used */
  int growers;            /* VPs that wait for room for what they allocate */
  bool refused;           /* a victim was not let go when last asked for */
  int refusals;           /* pauses in a row for that reason */
  _Atomic int out;        /* contexts on disk, or on their way there */
  int *coming; /* contexts that come in now, by the disk on which they
                  lie, if they lie on one */
  bool ending;
} residency = {.lock = LOCK_INITIALIZER(LOCK_RESIDENCY),
               .changed = PTHREAD_COND_INITIALIZER,
               .work = PTHREAD_COND_INITIALIZER};

/* A process that the program forks shares the scratch files with its parent: it
   must move nothing, whatever it touches. Its threads are gone, and with them
   who held the lock. */
static void in_forked_child(void) {
  contexts.frozen = true;
  space_in_forked_child();
  lock_init(&residency.lock, LOCK_RESIDENCY);
  pthread_cond_init(&residency.changed, NULL);
  pthread_cond_init(&residency.work, NULL);
}

static void watch_forks(void) {
  pthread_atfork(NULL, NULL, in_forked_child);
}

void residency_start(void) {
  residency.used = residency.untaken = residency.going = residency.tick = 0;
  residency.growers = 0;
  residency.out = 0;
  residency.ending = false;
  native_free(residency.coming);
  residency.coming = need_zalloc(store_disks() + 1, sizeof(int), "swapping");
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_forks);
}

static void lock(void) {
  lock_take(&residency.lock);
}

static void unlock(void) {
  lock_give(&residency.lock);
}

static void wait_change(void) {
  lock_wait(&residency.changed, &residency.lock);
}

/* Perhaps something is to be moved: never so while all is in memory. */
static void tell_movers(void) {
  if (residency.out) {
    pthread_cond_broadcast(&residency.work);
  }
}

static void tell(void) {
  pthread_cond_broadcast(&residency.changed);
  tell_movers();
}

static void set_state(struct context *c, enum context_state state) {
  c->state = state;
  tell();
}

/* Contexts are moved at all. */
static bool moving(void) {
  return store_swaps() && !contexts.frozen;
}

/* A context never counts more than mu: rounding to granules must not make it
   exceed the budget. */
static uint64_t capped(uint64_t bytes) {
  return bytes < contexts.mu ? bytes : contexts.mu;
}

/* Bytes of kept pages for which there is room. */
static uint64_t room_for_frames(void) {
  const uint64_t used = residency.used - residency.untaken;
  return used < contexts.budget ? contexts.budget - used : 0;
}

/* --- victims --- */

static bool may_go(const struct context *c) {
  return c->state == CONTEXT_IN && !c->held && !c->pins && !c->borrowers &&
         c->charge;
}

static bool evict_rather(const struct context *a, const struct context *b) {
  return contexts.policy->evict_rather(&a->use, &b->use);
}

/* Does a thread wait for it? */
static bool is_urgent(const struct context *c) {
  return c->urgent || c->borrowers;
}

/* May v be evicted for the sake of `next`, which is to run? NULL: for a VP that
   runs. One that a thread waits for comes before those that wait for a slot. */
static bool may_go_for(const struct context *v, const struct context *next) {
  if (!next || is_urgent(next) || !v->use.wanted) {
    return true;
  }
  return contexts.policy->in_turn && v->use.turn > next->use.turn;
}

/* Threads of its program may use it although its VP waits. */
static bool let_go(const struct context *c) {
  const bool yes = !contexts.leaving || contexts.leaving(c);
  residency.refused |= !yes;
  return yes;
}

static struct context *find_victim(const struct context *next) {
  struct context *best = NULL;
  residency.refused = false;
  for (int i = 0; i < contexts.n; i++) {
    struct context *c = &contexts.item[i];
    if (may_go(c) && may_go_for(c, next) && (!best || evict_rather(c, best)) &&
        let_go(c)) {
      best = c;
    }
  }
  return best;
}

/* Said once, when memory has been short for long for the sake of threads. */
static void tell_refused(bool refused) {
  enum { PAUSES = 10000 };
  residency.refusals = refused ? residency.refusals + 1 : 0;
  if (residency.refusals == PAUSES) {
    msg_warn("memory is short: ranks wait in MPI while threads of theirs run "
             "on, so that their contexts stay in memory: let idle threads "
             "sleep (no OMP_WAIT_POLICY=active), or give more --pems-memory");
  }
}

/* Nobody tells when a context that was refused may go. */
static void wait_or_retry(pthread_cond_t *cond) {
  tell_refused(residency.refused);
  if (!residency.refused) {
    lock_wait(cond, &residency.lock);
    return;
  }
  enum { PAUSE_NS = 1000000 };
  const struct timespec until = clock_after(CLOCK_REALTIME, PAUSE_NS);
  residency.refused = false;
  lock_wait_until(cond, &residency.lock, &until);
}

static void leave(struct context *victim) {
  residency.going += victim->charge;
  residency.out++;
  set_state(victim, CONTEXT_GOING);
}

static void gone(struct context *victim) {
  residency.going -= victim->charge;
  residency.used -= victim->charge;
  victim->charge = 0;
  set_state(victim, CONTEXT_OUT);
}

static void evict(struct context *victim) {
  leave(victim);
  unlock();
  context_swap_out(victim);
  lock();
  gone(victim);
}

static bool hold(struct context *c) {
  if (c->state != CONTEXT_IN) {
    return false;
  }
  c->held = true;
  c->use.wanted = c->urgent = false;
  tell_movers(); /* one more may be read ahead */
  return true;
}

static void hold_locked(struct context *c) {
  while (!hold(c)) {
    c->use.wanted = c->urgent = true;
    tell_movers();
    wait_change();
  }
}

/* --- room for a running VP ---

   Any context may grow to all of the budget, so those that run may need more
   than that together. When all of them wait for room, the first in turn stays
   in memory, and the others step back: they may be evicted while they wait. A
   thread that is not its VP's own cannot do that, for its VP may be using the
   context. */

static void begin_growing(struct context *c, bool firm) {
  residency.growers++;
  c->growing++;
  c->firm |= firm;
  pthread_cond_broadcast(&residency.changed); /* all may be waiting now */
}

static void end_growing(struct context *c) {
  residency.growers--;
  if (--c->growing == 0) {
    c->firm = false;
  }
  tell();
}

/* Does a keep its memory, so that b must step back, when both wait for room? */
static bool outranks(const struct context *a, const struct context *b) {
  if (!a->growing || a == b) {
    return false;
  }
  if (a->firm != b->firm || a->use.turn == b->use.turn) {
    return a->firm != b->firm ? a->firm : a->index < b->index;
  }
  return a->use.turn < b->use.turn;
}

static bool outranked(const struct context *c) {
  for (int i = 0; i < contexts.n; i++) {
    if (outranks(&contexts.item[i], c)) {
      return true;
    }
  }
  return false;
}

/* Nothing is under way that will free memory by itself: no context moves or is
   pinned, and all VPs that run wait for room. */
static bool all_wait(void) {
  for (int i = 0; i < contexts.n; i++) {
    const struct context *c = &contexts.item[i];
    if (!c->growing && (c->held || c->pins || c->state == CONTEXT_GOING ||
                        c->state == CONTEXT_COMING)) {
      return false;
    }
  }
  return true;
}

/* Lets others have c's memory until they have what they need. It comes back
   with all that it needs, for that was counted before. */
static void step_back(struct context *c) {
  end_growing(c);
  c->held = false;
  c->use.wanted = c->urgent = true;
  c->use.last_used = ++residency.tick;
  do {
    tell();
    wait_change();
  } while (outranked(c));
  hold_locked(c);
  begin_growing(c, false);
}

/* Will one step back for c? */
static bool another_steps_back(const struct context *c) {
  for (int i = 0; i < contexts.n; i++) {
    const struct context *d = &contexts.item[i];
    if (d != c && d->held && d->growing && !d->firm) {
      return true;
    }
  }
  return false;
}

static struct context *find_victim_for(uint64_t bytes) {
  residency.refused = false;
  return residency.used - residency.going + bytes > contexts.budget
             ? find_victim(NULL)
             : NULL;
}

/* c cannot step back, and neither can the others that wait for room: who has
   more than an equal share gets no more. */
static bool denied(const struct context *c) {
  return c->firm && c->need > contexts.even && !another_steps_back(c);
}

/* Evicts until `bytes` more fit for c, or until c itself has made room for
   others. Where there is nobody to evict just now, someone else runs, moves or
   is pinned, and will tell; or all wait for room. False: c must do without. */
static bool make_room_for(struct context *c, uint64_t bytes) {
  while (residency.used + bytes > contexts.budget && moving()) {
    struct context *victim = find_victim_for(bytes);
    if (victim) {
      evict(victim);
      continue;
    }
    if (!residency.refused && all_wait()) {
      if (outranked(c) && !c->firm) {
        step_back(c);
        return true;
      }
      if (denied(c)) {
        return false;
      }
    }
    wait_or_retry(&residency.changed);
  }
  return true;
}

/* Others may be using c's memory while the calling thread waits: threads of its
   program, or its VP. */
static bool is_firm(const struct context *c) {
  return self.helper || !self.vp || !c->held ||
         (contexts.threaded && contexts.threaded(c));
}

/* May unlock: the caller checks again whatever it relies on. */
static bool make_room(struct context *c, uint64_t bytes) {
  /* A thread that the program started is not what its VP does. */
  const bool told = self.vp && !self.helper;
  const enum trace_state before = told ? trace_state_of(c->index) : 0;
  if (told) {
    trace_enter(c->index, TRACE_DISK);
  }
  begin_growing(c, is_firm(c));
  const bool made = make_room_for(c, bytes);
  end_growing(c);
  if (told) {
    trace_enter(c->index, before);
  }
  return made;
}

/* Counts what c needs beyond its charge. While room is made, another thread of
   its VP may have grown or counted it: then it is worked out again. A context
   that is not in memory is counted when it comes; a thread of the program may
   ask for more meanwhile. False: there is no room, and will be none. */
static bool charge(struct context *c) {
  while (c->state == CONTEXT_IN && c->charge < capped(c->need)) {
    const uint64_t more = capped(c->need) - c->charge;
    if (residency.used + more > contexts.budget && !make_room(c, more)) {
      return false;
    }
    if (c->state == CONTEXT_IN && c->charge + more == capped(c->need)) {
      residency.used += more;
      c->charge += more;
    }
  }
  return true;
}

/* What was granted to a VP must not be held by kept pages. Unlocks. */
static void unlock_and_trim(void) {
  const uint64_t room = room_for_frames();
  unlock();
  frames_trim(room);
}

/* What is in use counts, also where there was no room for it. */
static bool grow(struct context *c, uint64_t bytes) {
  lock();
  c->need += bytes;
  const bool room = charge(c);
  unlock_and_trim();
  return room;
}

bool residency_reserve(struct context *c, uint64_t bytes) {
  lock();
  c->reserved += bytes;
  c->need += bytes;
  const bool room = charge(c);
  if (!room) {
    c->reserved -= bytes;
    c->need -= bytes;
  }
  unlock_and_trim();
  return room;
}

void residency_unreserve(struct context *c, uint64_t bytes) {
  lock();
  c->reserved -= bytes;
  c->need -= bytes;
  if (c->state == CONTEXT_IN && c->charge > capped(c->need)) {
    residency.used -= c->charge - capped(c->need);
    c->charge = capped(c->need);
    tell();
  }
  unlock();
}

bool context_claim(struct context *c, const void *p, size_t n) {
  if (store_mapped() || granules_have(c, p, n)) {
    return true;
  }
  const uint64_t fresh = granules_use(c, p, n);
  return !fresh || grow(c, fresh);
}

/* --- moves --- */

/* c begins to come in (1), or is there (-1). */
static void count_coming(const struct context *c, int change) {
  const int disk = store_home(c);
  if (disk >= 0) {
    residency.coming[disk] += change;
  }
}

static int coming_from(int disk) {
  return disk >= 0 ? residency.coming[disk] : 0;
}

/* Is a to come in before b? By turn; but where the order leaves a choice, first
   from a disk that is idle. */
static bool load_rather(const struct context *a, const struct context *b) {
  const int da = store_home(a);
  const int db = store_home(b);
  if (da != db && !contexts.policy->in_turn && !is_urgent(a) && !is_urgent(b)) {
    const int na = coming_from(da), nb = coming_from(db);
    if (na != nb) {
      return na < nb;
    }
  }
  return is_urgent(a) != is_urgent(b) ? is_urgent(a)
                                      : a->use.turn < b->use.turn;
}

/* The context to come in next, unless enough wait for a slot already. */
static struct context *find_next_locked(void) {
  struct context *next = NULL;
  uint64_t first = UINT64_MAX; /* turn among those that are in memory */
  int ahead = 0;
  for (int i = 0; i < contexts.n; i++) {
    struct context *c = &contexts.item[i];
    if (!c->use.wanted && !c->borrowers) {
      continue;
    }
    if (c->state == CONTEXT_IN || c->state == CONTEXT_COMING) {
      ahead++;
      first = c->use.turn < first ? c->use.turn : first;
    } else if (c->state == CONTEXT_OUT && !c->pins &&
               (!next || load_rather(c, next))) {
      next = c;
    }
  }
  if (!next || is_urgent(next) || ahead < contexts.ahead) {
    return next;
  }
  /* The first in turn must come in whoever else is there. */
  return contexts.policy->in_turn && next->use.turn < first ? next : NULL;
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

/* Is something to be moved now? Marks what. */
static enum residency_move choose_locked(struct context **c) {
  *c = take_ordered_locked();
  if (*c) {
    return MOVE_OUT;
  }
  struct context *next =
      residency.growers || !moving() ? NULL : find_next_locked();
  if (!next) {
    return MOVE_NONE;
  }
  const uint64_t need = capped(next->need);
  if (residency.used + need <= contexts.budget) {
    next->charge = need;
    residency.used += need;
    residency.untaken += need;
    residency.out--;
    count_coming(next, 1);
    set_state(next, CONTEXT_COMING);
    *c = next;
    return MOVE_IN;
  }
  *c = residency.used - residency.going + need > contexts.budget
           ? find_victim(next)
           : NULL;
  if (!*c) {
    return MOVE_NONE;
  }
  leave(*c);
  return MOVE_OUT;
}

enum residency_move residency_next(struct context **c) {
  enum residency_move move = MOVE_NONE;
  lock();
  while (!residency.ending && (move = choose_locked(c)) == MOVE_NONE) {
    wait_or_retry(&residency.work);
  }
  unlock();
  return move;
}

void residency_took_frames(struct context *c) {
  lock();
  residency.untaken -= c->charge;
  unlock_and_trim();
}

void residency_came(struct context *c) {
  /* Held until all is freed: whoever writes the context again waits for it. */
  lock_take(&c->heap_lock);
  lock();
  c->use.last_used = ++residency.tick;
  count_coming(c, -1);
  set_state(c, CONTEXT_IN);
  unlock();
  late_frees_apply(c);
  lock_give(&c->heap_lock);
  if (contexts.arrival) {
    contexts.arrival(c);
  }
}

void residency_went(struct context *c) {
  lock();
  gone(c);
  unlock();
}

void residency_stop(void) {
  lock();
  residency.ending = true;
  pthread_cond_broadcast(&residency.work);
  unlock();
}

/* --- what VPs ask --- */

bool context_want(struct context *c, uint64_t turn) {
  lock();
  c->use.wanted = true;
  c->use.turn = turn;
  const bool in = c->state == CONTEXT_IN;
  if (!in) {
    tell_movers();
  }
  unlock();
  return in;
}

bool context_try_acquire(struct context *c) {
  lock();
  const bool held = hold(c);
  unlock();
  return held;
}

void context_acquire(struct context *c) {
  lock();
  hold_locked(c);
  (void)charge(c);
  unlock_and_trim();
}

/* For tests: threads that are about to sleep are given a moment. */
static bool let_go_soon(const struct context *c) {
  bool yes = false;
  for (int tries = 0; may_go(c) && !(yes = let_go(c)) && tries < 100; tries++) {
    const struct timespec pause = {0, 100000};
    unlock();
    nanosleep(&pause, NULL);
    lock();
  }
  return yes && may_go(c);
}

void context_release(struct context *c) {
  lock();
  c->held = false;
  c->use.last_used = ++residency.tick;
  if (contexts.evict_always && !contexts.frozen && let_go_soon(c)) {
    leave(c); /* a mover writes it: the caller may hold locks */
    c->ordered = true;
  }
  tell();
  unlock();
}

void context_discard(struct context *c) {
  lock();
  while (c->pins || c->state == CONTEXT_COMING || c->state == CONTEXT_GOING) {
    wait_change();
  }
  c->held = c->use.wanted = false;
  if (c->state == CONTEXT_IN && !store_mapped()) {
    /* Unlocked, for it takes a while; and a context's I/O lock comes first. */
    residency.going += c->charge;
    set_state(c, CONTEXT_GOING);
    unlock();
    context_drop(c);
    space_release(c);
    lock();
    c->need = 0;
    gone(c);
  }
  unlock();
}

bool contexts_crowded(void) {
  return residency.out > 0;
}

uint64_t residency_need(const struct context *c) {
  lock();
  const uint64_t need = c->need;
  unlock();
  return need;
}

uint64_t contexts_resident_bytes(void) {
  lock();
  const uint64_t used = residency.used;
  unlock();
  return used;
}

void context_pin(struct context *c) {
  lock();
  while (c->state == CONTEXT_COMING || c->state == CONTEXT_GOING) {
    wait_change();
  }
  c->pins++;
  unlock();
}

void context_borrow(struct context *c) {
  lock();
  c->borrowers++;
  while (c->state != CONTEXT_IN) {
    tell_movers();
    wait_change();
  }
  c->borrowers--;
  c->pins++;
  unlock();
}

void context_unpin(struct context *c) {
  lock();
  if (--c->pins == 0) {
    pthread_cond_broadcast(&residency.changed);
    /* Only if it was the pin that kept it from being moved: most messages go
       between a VP that runs and one that waits for others. */
    if (c->state == CONTEXT_IN ? !c->held : c->use.wanted || c->borrowers) {
      tell_movers();
    }
  }
  unlock();
}
