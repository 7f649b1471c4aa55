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

/* ns until a context whose threads do not sleep is asked about again. */
enum { REFUSED_NS = 1000000 };

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
  bool refused;           /* there was a victim, but for its threads */
  int refusals;           /* pauses in a row for that reason */
  int examining;          /* threads that ask contexts.leaving */
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

static void wait_change_locked(void) {
  lock_wait(&residency.changed, &residency.lock);
}

/* Perhaps something is to be moved: never so while all is in memory. */
static void tell_movers_locked(void) {
  if (residency.out) {
    pthread_cond_broadcast(&residency.work);
  }
}

static void tell_locked(void) {
  pthread_cond_broadcast(&residency.changed);
  tell_movers_locked();
}

static void set_state_locked(struct context *c, enum context_state state) {
  c->state = state;
  tell_locked();
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
static uint64_t room_for_frames_locked(void) {
  const uint64_t used = residency.used - residency.untaken;
  return used < contexts.budget ? contexts.budget - used : 0;
}

/* --- victims --- */

static bool may_go_locked(const struct context *c) {
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
static bool may_go_for_locked(const struct context *v,
                              const struct context *next) {
  if (!next || is_urgent(next) || !v->use.wanted) {
    return true;
  }
  return contexts.policy->in_turn && v->use.turn > next->use.turn;
}

/* Threads of its program may use it although its VP waits. If they were found
   asleep, they stay so until the VP runs; if not, they are given a moment. */
static bool is_quiet_locked(const struct context *c) {
  return !contexts.leaving || c->quiet;
}

static bool is_refused_locked(const struct context *c, uint64_t now) {
  const bool refused = !is_quiet_locked(c) && now < c->busy_until;
  residency.refused |= refused;
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
  residency.examining++;
  unlock();
  const bool quiet = leaving(c);
  lock();
  if (--residency.examining == 0 && !contexts.leaving) {
    tell_locked();
  }
  if (!c->held && c->use.last_used == since) { /* its VP has not run since */
    c->quiet = quiet;
    c->busy_until = quiet ? 0 : clock_ns() + REFUSED_NS;
  }
}

void residency_on_leaving(bool (*leaving)(const struct context *c)) {
  lock();
  contexts.leaving = leaving;
  while (!leaving && residency.examining) {
    wait_change_locked();
  }
  unlock();
}

/* Who is to leave next: NULL, nobody can now. It must be examined first if it
   is not quiet. */
static struct context *find_victim_locked(const struct context *next) {
  const uint64_t now = clock_ns();
  struct context *best = NULL;
  residency.refused = false;
  for (int i = 0; i < contexts.n; i++) {
    struct context *c = &contexts.item[i];
    if (may_go_locked(c) && may_go_for_locked(c, next) &&
        (!best || evict_rather(c, best)) && !is_refused_locked(c, now)) {
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
static void wait_or_retry_locked(pthread_cond_t *cond) {
  tell_refused(residency.refused);
  if (!residency.refused) {
    lock_wait(cond, &residency.lock);
    return;
  }
  const struct timespec until = clock_after(CLOCK_REALTIME, REFUSED_NS);
  residency.refused = false;
  lock_wait_until(cond, &residency.lock, &until);
}

static void leave_locked(struct context *victim) {
  residency.going += victim->charge;
  residency.out++;
  set_state_locked(victim, CONTEXT_GOING);
}

static void gone_locked(struct context *victim) {
  residency.going -= victim->charge;
  residency.used -= victim->charge;
  trace_resident(residency.used);
  victim->charge = 0;
  set_state_locked(victim, CONTEXT_OUT);
}

static void evict_locked(struct context *victim) {
  leave_locked(victim);
  unlock();
  context_swap_out(victim);
  lock();
  gone_locked(victim);
}

static bool hold_locked(struct context *c) {
  if (c->state != CONTEXT_IN) {
    return false;
  }
  c->held = true;
  c->quiet = false;
  c->use.wanted = c->urgent = false;
  tell_movers_locked(); /* one more may be read ahead */
  return true;
}

static void hold_again_locked(struct context *c) {
  while (!hold_locked(c)) {
    c->use.wanted = c->urgent = true;
    tell_movers_locked();
    wait_change_locked();
  }
}

/* --- room for a running VP ---

   Any context may grow to all of the budget, so those that run may need more
   than that together. When all of them wait for room, the first in turn stays
   in memory, and the others step back: they may be evicted while they wait. A
   thread that is not its VP's own cannot do that, for its VP may be using the
   context. */

static void begin_growing_locked(struct context *c, bool firm) {
  residency.growers++;
  c->growing++;
  c->firm |= firm;
  pthread_cond_broadcast(&residency.changed); /* all may be waiting now */
}

static void end_growing_locked(struct context *c) {
  residency.growers--;
  if (--c->growing == 0) {
    c->firm = false;
  }
  tell_locked();
}

/* Does a keep its memory, so that b must step back, when both wait for room? */
static bool outranks_locked(const struct context *a, const struct context *b) {
  if (!a->growing || a == b) {
    return false;
  }
  if (a->firm != b->firm || a->use.turn == b->use.turn) {
    return a->firm != b->firm ? a->firm : a->index < b->index;
  }
  return a->use.turn < b->use.turn;
}

static bool outranked_locked(const struct context *c) {
  for (int i = 0; i < contexts.n; i++) {
    if (outranks_locked(&contexts.item[i], c)) {
      return true;
    }
  }
  return false;
}

/* Nothing is under way that will free memory by itself: no context moves or is
   pinned, and all VPs that run wait for room. */
static bool all_wait_locked(void) {
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
static void step_back_locked(struct context *c) {
  end_growing_locked(c);
  c->held = false;
  c->use.wanted = c->urgent = true;
  c->use.last_used = ++residency.tick;
  tell_locked(); /* once: those that step back would wake each other for ever */
  do {
    wait_change_locked();
  } while (outranked_locked(c));
  hold_again_locked(c);
  begin_growing_locked(c, false);
}

/* Will one step back for c? */
static bool another_steps_back_locked(const struct context *c) {
  for (int i = 0; i < contexts.n; i++) {
    const struct context *d = &contexts.item[i];
    if (d != c && d->held && d->growing && !d->firm) {
      return true;
    }
  }
  return false;
}

static struct context *find_victim_for_locked(uint64_t bytes) {
  residency.refused = false;
  return residency.used - residency.going + bytes > contexts.budget
             ? find_victim_locked(NULL)
             : NULL;
}

/* c cannot step back, and neither can the others that wait for room: who has
   more than an equal share gets no more. */
static bool denied_locked(const struct context *c) {
  return c->firm && c->need > contexts.even && !another_steps_back_locked(c);
}

/* Evicts until `bytes` more fit for c, or until c itself has made room for
   others. Where there is nobody to evict just now, someone else runs, moves or
   is pinned, and will tell; or all wait for room. False: c must do without. */
static bool make_room_for_locked(struct context *c, uint64_t bytes) {
  while (residency.used + bytes > contexts.budget && moving()) {
    struct context *victim = find_victim_for_locked(bytes);
    if (victim && is_quiet_locked(victim)) {
      evict_locked(victim);
      continue;
    }
    if (victim) {
      examine_locked(victim);
      continue;
    }
    if (!residency.refused && all_wait_locked()) {
      if (outranked_locked(c) && !c->firm) {
        step_back_locked(c);
        return true;
      }
      if (denied_locked(c)) {
        return false;
      }
    }
    wait_or_retry_locked(&residency.changed);
  }
  return true;
}

/* Others may be using c's memory while the calling thread waits: threads of its
   program, or its VP. */
static bool is_firm_locked(const struct context *c) {
  return self.helper || !self.vp || !c->held ||
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

/* Counts what c needs beyond its charge. While room is made, another thread of
   its VP may have grown or counted it: then it is worked out again. A context
   that is not in memory is counted when it comes; a thread of the program may
   ask for more meanwhile. False: there is no room, and will be none. */
static bool charge_locked(struct context *c) {
  while (c->state == CONTEXT_IN && c->charge < capped(c->need)) {
    const uint64_t more = capped(c->need) - c->charge;
    if (residency.used + more > contexts.budget && !make_room_locked(c, more)) {
      return false;
    }
    if (c->state == CONTEXT_IN && c->charge + more == capped(c->need)) {
      residency.used += more;
      trace_resident(residency.used);
      c->charge += more;
    }
  }
  return true;
}

/* What was granted to a VP must not be held by kept pages. Unlocks. */
static void unlock_and_trim(void) {
  const uint64_t room = room_for_frames_locked();
  unlock();
  frames_trim(room);
}

/* What is in use counts, also where there was no room for it. */
static bool grow(struct context *c, uint64_t bytes) {
  lock();
  c->need += bytes;
  const bool room = charge_locked(c);
  unlock_and_trim();
  return room;
}

bool residency_reserve(struct context *c, uint64_t bytes) {
  lock();
  c->reserved += bytes;
  c->need += bytes;
  const bool room = charge_locked(c);
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
    trace_resident(residency.used);
    c->charge = capped(c->need);
    tell_locked();
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
static void count_coming_locked(const struct context *c, int change) {
  const int disk = store_home(c);
  if (disk >= 0) {
    residency.coming[disk] += change;
  }
}

static int coming_from_locked(int disk) {
  return disk >= 0 ? residency.coming[disk] : 0;
}

/* Is a to come in before b? By turn; but where the order leaves a choice, first
   from a disk that is idle. */
static bool load_rather_locked(const struct context *a,
                               const struct context *b) {
  const int da = store_home(a);
  const int db = store_home(b);
  if (da != db && !contexts.policy->in_turn && !is_urgent(a) && !is_urgent(b)) {
    const int na = coming_from_locked(da), nb = coming_from_locked(db);
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
               (!next || load_rather_locked(c, next))) {
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

/* Is something to be moved now? Marks what. With MOVE_NONE, *c is NULL or the
   context to examine before it can be told. */
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
    trace_resident(residency.used);
    residency.untaken += need;
    residency.out--;
    count_coming_locked(next, 1);
    set_state_locked(next, CONTEXT_COMING);
    *c = next;
    return MOVE_IN;
  }
  *c = residency.used - residency.going + need > contexts.budget
           ? find_victim_locked(next)
           : NULL;
  if (!*c || !is_quiet_locked(*c)) {
    return MOVE_NONE;
  }
  leave_locked(*c);
  return MOVE_OUT;
}

enum residency_move residency_next(struct context **c) {
  enum residency_move move = MOVE_NONE;
  lock();
  while (!residency.ending && (move = choose_locked(c)) == MOVE_NONE) {
    if (*c) {
      examine_locked(*c);
    } else {
      wait_or_retry_locked(&residency.work);
    }
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
  count_coming_locked(c, -1);
  set_state_locked(c, CONTEXT_IN);
  unlock();
  late_frees_apply(c);
  lock_give(&c->heap_lock);
  if (contexts.arrival) {
    contexts.arrival(c);
  }
}

void residency_went(struct context *c) {
  lock();
  gone_locked(c);
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
    tell_movers_locked();
  }
  unlock();
  return in;
}

bool context_try_acquire(struct context *c) {
  lock();
  const bool held = hold_locked(c);
  unlock();
  return held;
}

void context_acquire(struct context *c) {
  lock();
  hold_again_locked(c);
  (void)charge_locked(c);
  unlock_and_trim();
}

/* For tests: threads that are about to sleep are given a moment. */
static bool let_go_soon_locked(struct context *c) {
  for (int tries = 0; may_go_locked(c) && !is_quiet_locked(c) && tries < 100;
       tries++) {
    const struct timespec pause = {0, 100000};
    if (tries) {
      unlock();
      nanosleep(&pause, NULL);
      lock();
    }
    examine_locked(c);
  }
  return may_go_locked(c) && is_quiet_locked(c);
}

void context_release(struct context *c) {
  lock();
  c->held = false;
  c->use.last_used = ++residency.tick;
  if (contexts.evict_always && !contexts.frozen && let_go_soon_locked(c)) {
    leave_locked(c); /* a mover writes it: the caller may hold locks */
    c->ordered = true;
  }
  tell_locked();
  unlock();
}

void context_discard(struct context *c) {
  lock();
  while (c->pins || c->state == CONTEXT_COMING || c->state == CONTEXT_GOING) {
    wait_change_locked();
  }
  c->held = c->quiet = c->use.wanted = false;
  if (c->state == CONTEXT_IN && !store_mapped()) {
    /* Unlocked, for it takes a while; and a context's I/O lock comes first. */
    residency.going += c->charge;
    set_state_locked(c, CONTEXT_GOING);
    unlock();
    context_drop(c);
    space_release(c);
    lock();
    c->need = 0;
    gone_locked(c);
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
    wait_change_locked();
  }
  c->pins++;
  unlock();
}

void context_borrow(struct context *c) {
  lock();
  c->borrowers++;
  while (c->state != CONTEXT_IN) {
    tell_movers_locked();
    wait_change_locked();
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
      tell_movers_locked();
    }
  }
  unlock();
}
