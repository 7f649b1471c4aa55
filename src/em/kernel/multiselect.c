/* Multisequence selection: quickselect over sorted pieces.

   Two records are known at any time: the last one known to be among the first
   `rank` and the first one known not to be. What lies between them in each
   piece is its window. Where windows end is remembered for so many pieces as
   fit on a small stack; for more it is searched for again. */
#include "em/kernel/multiselect.h"

#include <stdbool.h>
#include <string.h>

enum { REMEMBERED = 512 /* pieces */ };

/* A record: its piece and its position there. */
struct spot {
  int piece;
  size_t at;
};

/* Records of piece i before `spot`, if at least `low` and at most `high` of
   them are. Ties are broken by pieces: no two records are equal. */
static size_t before(const struct multiselect_source *s, struct spot spot,
                     int i, size_t low, size_t high) {
  if (i == spot.piece) {
    return spot.at;
  }
  return s->rank(s->arg, i, low, high, spot.piece, spot.at, i < spot.piece);
}

/* Where windows end. */
struct ends {
  bool known;
  struct spot spot;      /* this record is the first behind all windows */
  size_t at[REMEMBERED]; /* where that is; for few pieces */
};

static size_t window_end(const struct multiselect_source *s,
                         const struct ends *ends, int i, size_t low) {
  if (s->pieces <= REMEMBERED) {
    return ends->at[i];
  }
  const size_t n = s->length(s->arg, i);
  return ends->known ? before(s, ends->spot, i, low, n) : n;
}

/* A number below n > 0. */
static uint64_t below(uint64_t *random, uint64_t n) {
  uint64_t x = *random += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ (x >> 31)) * UINT64_C(0x94d049bb133111eb);
  x ^= x >> 29;
  return (uint64_t)((unsigned __int128)x * n >> 64);
}

/* Chooses the middle of a window, wide ones rather than narrow ones; false if
   all are empty. */
static bool choose(const struct multiselect_source *s, const size_t *at,
                   const struct ends *ends, uint64_t *random,
                   struct spot *pivot) {
  uint64_t total = 0;
  for (int i = 0; i < s->pieces; i++) {
    const size_t width = window_end(s, ends, i, at[i]) - at[i];
    total += width;
    if (width > 0 && below(random, total) < width) {
      *pivot = (struct spot){i, at[i] + width / 2};
    }
  }
  return total > 0;
}

/* How many records are before the pivot; in each piece, too, for few. */
static uint64_t count(const struct multiselect_source *s, struct spot pivot,
                      const size_t *at, const struct ends *ends, size_t *cut) {
  uint64_t total = 0;
  for (int i = 0; i < s->pieces; i++) {
    const size_t n = before(s, pivot, i, at[i], window_end(s, ends, i, at[i]));
    total += n;
    if (s->pieces <= REMEMBERED) {
      cut[i] = n;
    }
  }
  return total;
}

/* The pivot and what is before it are among the first `rank`. */
static void advance(const struct multiselect_source *s, struct spot pivot,
                    size_t *at, const struct ends *ends, const size_t *cut) {
  for (int i = 0; i < s->pieces; i++) {
    at[i] = s->pieces <= REMEMBERED
                ? cut[i]
                : before(s, pivot, i, at[i], window_end(s, ends, i, at[i]));
  }
  at[pivot.piece]++;
}

/* The pivot and what is behind it are not. */
static void retreat(const struct multiselect_source *s, struct spot pivot,
                    struct ends *ends, const size_t *cut) {
  ends->known = true;
  ends->spot = pivot;
  if (s->pieces <= REMEMBERED) {
    memcpy(ends->at, cut, (size_t)s->pieces * sizeof(*cut));
  }
}

void multiselect_from(const struct multiselect_source *s, uint64_t rank,
                      size_t *at) {
  size_t cut[REMEMBERED];
  struct ends ends;
  struct spot pivot = {0, 0};
  uint64_t random = rank;
  if (s->pieces == 1) {
    at[0] = (size_t)rank;
    return;
  }
  ends.known = false;
  for (int i = 0; i < s->pieces; i++) {
    at[i] = 0;
    if (i < REMEMBERED) {
      ends.at[i] = s->length(s->arg, i);
    }
  }
  while (choose(s, at, &ends, &random, &pivot)) {
    if (count(s, pivot, at, &ends, cut) < rank) {
      advance(s, pivot, at, &ends, cut);
    } else {
      retreat(s, pivot, &ends, cut);
    }
  }
}

/* --- of records beside each other --- */

struct stored {
  const struct pems_record *r;
  const struct kernel *kernel;
  const struct kernel_piece *piece;
};

static size_t stored_length(const void *arg, int i) {
  return ((const struct stored *)arg)->piece[i].n;
}

static size_t stored_rank(const void *arg, int i, size_t low, size_t high,
                          int of, size_t at, int equal) {
  const struct stored *const s = arg;
  const size_t size = s->r->size;
  return low + s->kernel->rank(s->r, s->piece[i].at + low * size, high - low,
                               s->piece[of].at + at * size, equal);
}

void multiselect(const struct pems_record *r, const struct kernel *kernel,
                 const struct kernel_piece *piece, int pieces, uint64_t rank,
                 size_t *at) {
  multiselect_from(
      &(struct multiselect_source){.arg = &(struct stored){r, kernel, piece},
                                   .pieces = pieces,
                                   .length = stored_length,
                                   .rank = stored_rank},
      rank, at);
}
