/* Merging by a tournament: a tree of losers.

   Knuth, The Art of Computer Programming 3, section 5.4.1. Each step takes the
   record that won, and plays the next one of its sequence against the losers on
   the way to the root: log2 of the number of sequences comparisons, none of
   them a branch where the key is a number of at most 8 bytes. Equal records
   come out in the order of their sequences. */
#ifndef PEMS_EM_KERNEL_LOSERS_H
#define PEMS_EM_KERNEL_LOSERS_H

#include <stddef.h>
#include <stdint.h>

#include "em/kernel/kernel.h"
#include "em/kernel/record.h"

/* What a sequence consists of. */
enum losers_form {
  LOSERS_RECORDS, /* records */
  LOSERS_INDEX,   /* uint32_t: numbers of records that lie at `base` */
  LOSERS_PAIRS,   /* struct losers_pair, about records that lie at `base` */
};

/* A record, by its prefix. As a number of 128 bits it is ordered as prefixes
   are, and then by where records came from. */
struct losers_pair {
  uint64_t index; /* number of the record */
  uint64_t prefix;
};

/* A sorted sequence, and what is left of it. */
struct losers_leaf {
  const char *at, *end;
  const char *base;
};

/* Bytes of work memory for that many sequences. */
size_t losers_work(int leaves);

/* Leaves the first `count` records of all out: advances the leaves, of which
   there are at most LOSERS_SKIP. */
enum { LOSERS_SKIP = 128 };
void losers_skip(const struct record_order *o, enum losers_form form,
                 struct losers_leaf *leaf, int leaves, size_t count);

/* Copies the first `count` records of all to `out`, in order. There are at
   least as many; the leaves are of no use any more. `work` is aligned to 16
   bytes. */
void losers_merge(const struct record_order *o, enum losers_form form,
                  struct losers_leaf *leaf, int leaves, size_t count, char *out,
                  void *work);

/* As in struct kernel, for records that are stored in the user's form. */
size_t losers_pieces_work(const struct pems_record *r, int pieces);
void losers_pieces(const struct pems_record *r,
                   const struct kernel_piece *piece, int pieces, void *out,
                   void *work, int last);

#endif
