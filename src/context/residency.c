/* Which contexts are in memory. One lock guards all states; the transfers
   themselves happen without it. */
#include "context/internal.h"

#include <string.h>

static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed; /* some state, pin count or the total changed */
  uint64_t used;          /* sum of all charges */
  uint64_t tick;          /* counts releases */
} residency = {.lock = PTHREAD_MUTEX_INITIALIZER,
               .changed = PTHREAD_COND_INITIALIZER};

/* A process that the program forks shares the scratch files with its parent: it
   must move nothing, whatever it touches. Its threads are gone, and with them
   who held the lock. */
static void in_forked_child(void) {
  contexts.frozen = true;
  pthread_mutex_init(&residency.lock, NULL);
  pthread_cond_init(&residency.changed, NULL);
}

static void watch_forks(void) {
  pthread_atfork(NULL, NULL, in_forked_child);
}

void residency_start(void) {
  residency.used = residency.tick = 0;
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_forks);
}

static void lock(void) {
  pthread_mutex_lock(&residency.lock);
}

static void unlock(void) {
  pthread_mutex_unlock(&residency.lock);
}

static void wait_change(void) {
  pthread_cond_wait(&residency.changed, &residency.lock);
}

static void set_state(struct context *c, enum context_state state) {
  c->state = state;
  pthread_cond_broadcast(&residency.changed);
}

/* Is a the better one to evict? Those whose VP is about to run stay longest;
   among the others the one that ran longest ago: at the end of a superstep
   the last to run are then resident, and run first in the next one. */
static bool evict_rather(const struct context *a, const struct context *b) {
  if (a->wanted != b->wanted) {
    return !a->wanted;
  }
  return a->last_used < b->last_used;
}

static struct context *find_victim(void) {
  struct context *best = NULL;
  for (int i = 0; i < contexts.n; i++) {
    struct context *c = &contexts.item[i];
    if (c->state == CONTEXT_IN && !c->held && !c->pins && c->charge &&
        (!best || evict_rather(c, best))) {
      best = c;
    }
  }
  return best;
}

static void evict(struct context *victim) {
  set_state(victim, CONTEXT_GOING);
  unlock();
  context_swap_out(victim);
  lock();
  residency.used -= victim->charge;
  victim->charge = 0;
  set_state(victim, CONTEXT_OUT);
}

/* Evicts until `bytes` more fit. May unlock: the caller checks again whatever
   it relies on. Where there is nobody to evict just now, someone else is
   moving or pinned, and will tell. k contexts fit by plan_make's promise. */
static void make_room(uint64_t bytes) {
  while (residency.used + bytes > contexts.budget && contexts.disks &&
         !contexts.mapped && !contexts.frozen) {
    struct context *victim = find_victim();
    if (victim) {
      evict(victim);
    } else {
      wait_change();
    }
  }
}

/* A context never counts more than mu: rounding to granules must not make k
   contexts exceed the budget that was planned for them. */
static uint64_t capped(uint64_t bytes) {
  return bytes < contexts.mu ? bytes : contexts.mu;
}

/* Counts what c needs beyond its charge. While room is made, another thread of
   its VP may have grown or counted it: then it is worked out again. */
static void charge(struct context *c) {
  while (c->charge < capped(c->need)) {
    const uint64_t more = capped(c->need) - c->charge;
    make_room(more);
    if (c->charge + more == capped(c->need)) {
      residency.used += more;
      c->charge += more;
    }
  }
}

static void bring_in(struct context *c) {
  for (;;) {
    make_room(capped(c->need));
    if (!c->pins) {
      break;
    }
    wait_change();
  }
  c->charge = capped(c->need);
  residency.used += c->charge;
  set_state(c, CONTEXT_COMING);
  unlock();
  context_swap_in(c);
  lock();
  set_state(c, CONTEXT_IN);
  unlock();
  pthread_mutex_lock(&c->heap_lock);
  context_apply_late_frees(c);
  pthread_mutex_unlock(&c->heap_lock);
  lock();
}

void context_acquire(struct context *c) {
  lock();
  c->held = true;
  c->wanted = false;
  while (c->state == CONTEXT_GOING) {
    wait_change();
  }
  if (c->state == CONTEXT_OUT) {
    bring_in(c);
  }
  charge(c);
  unlock();
}

void context_release(struct context *c) {
  lock();
  c->held = false;
  c->last_used = ++residency.tick;
  if (contexts.evict_always && !contexts.frozen && c->state == CONTEXT_IN &&
      !c->pins) {
    evict(c);
  }
  pthread_cond_broadcast(&residency.changed);
  unlock();
}

void context_want(struct context *c, bool wanted) {
  c->wanted = wanted;
}

void context_discard(struct context *c) {
  lock();
  while (c->pins || c->state == CONTEXT_COMING || c->state == CONTEXT_GOING) {
    wait_change();
  }
  c->held = false;
  if (c->state == CONTEXT_IN && !contexts.mapped) {
    context_drop(c);
    residency.used -= c->charge;
    c->charge = c->need = 0;
    set_state(c, CONTEXT_OUT);
  }
  unlock();
}

void residency_grow(struct context *c, uint64_t bytes) {
  lock();
  c->need += bytes;
  charge(c);
  unlock();
}

void residency_shrink(struct context *c, uint64_t bytes) {
  lock();
  c->need -= bytes;
  if (c->charge > capped(c->need)) {
    residency.used -= c->charge - capped(c->need);
    c->charge = capped(c->need);
    pthread_cond_broadcast(&residency.changed);
  }
  unlock();
}

void context_claim(struct context *c, const void *p, size_t n) {
  if (contexts.mapped || granules_have(c, p, n)) {
    return;
  }
  const uint64_t fresh = granules_use(c, p, n);
  if (fresh) {
    residency_grow(c, fresh);
  }
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

void context_unpin(struct context *c) {
  lock();
  if (--c->pins == 0) {
    pthread_cond_broadcast(&residency.changed);
  }
  unlock();
}
