/* A sorted run on the disks: blocks of records in their stored form. */
#ifndef PEMS_EM_SORT_RUN_H
#define PEMS_EM_SORT_RUN_H

#include <stddef.h>
#include <stdint.h>

#include "em/core/memory.h"
#include "pems/disk.h"

/* All blocks but the last hold the same number of records. The smallest record
   of each is kept: merging these predicts the order in which blocks are needed
   (Dementiev and Sanders 2003, section 2.2). */
struct run {
  uint64_t records;    /* in its blocks, those that are gone, too */
  size_t skip;         /* so many of the first block are gone */
  size_t blocks, room; /* there are, and there is space for */
  struct pems_block *at;
  char *least; /* the first record of each block */
};

/* Runs of one sort. All calls for one from one thread at a time. */
struct runs {
  struct memory *memory; /* counts what follows */
  struct pems_disks *disks;
  size_t block;       /* B in bytes */
  size_t record_size; /* bytes */
  size_t per_block;   /* records */
  size_t count, room; /* there are, and there is space for */
  struct run *run;
};

void runs_init(struct runs *all, struct memory *memory,
               struct pems_disks *disks, size_t block, size_t record_size);
/* Gives all blocks and all memory back. */
void runs_clear(struct runs *all);
/* Gives the blocks of a run back and forgets it (records becomes 0). */
void runs_drop(struct runs *all, struct run *run);

/* A new, empty run, at the end; the pointer holds until the next call. NULL:
   no memory. */
struct run *runs_add(struct runs *all);
/* Makes room for that many blocks of a run, or gives up what is too much. 0 or
   ENOMEM. */
int run_resize(struct runs *all, struct run *run, size_t blocks);
/* A new block at the end of a run, for `records` records of which `least` is
   the first; sets *at. 0, or with *error filled in ENOMEM, ENOSPC. */
int run_add_block(struct runs *all, struct run *run, struct pems_dealer *dealer,
                  const void *least, size_t records, struct pems_block *at,
                  struct pems_error *error);
/* Gives block i of a run back before the run is dropped. */
void run_free_block(struct runs *all, struct run *run, size_t i);
/* Records in block i of a run. */
size_t run_block_records(const struct runs *all, const struct run *run,
                         size_t i);
/* Bytes to be moved for n records of a block: whole units. */
size_t run_bytes(const struct runs *all, size_t records);

#endif
