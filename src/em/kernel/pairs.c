/* Sorting pairs of a prefix and a number. */
#include "em/kernel/pairs.h"

#include <stdbool.h>

#include "em/kernel/radix.h"

enum { FEW = 16 /* pairs that are sorted by insertion */ };

/* --- as numbers --- */

static bool smaller(const struct losers_pair *a, const struct losers_pair *b) {
  return ((unsigned __int128)a->prefix << 64 | a->index) <
         ((unsigned __int128)b->prefix << 64 | b->index);
}

static void insertion(struct losers_pair *pair, size_t n) {
  for (size_t i = 1; i < n; i++) {
    const struct losers_pair p = pair[i];
    size_t j = i;
    for (; j > 0 && smaller(&p, &pair[j - 1]); j--) {
      pair[j] = pair[j - 1];
    }
    pair[j] = p;
  }
}

void pairs_sort(struct losers_pair *pair, size_t n) {
  if (n > FEW) {
    radix_u128(pair, n);
  } else {
    insertion(pair, n);
  }
}

void pairs_sort_prefixes(struct losers_pair *pair, size_t n) {
  if (n > FEW) {
    radix_u128_high(pair, n);
  } else {
    insertion(pair, n);
  }
}

/* --- of records with equal prefixes --- */

/* Marks the first of those that are still equal. */
#define FIRST (UINT64_C(1) << 63)

struct ties {
  const struct record_order *o;
  const char *records;
};

static const char *record_of(const struct ties *t,
                             const struct losers_pair *pair) {
  return t->records + (pair->index & ~FIRST) * t->o->size;
}

static int compare_rest(const struct ties *t, const char *a, const char *b) {
  return t->o->kind == RECORD_16 ? record_compare_rest(t->o, RECORD_16, a, b)
                                 : record_compare_rest(t->o, RECORD_LONG, a, b);
}

/* By their keys, stably. */
static void insert_few(const struct ties *t, struct losers_pair *pair,
                       size_t n) {
  for (size_t i = 1; i < n; i++) {
    const struct losers_pair p = pair[i];
    const char *const record = record_of(t, &p);
    size_t j = i;
    for (; j > 0 && compare_rest(t, record, record_of(t, &pair[j - 1])) < 0;
         j--) {
      pair[j] = pair[j - 1];
    }
    pair[j] = p;
  }
}

/* 8 bytes of a key, or as many as it still has, as a number. */
static uint64_t digit(const struct record_order *o, const char *record,
                      size_t depth) {
  const char *const key = record + o->offset;
  if (o->kind == RECORD_16) {
    return record_load(key, 8) ^ o->rest;
  }
  return record_load_bytes(key + depth, o->bytes - depth) ^ o->rest;
}

/* Orders records that are equal up to `depth` by what follows, and marks where
   they differ. True if some are still equal. */
static bool split(const struct ties *t, struct losers_pair *pair, size_t n,
                  size_t depth) {
  bool tied = false;
  pair[0].index &= ~FIRST;
  if (n <= FEW) {
    insert_few(t, pair, n);
    for (size_t i = 0; i < n; i++) {
      pair[i].index |= FIRST;
    }
    return false;
  }
  for (size_t i = 0; i < n; i++) {
    pair[i].prefix = digit(t->o, record_of(t, &pair[i]), depth);
  }
  pairs_sort(pair, n);
  pair[0].index |= FIRST;
  for (size_t i = 1; i < n; i++) {
    if (pair[i].prefix != pair[i - 1].prefix) {
      pair[i].index |= FIRST;
    } else {
      tied = true;
    }
  }
  return tied;
}

/* Orders records with equal prefixes, 8 bytes of all keys after another: there
   is no recursion, as keys may be long. */
static void deepen(const struct ties *t, struct losers_pair *pair, size_t n) {
  const uint64_t prefix = pair[0].prefix;
  bool tied = true;
  pair[0].index |= FIRST;
  for (size_t depth = 8; tied && depth < t->o->bytes; depth += 8) {
    tied = false;
    for (size_t begin = 0, end; begin < n; begin = end) {
      for (end = begin + 1; end < n && !(pair[end].index & FIRST);) {
        end++;
      }
      if (end - begin > 1 && split(t, pair + begin, end - begin, depth)) {
        tied = true;
      }
    }
  }
  for (size_t i = 0; i < n; i++) {
    pair[i].index &= ~FIRST;
    pair[i].prefix = prefix;
  }
}

static void resolve(const struct ties *t, struct losers_pair *pair, size_t n) {
  for (size_t begin = 0, end; begin < n; begin = end) {
    for (end = begin + 1; end < n && pair[end].prefix == pair[begin].prefix;) {
      end++;
    }
    if (end - begin > FEW) {
      deepen(t, pair + begin, end - begin);
    } else if (end - begin > 1) {
      insert_few(t, pair + begin, end - begin);
    }
  }
}

/* --- all --- */

RECORD_INLINE void fill(const struct record_order *o, enum record_kind kind,
                        const char *records, size_t first, size_t count,
                        struct losers_pair *pair) {
  const char *record = records + first * o->size;
  for (size_t i = 0; i < count; i++, record += o->size) {
    pair[i] = (struct losers_pair){
        .index = first + i,
        .prefix = record_number(o, kind, record),
    };
  }
}

static void fill_any(const struct record_order *o, const char *records,
                     size_t first, size_t count, struct losers_pair *pair) {
  RECORD_DISPATCH(o, fill, records, first, count, pair);
}

void pairs_of_records(const struct record_order *o, const char *records,
                      size_t first, size_t count, struct losers_pair *pair) {
  fill_any(o, records, first, count, pair);
  pairs_sort(pair, count);
  if (o->kind == RECORD_16 || o->kind == RECORD_LONG) {
    resolve(&(struct ties){o, records}, pair, count);
  }
}
