/* Sorted arrays on the disks that come and go, and what of them is in memory.

   Bingmann, Keh and Sanders 2015, section 3: the smallest record of every block
   stays in memory. A tournament over those of the blocks that come next in each
   array gives the dynamic prediction sequence, in which blocks are fetched in
   advance (hinted); when an array is added it is replayed from the first that
   is only hinted, and what is no longer among the next ones is cancelled. A
   second tournament over the first blocks that are not loaded gives the merge
   limit: all records before that one are in memory.

   One thread at a time calls these functions. */
#ifndef PEMS_EM_PQUEUE_DISK_ARRAYS_H
#define PEMS_EM_PQUEUE_DISK_ARRAYS_H

#include <stddef.h>
#include <stdint.h>

#include "em/core/arena.h"
#include "em/kernel/kernel.h"
#include "em/sort/run.h"

struct disk_arrays;

struct disk_arrays_options {
  const struct pems_record *record; /* as the kernel wants it */
  const struct kernel *kernel;
  struct runs *runs;   /* what blocks are made of: the disks and B; its list is
                          not used. Stays the caller's, as all that follows */
  struct arena *arena; /* where blocks in memory come from, its high end: of
                          units that are multiples of PEMS_DISK_UNIT, aligned */
};

struct disk_arrays_counts {
  uint64_t hints, cancelled; /* blocks */
  uint64_t read_wait_ns;     /* waited in disk_arrays_load */
};

int disk_arrays_new(struct disk_arrays **x,
                    const struct disk_arrays_options *options,
                    struct pems_error *error);
/* Waits for what is under way; all arrays are gone. NULL is allowed. */
void disk_arrays_free(struct disk_arrays *x);

/* A run (with records) becomes an array of that level, from 0; it is taken over
   and *run emptied. 0 or ENOMEM, then the run stays the caller's. */
int disk_arrays_add(struct disk_arrays *x, struct run *run, int level,
                    struct pems_error *error);
/* Arrays with records left: in all, of a level; the highest level there is, -1
   if none. */
size_t disk_arrays_number(const struct disk_arrays *x);
size_t disk_arrays_level_arrays(const struct disk_arrays *x, int level);
int disk_arrays_levels(const struct disk_arrays *x);
/* Records left, in memory or not. */
uint64_t disk_arrays_records(const struct disk_arrays *x);

/* Removes all arrays of a level: of each what is left becomes a run (whose
   first block may have lost some records: run->skip), to be merged. What was
   loaded is forgotten, what is under way waited for. `run` has room for all of
   them. */
void disk_arrays_take(struct disk_arrays *x, int level, struct run *run);

/* How many blocks may be in memory or under way from now on; it never keeps to
   fewer than one more than there are arrays. Where there are more already,
   those that are needed last are given up, at once or, if they are being read,
   in a later call; blocks that may be merged are kept. */
void disk_arrays_budget(struct disk_arrays *x, size_t blocks);
/* Asks for the next blocks, in the order of prediction, as far as the budget
   and the arena allow, and cancels hints that are not among them any more (and
   forgets those that have come). Costs nothing if nothing has changed. */
void disk_arrays_hint(struct disk_arrays *x);
/* Cancels all hints; what is under way already is waited for, and kept if all
   blocks of its array before it are. Then no request is under way until the
   next call of disk_arrays_hint or disk_arrays_load. */
void disk_arrays_settle(struct disk_arrays *x);
/* Gives all memory of blocks back: those that were loaded are read again when
   they are needed. */
void disk_arrays_unload(struct disk_arrays *x);
/* Blocks in memory or under way. */
size_t disk_arrays_held(const struct disk_arrays *x);

/* Takes in what has come, in the order of prediction, until `wanted` records
   are before the merge limit or all is here; waits for the next block only as
   long as fewer than `least` are (a bound: what is counted are records loaded,
   less those of the last block of each array). If the budget or the arena has
   no room for a block that is needed, it returns with what there is; ENOBUFS if
   that is nothing: make room in the arena (nothing has failed). Other errors
   as the disks', again with each call; *error is filled in. Calls
   disk_arrays_hint. */
int disk_arrays_load(struct disk_arrays *x, size_t wanted, size_t least,
                     struct pems_error *error);

/* The merge limit: the first record of what is not loaded (in stored form,
   until the next call), or NULL if all is. */
const void *disk_arrays_limit(const struct disk_arrays *x);
/* Lists what is loaded and not behind the merge limit, and before `limit` (or
   where `equal` not behind it) if that is not NULL; of each array the first
   `most` records only, for no others can be among the first `most` of all. At
   most disk_arrays_held pieces, none empty, the blocks of one array in order.
   Returns how many; *records is their sum. */
int disk_arrays_pieces(struct disk_arrays *x, const void *limit, int equal,
                       size_t most, struct kernel_piece *piece,
                       size_t *records);
/* Of each piece of the last disk_arrays_pieces, since when no other function
   was called, so many records, from the first on, are gone: of a block only if
   the blocks of its array before it are gone wholly. What is used up is freed.
 */
void disk_arrays_advance(struct disk_arrays *x, const size_t *gone);

void disk_arrays_counts(const struct disk_arrays *x,
                        struct disk_arrays_counts *counts);

#endif
