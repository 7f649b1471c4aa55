/* A priority queue in memory, beside which pems's is tried: a heap of all
   records, which tells the key that must come next, and a bag of them, in which
   whatever comes must be. Of equal records any may come first. */
#ifndef PEMS_TESTS_UNIT_PQUEUE_MODEL_H
#define PEMS_TESTS_UNIT_PQUEUE_MODEL_H

#include "kernel_check.h"

#include <stdbool.h>

struct model {
  struct pems_record record;
  char *heap;
  size_t n, room; /* records */
  /* A table with open addressing of hashes of records (0: none), and how many
     of each there are. */
  uint64_t *hash;
  uint32_t *count;
  size_t slots, used; /* slots is a power of two, or 0 */
};

static inline void model_init(struct model *m, const struct pems_record *r) {
  *m = (struct model){.record = *r};
}

static inline void model_clear(struct model *m) {
  free(m->heap);
  free(m->hash);
  free(m->count);
  model_init(m, &(struct pems_record){.size = 0});
}

static inline char *model_at(const struct model *m, size_t i) {
  return m->heap + i * m->record.size;
}

/* The first record; there is one. */
static inline const char *model_first(const struct model *m) {
  return m->heap;
}

/* --- the bag --- */

static inline uint64_t model_hash(const struct model *m, const char *record) {
  uint64_t h = m->record.size, word;
  for (size_t i = 0; i < m->record.size; i += 8) {
    word = 0;
    memcpy(&word, record + i, m->record.size - i < 8 ? m->record.size - i : 8);
    h = (h ^ word) * UINT64_C(0xbf58476d1ce4e5b9);
    h ^= h >> 31;
  }
  return h ? h : 1;
}

/* Where a hash is, or would be. */
static inline size_t model_slot(const struct model *m, uint64_t h) {
  size_t i = (size_t)h & (m->slots - 1);
  while (m->hash[i] && m->hash[i] != h) {
    i = (i + 1) & (m->slots - 1);
  }
  return i;
}

static inline void model_grow_bag(struct model *m) {
  const struct model old = *m;
  m->slots = old.slots ? 2 * old.slots : 1024;
  m->hash = calloc(m->slots, sizeof(*m->hash));
  m->count = calloc(m->slots, sizeof(*m->count));
  ck_assert(m->hash && m->count);
  for (size_t i = 0; i < old.slots; i++) {
    if (old.hash[i]) {
      const size_t to = model_slot(m, old.hash[i]);
      m->hash[to] = old.hash[i];
      m->count[to] = old.count[i];
    }
  }
  free(old.hash);
  free(old.count);
}

static inline void model_put_in_bag(struct model *m, const char *record) {
  const uint64_t h = model_hash(m, record);
  if (2 * m->used >= m->slots) {
    model_grow_bag(m);
  }
  const size_t i = model_slot(m, h);
  if (!m->hash[i]) {
    m->used++;
  }
  m->hash[i] = h;
  m->count[i]++;
}

/* Closes the gap at i: what was put behind it for want of room moves up. */
static inline void model_close_gap(struct model *m, size_t i) {
  const size_t mask = m->slots - 1;
  m->hash[i] = 0;
  m->used--;
  for (size_t j = (i + 1) & mask; m->hash[j]; j = (j + 1) & mask) {
    const size_t home = (size_t)m->hash[j] & mask;
    if (((j - home) & mask) >= ((j - i) & mask)) {
      m->hash[i] = m->hash[j];
      m->count[i] = m->count[j];
      m->hash[j] = 0;
      m->count[j] = 0;
      i = j;
    }
  }
}

static inline bool model_has(const struct model *m, const char *record) {
  return m->used > 0 && m->hash[model_slot(m, model_hash(m, record))] != 0;
}

static inline void model_take_from_bag(struct model *m, const char *record) {
  const size_t i = model_slot(m, model_hash(m, record));
  if (--m->count[i] == 0) {
    model_close_gap(m, i);
  }
}

/* --- the heap --- */

static inline bool model_before(const struct model *m, const char *a,
                                const char *b) {
  return reference_order(&m->record, a, b) < 0;
}

static inline void model_push(struct model *m, const char *record) {
  const size_t size = m->record.size;
  if (m->n == m->room) {
    m->room = 2 * m->room + 64;
    m->heap = realloc(m->heap, m->room * size);
    ck_assert_ptr_nonnull(m->heap);
  }
  size_t i = m->n++;
  for (; i > 0 && model_before(m, record, model_at(m, (i - 1) / 2));
       i = (i - 1) / 2) {
    memcpy(model_at(m, i), model_at(m, (i - 1) / 2), size);
  }
  memcpy(model_at(m, i), record, size);
  model_put_in_bag(m, record);
}

/* Removes the first record of the heap. */
static inline void model_drop(struct model *m) {
  const size_t size = m->record.size, n = --m->n;
  const char *const last = model_at(m, n);
  size_t i = 0;
  for (size_t child; (child = 2 * i + 1) < n; i = child) {
    if (child + 1 < n &&
        model_before(m, model_at(m, child + 1), model_at(m, child))) {
      child++;
    }
    if (!model_before(m, model_at(m, child), last)) {
      break;
    }
    memcpy(model_at(m, i), model_at(m, child), size);
  }
  if (i < n) {
    memcpy(model_at(m, i), last, size);
  }
}

/* NULL if `record` may be the first one, else why not. */
static inline const char *model_refuses(const struct model *m,
                                        const char *record) {
  if (m->n == 0) {
    return "a record from an empty queue";
  }
  const int order = reference_order(&m->record, record, model_first(m));
  if (order) {
    return order < 0 ? "a record before the first" : "the first was left out";
  }
  return model_has(m, record) ? NULL : "a record that was not in the queue";
}

/* Removes `record`, the first one: as model_refuses. */
static inline const char *model_pop(struct model *m, const char *record) {
  const char *const wrong = model_refuses(m, record);
  if (!wrong) {
    model_take_from_bag(m, record);
    model_drop(m);
  }
  return wrong;
}

#endif
