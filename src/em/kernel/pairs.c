/* Sorting pairs of a prefix and a number. */
#include "em/kernel/pairs.h"

#include <stdbool.h>

#include "em/kernel/vqsort.h"

enum { FEW = 16 /* pairs that are sorted by insertion */ };

/* --- as numbers --- */

static bool smaller(const struct losers_pair *a, const struct losers_pair *b) {
  return ((unsigned __int128)a->prefix << 64 | a->index) <
         ((unsigned __int128)b->prefix << 64 | b->index);
}

static void swap(struct losers_pair *a, struct losers_pair *b) {
  const struct losers_pair t = *a;
  *a = *b;
  *b = t;
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

static void sift(struct losers_pair *pair, size_t i, size_t n) {
  for (size_t child; (child = 2 * i + 1) < n; i = child) {
    if (child + 1 < n && smaller(&pair[child], &pair[child + 1])) {
      child++;
    }
    if (!smaller(&pair[i], &pair[child])) {
      return;
    }
    swap(&pair[i], &pair[child]);
  }
}

static void heap_sort(struct losers_pair *pair, size_t n) {
  for (size_t i = n / 2; i-- > 0;) {
    sift(pair, i, n);
  }
  while (n-- > 1) {
    swap(&pair[0], &pair[n]);
    sift(pair, 0, n);
  }
}

/* Brings the median of three to the front, and splits the rest by it; returns
   where it goes. */
static size_t split_by_median(struct losers_pair *pair, size_t n) {
  struct losers_pair *const a = &pair[n / 4], *const b = &pair[n / 2];
  struct losers_pair *const c = &pair[n - n / 4 - 1];
  struct losers_pair *const low = smaller(a, b) ? a : b;
  struct losers_pair *const high = low == a ? b : a;
  swap(&pair[0], smaller(c, low) ? low : smaller(high, c) ? high : c);
  const struct losers_pair pivot = pair[0];
  size_t i = 1, j = n - 1;
  for (;;) {
    while (i <= j && smaller(&pair[i], &pivot)) {
      i++;
    }
    while (i <= j && smaller(&pivot, &pair[j])) {
      j--;
    }
    if (i >= j) {
      break;
    }
    swap(&pair[i++], &pair[j--]);
  }
  swap(&pair[0], &pair[i - 1]);
  return i - 1;
}

void pairs_quicksort(struct losers_pair *pair, size_t n) {
  int splits = 0;
  for (size_t i = n; i > 0; i /= 2) {
    splits += 2;
  }
  while (n > FEW) {
    if (splits-- == 0) {
      heap_sort(pair, n);
      return;
    }
    const size_t middle = split_by_median(pair, n), rest = n - middle - 1;
    if (middle < rest) { /* the stack grows with the smaller part only */
      pairs_quicksort(pair, middle);
      pair += middle + 1;
      n = rest;
    } else {
      pairs_quicksort(pair + middle + 1, rest);
      n = middle;
    }
  }
  insertion(pair, n);
}

void pairs_sort(struct losers_pair *pair, size_t n) {
  const struct vqsort *const fast = vqsort_best();
  if (fast && n > FEW) {
    fast->u128((uint64_t *)pair, n);
  } else {
    pairs_quicksort(pair, n);
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
