/* Inducing: from the order of some suffixes to that of all.

   A suffix is of type S if it is less than the one that begins behind it, else
   of type L; the empty one, at the end of the text, is the least of all, and S.
   An S suffix whose predecessor in the text is L is an LMS suffix. The order of
   these gives that of all L suffixes, and it that of all S suffixes (Nong,
   Zhang and Chan 2011). In external memory (Bingmann, Fischer and Osipov,
   Inducing Suffix and LCP Arrays in External Memory, ALENEX 2013) a priority
   queue holds suffixes that are induced by their first byte and the rank of
   what induced them; with each goes a window of bytes before it, for the text
   is never looked at at random. Where a window is used up, the next is read
   from a stream that one scan of the text has made and a sorter has brought
   into the order in which they are wanted: by first byte and by round, that is
   how often this byte is repeated. */
#ifndef APPS_INDUCE_H
#define APPS_INDUCE_H

#include <stdint.h>
#include <stdio.h>

#include <pems/pqueue.h>
#include <pems/sort.h>

#include "packed.h"

enum { WINDOW = 8, BYTES = 256 };

/* A suffix, in one of several orders. */
struct suffix {
  uint64_t key;
  uint64_t place; /* position, bytes in the window, and first byte: see below */
  uint64_t window; /* bytes before it, the nearest lowest */
};

static inline uint64_t place_of(uint64_t position, uint64_t count,
                                uint64_t first) {
  return position | count << POSITION_BITS | first << (POSITION_BITS + 8);
}
static inline uint64_t position_of(const struct suffix *s) {
  return s->place & ((UINT64_C(1) << POSITION_BITS) - 1);
}
static inline uint64_t count_of(const struct suffix *s) {
  return s->place >> POSITION_BITS & 0xff;
}
static inline uint64_t first_of(const struct suffix *s) {
  return s->place >> (POSITION_BITS + 8);
}
/* Bytes in a full window before a position. */
static inline uint64_t window_count(uint64_t position) {
  return position < WINDOW ? position : WINDOW;
}

/* A byte (or 255 less it, where the largest comes first) and a number: the
   queue's order, and of windows the number is the round. */
static inline uint64_t key_of(uint64_t byte, uint64_t number) {
  return byte << POSITION_BITS | number;
}

/* A window to come, in the order of when it is wanted. */
struct window {
  uint64_t position; /* the lower half of the key */
  uint64_t when;     /* key_of the first byte and the round */
  uint64_t window;
};

enum phase { PHASE_L, PHASE_S, PHASES };

enum induce_mode { SEQUENTIAL, LIMIT, BULK };

struct induce {
  const char *text;   /* path */
  const char *sorted; /* path of a right suffix array */
  const char *array;  /* path of the result */
  enum induce_mode mode;
  uint64_t n;      /* bytes of the text */
  uint64_t memory; /* bytes */
  int threads;
  struct pems_disks *disks;

  uint64_t bucket[BYTES][PHASES]; /* L and S suffixes with that first byte */
  struct pems_sorter *lms;        /* LMS suffixes by rank, but the empty one */
  struct suffix last;             /* the empty one */
  struct pems_sorter *windows[PHASES];
  /* What was done. */
  uint64_t lms_count, window_count[PHASES], rounds[PHASES];
  struct pems_pqueue_counts counts[PHASES];
};

/* A sorter with an eighth of the memory; ends the program if there is none. */
struct pems_sorter *induce_sorter(const struct induce *in,
                                  struct pems_record record);
/* Ends the program where something failed. */
void induce_must(int failed, const struct pems_error *error);
/* The same, with why: an errno value, or 0 where `what` says it all. */
_Noreturn void induce_refuse(const char *what, const char *path, int code);

/* Scans the text and the sorted array: fills `bucket`, `lms` and `windows`. */
void induce_scan(struct induce *in);
/* Induces all suffixes, and writes the array. */
void induce_step(struct induce *in);

#endif
