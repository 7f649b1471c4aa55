/* The keys that the sorting programs sort, and checksums to compare before and
   after. Key i depends on i alone, so every program and every number of ranks
   sees the same data. Plain C that is also C++. */
#ifndef APPS_KEYS_H
#define APPS_KEYS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum key_order { KEYS_RANDOM, KEYS_EQUAL, KEYS_SORTED, KEYS_REVERSE };

struct key_source {
  enum key_order order;
  uint64_t n;    /* number of keys */
  uint64_t seed; /* of random and equal keys */
  uint64_t step; /* between neighbours of sorted keys, times 2^32 */
};

/* What must not change while sorting: independent of the keys' order. */
struct checksum {
  uint64_t count;
  uint64_t sum;
  uint64_t hash; /* sum of the keys' hashes, modulo 2^64 */
};

/* Bijective mixing of all bits: the finalizer of splitmix64 (Steele, Lea and
   Flood, "Fast splittable pseudorandom number generators", 2014). */
static inline uint64_t key_mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/* Looks up an order by name. Returns 0, or -1 if there is none of that name. */
static inline int key_order_find(const char *name, enum key_order *order) {
  static const char *const names[] = {"random", "equal", "sorted", "reverse"};
  static const enum key_order orders[] = {KEYS_RANDOM, KEYS_EQUAL, KEYS_SORTED,
                                          KEYS_REVERSE};
  for (int i = 0; i < 4; i++) {
    if (strcmp(name, names[i]) == 0) {
      *order = orders[i];
      return 0;
    }
  }
  return -1;
}

static inline struct key_source key_source_make(enum key_order order,
                                                uint64_t n, uint64_t seed) {
  struct key_source s;
  s.order = order;
  s.n = n;
  s.seed = key_mix(seed);
  s.step = n > 0 ? UINT64_MAX / n : 0;
  return s;
}

/* Key i of n, 0 <= i < n. */
static inline uint32_t key_at(const struct key_source *s, uint64_t i) {
  switch (s->order) {
  case KEYS_EQUAL:
    return (uint32_t)s->seed;
  case KEYS_SORTED:
    return (uint32_t)(i * s->step >> 32);
  case KEYS_REVERSE:
    return (uint32_t)((s->n - 1 - i) * s->step >> 32);
  default:
    return (uint32_t)(key_mix(s->seed + i) >> 32);
  }
}

static inline void checksum_add(struct checksum *c, uint32_t key) {
  c->count++;
  c->sum += key;
  c->hash += key_mix(key);
}

static inline void checksum_join(struct checksum *c,
                                 const struct checksum *other) {
  c->count += other->count;
  c->sum += other->sum;
  c->hash += other->hash;
}

static inline bool checksum_equal(const struct checksum *a,
                                  const struct checksum *b) {
  return a->count == b->count && a->sum == b->sum && a->hash == b->hash;
}

#endif
