/* Lines in memory, by slots of 16 bytes: sorting strings eight bytes at a time.

   Prefixes of eight bytes are sorted as numbers, then, where they are equal,
   the next eight: multikey quicksort (Bentley and Sedgewick 1997) with cached
   characters (Ng and Kakehi 2008). */
#ifndef PEMS_EM_LINES_LINE_SLOTS_H
#define PEMS_EM_LINES_LINE_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "em/kernel/losers.h"

/* A string: `index` is where it lies, as line_slots_place has it, `prefix` the
   sort's own. */
typedef struct losers_pair line_slot;

/* The lowest bits of a place are the length, or, for long strings, ones. */
#define LINE_LENGTH_BITS 24
#define LINE_LONG ((UINT64_C(1) << LINE_LENGTH_BITS) - 1)
/* Bytes before a string made of a line's fields. */
struct line_head {
  uint64_t line; /* place of the line */
  uint64_t n;    /* bytes of the string */
};
/* Readable bytes behind the last string. */
enum { LINE_SPARE = 8 };

/* Strings that lie in one piece of memory. */
struct line_slots {
  const unsigned char *base;
  bool headed;       /* by a struct line_head, else ended by: */
  unsigned char end; /* what no string contains */
  bool descending;   /* largest first; equal ones in the order of places */
};

static inline uint64_t line_slots_place(size_t at, size_t n) {
  return (uint64_t)at << LINE_LENGTH_BITS | (n < LINE_LONG ? n : LINE_LONG);
}

static inline const unsigned char *line_slots_at(const struct line_slots *s,
                                                 uint64_t place) {
  return s->base + (place >> LINE_LENGTH_BITS);
}

static inline struct line_head line_slots_head(const struct line_slots *s,
                                               uint64_t place) {
  struct line_head head;
  memcpy(&head, line_slots_at(s, place) - sizeof(head), sizeof(head));
  return head;
}

/* Of a long one. */
size_t line_slots_long(const struct line_slots *s, uint64_t place);

static inline size_t line_slots_length(const struct line_slots *s,
                                       uint64_t place) {
  const uint64_t n = place & LINE_LONG;
  return n < LINE_LONG ? (size_t)n : line_slots_long(s, place);
}

/* The eight bytes of a string of n from `depth` on as a number, with zeros
   behind its end. */
static inline uint64_t line_slots_word(const unsigned char *string, size_t n,
                                       size_t depth) {
  uint64_t word;
  if (depth >= n) {
    return 0;
  }
  memcpy(&word, string + depth, sizeof(word));
  word = __builtin_bswap64(word);
  return n - depth >= sizeof(word)
             ? word
             : word & ~UINT64_C(0) << 8 * (sizeof(word) - (n - depth));
}

/* How many bytes two strings have in common, at least `from`. */
size_t line_slots_common(const unsigned char *a, size_t a_n,
                         const unsigned char *b, size_t b_n, size_t from);

/* Told of each group of n > 1 equal strings, in the order of places. */
typedef void line_ties_fn(void *arg, line_slot *slot, size_t n);

/* Sorts the strings at n slots. `ties` may be NULL. In place, with a bounded
   stack. Thread-safe. */
void line_slots_sort(const struct line_slots *s, line_slot *slot, size_t n,
                     line_ties_fn *ties, void *arg);

/* Sorts slots by a function: < 0 if the first is before the second, where no
   two are equal. In place. */
typedef int line_compare_fn(void *arg, const line_slot *a, const line_slot *b);
void line_slots_sort_by(line_slot *slot, size_t n, line_compare_fn *compare,
                        void *arg);

#endif
