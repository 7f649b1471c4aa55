#include "context/residency/awaited.h"

#include "context/internal.h"

#include <limits.h>

/* What who is waited for has to do yet, from near to far. */
enum { RUNS, COMES, ON_DISK, WAITS, WAITS_ON_DISK };

static _Atomic int knowing; /* contexts of which it is known */
static uint64_t round_of_counts;

/* Relaxed: who reads while others change it is told of what was or will be. */
static int get(const _Atomic int *n) {
  return atomic_load_explicit(n, memory_order_relaxed);
}

static void set(_Atomic int *n, int value) {
  atomic_store_explicit(n, value, memory_order_relaxed);
}

void awaited_add(struct context *c, int who) {
  struct context_awaited *const a = &c->awaited;
  const int kept = get(&a->kept);
  if (who == AWAITED_NOTHING) {
    return;
  }
  if (!a->known) {
    a->known = true;
    atomic_fetch_add(&knowing, 1);
  }
  set(&a->n, get(&a->n) + 1);
  if (kept < CONTEXT_AWAITED) {
    set(&a->who[kept], who);
    set(&a->kept, kept + 1);
  }
}

void awaited_came(struct context *c, int who) {
  struct context_awaited *const a = &c->awaited;
  const int n = get(&a->n), kept = get(&a->kept);
  int i = 0;
  if (who == AWAITED_NOTHING) {
    return;
  }
  while (i < kept && get(&a->who[i]) != who) {
    i++;
  }
  if (i < kept) {
    set(&a->who[i], get(&a->who[kept - 1]));
    set(&a->kept, kept - 1);
  }
  set(&a->n, n > 0 ? n - 1 : 0);
}

void awaited_none(struct context *c) {
  struct context_awaited *const a = &c->awaited;
  if (a->known) {
    a->known = false;
    set(&a->n, 0);
    set(&a->kept, 0);
    atomic_fetch_sub(&knowing, 1);
  }
}

static unsigned distance_locked(int who) {
  if (who < 0) {
    return who == AWAITED_ANY         ? COMES
           : who == AWAITED_ELSEWHERE ? ON_DISK
                                      : WAITS_ON_DISK;
  }
  const struct context *const c = &contexts.item[who];
  const bool in = context_resident(c);
  if (c->held) {
    return RUNS;
  }
  if (c->use.wanted) {
    return in || c->state == CONTEXT_COMING ? COMES : ON_DISK;
  }
  return in ? WAITS : WAITS_ON_DISK;
}

void awaited_look_locked(struct context *c) {
  const struct context_awaited *const a = &c->awaited;
  unsigned far = RUNS;
  if (!a->known) {
    c->use.far = WAITS_ON_DISK;
    c->use.missing = INT_MAX;
    return;
  }
  const int kept = get(&a->kept);
  for (int i = 0; i < kept; i++) {
    const unsigned d = distance_locked(get(&a->who[i]));
    far = d > far ? d : far;
  }
  c->use.far = far;
  c->use.missing = get(&a->n);
}

/* Whom alone c waits for, in memory; NULL: nobody, or more than one. */
static struct context *only_one_locked(const struct context *c) {
  const struct context_awaited *const a = &c->awaited;
  if (!a->known || !context_resident(c) || c->held || c->use.wanted ||
      get(&a->n) != 1 || get(&a->kept) != 1) {
    return NULL;
  }
  const int who = get(&a->who[0]);
  return who >= 0 ? &contexts.item[who] : NULL;
}

void awaited_count_locked(void) {
  round_of_counts++;
  for (int i = 0; knowing && i < contexts.n; i++) {
    struct context *const one = only_one_locked(&contexts.item[i]);
    if (one) {
      one->awaited.frees = awaited_frees_locked(one) + 1;
      one->awaited.counted = round_of_counts;
    }
  }
}

int awaited_frees_locked(const struct context *c) {
  return c->awaited.counted == round_of_counts ? c->awaited.frees : 0;
}
