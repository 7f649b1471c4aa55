#define _GNU_SOURCE
#include "em/lines/line_slots.h"

#include "em/kernel/pairs.h"

enum {
  WORD = sizeof(uint64_t),
  FEW = 12,      /* strings that are sorted by insertion */
  DEEP = 1 << 9, /* groups within groups that are sorted by words */
};

size_t line_slots_long(const struct line_slots *s, uint64_t place) {
  if (s->headed) {
    return line_slots_head(s, place).n;
  }
  const unsigned char *const at = line_slots_at(s, place);
  const unsigned char *const end = rawmemchr(at + LINE_LONG, s->end);
  return (size_t)(end - at);
}

size_t line_slots_common(const unsigned char *a, size_t a_n,
                         const unsigned char *b, size_t b_n, size_t from) {
  const size_t n = a_n < b_n ? a_n : b_n;
  uint64_t x, y;
  for (; n - from >= WORD; from += WORD) {
    memcpy(&x, a + from, WORD);
    memcpy(&y, b + from, WORD);
    if (x != y) {
      return from + (size_t)__builtin_ctzll(x ^ y) / 8;
    }
  }
  while (from < n && a[from] == b[from]) {
    from++;
  }
  return from;
}

/* --- by comparing --- */

struct strings {
  const struct line_slots *s;
  size_t depth; /* that all have in common */
};

static int compare_strings(const struct line_slots *s, const line_slot *a,
                           const line_slot *b, size_t depth) {
  const size_t a_n = line_slots_length(s, a->index);
  const size_t b_n = line_slots_length(s, b->index);
  const size_t n = a_n < b_n ? a_n : b_n;
  const int order = n <= depth
                        ? 0
                        : memcmp(line_slots_at(s, a->index) + depth,
                                 line_slots_at(s, b->index) + depth, n - depth);
  const int found = order ? order : (a_n > b_n) - (a_n < b_n);
  return s->descending ? -found : found;
}

static int compare_all(void *arg, const line_slot *a, const line_slot *b) {
  const struct strings *const strings = arg;
  const int order = compare_strings(strings->s, a, b, strings->depth);
  return order ? order : (a->index > b->index) - (a->index < b->index);
}

static void insertion(line_slot *slot, size_t n, line_compare_fn *compare,
                      void *arg) {
  for (size_t i = 1; i < n; i++) {
    const line_slot t = slot[i];
    size_t j = i;
    for (; j > 0 && compare(arg, &t, &slot[j - 1]) < 0; j--) {
      slot[j] = slot[j - 1];
    }
    slot[j] = t;
  }
}

static void sift(line_slot *slot, size_t i, size_t n, line_compare_fn *compare,
                 void *arg) {
  for (size_t child; (child = 2 * i + 1) < n; i = child) {
    if (child + 1 < n && compare(arg, &slot[child], &slot[child + 1]) < 0) {
      child++;
    }
    if (compare(arg, &slot[i], &slot[child]) >= 0) {
      return;
    }
    const line_slot t = slot[i];
    slot[i] = slot[child];
    slot[child] = t;
  }
}

void line_slots_sort_by(line_slot *slot, size_t n, line_compare_fn *compare,
                        void *arg) {
  if (n <= FEW) {
    insertion(slot, n, compare, arg);
    return;
  }
  for (size_t i = n / 2; i-- > 0;) {
    sift(slot, i, n, compare, arg);
  }
  while (n-- > 1) {
    const line_slot t = slot[0];
    slot[0] = slot[n];
    slot[n] = t;
    sift(slot, 0, n, compare, arg);
  }
}

/* --- by words --- */

struct sorting {
  const struct line_slots *s;
  line_ties_fn *ties;
  void *arg;
};

static void sort_words(const struct sorting *t, line_slot *slot, size_t n,
                       size_t depth, int level);

/* Groups of equal strings among sorted ones. */
static void find_ties(const struct sorting *t, line_slot *slot, size_t n,
                      size_t depth) {
  for (size_t i = 0, j; t->ties && i < n; i = j) {
    for (j = i + 1;
         j < n && compare_strings(t->s, &slot[i], &slot[j], depth) == 0; j++) {
    }
    if (j - i > 1) {
      t->ties(t->arg, slot + i, j - i);
    }
  }
}

static void sort_compared(const struct sorting *t, line_slot *slot, size_t n,
                          size_t depth) {
  struct strings strings = {t->s, depth};
  line_slots_sort_by(slot, n, compare_all, &strings);
  find_ties(t, slot, n, depth);
}

/* All of one length, and all of it was looked at: they are equal. */
static bool all_end(const struct line_slots *s, const line_slot *slot, size_t n,
                    size_t depth) {
  const size_t length = line_slots_length(s, slot[0].index);
  for (size_t i = 1; i < n; i++) {
    if (line_slots_length(s, slot[i].index) != length) {
      return false;
    }
  }
  return length <= depth;
}

/* n > 1 strings whose first `depth` bytes are the same, but that some may end
   before, for the last of these is 0. */
static void sort_group(const struct sorting *t, line_slot *slot, size_t n,
                       size_t depth, int level) {
  const uint64_t word = slot[0].prefix;
  const bool may_end = ((t->s->descending ? ~word : word) & 255) == 0;
  if (may_end && all_end(t->s, slot, n, depth)) {
    pairs_sort(slot, n); /* by places */
    if (t->ties) {
      t->ties(t->arg, slot, n);
    }
  } else if (may_end || n <= FEW || level == DEEP) {
    sort_compared(t, slot, n, may_end ? depth - WORD : depth);
  } else {
    sort_words(t, slot, n, depth, level + 1);
  }
}

/* Reads the next word of all; true if it is the same. */
static bool read_words(const struct line_slots *s, line_slot *slot, size_t n,
                       size_t depth) {
  const uint64_t turn = s->descending ? ~UINT64_C(0) : 0;
  uint64_t differ = 0;
  for (size_t i = 0; i < n; i++) {
    const uint64_t place = slot[i].index;
    slot[i].prefix = turn ^ line_slots_word(line_slots_at(s, place),
                                            line_slots_length(s, place), depth);
    differ |= slot[i].prefix ^ slot[0].prefix;
  }
  return differ == 0;
}

static void sort_words(const struct sorting *t, line_slot *slot, size_t n,
                       size_t depth, int level) {
  const uint64_t turn = t->s->descending ? ~UINT64_C(0) : 0;
  while (read_words(t->s, slot, n, depth) && n > 1 &&
         ((slot[0].prefix ^ turn) & 255) != 0) {
    depth += WORD;
  }
  pairs_sort_prefixes(slot, n);
  for (size_t i = 0, j; i < n; i = j) {
    const uint64_t prefix = slot[i].prefix;
    for (j = i + 1; j < n && slot[j].prefix == prefix; j++) {
    }
    if (j - i > 1) {
      sort_group(t, slot + i, j - i, depth + WORD, level);
    }
  }
}

void line_slots_sort(const struct line_slots *s, line_slot *slot, size_t n,
                     line_ties_fn *ties, void *arg) {
  const struct sorting t = {s, ties, arg};
  if (n > 0) {
    sort_words(&t, slot, n, 0, 0);
  }
}
