/* The annexes of disks (disk.h): made with these, freed with them. */
#ifndef PEMS_DISK_CONTEXTS_ANNEX_H
#define PEMS_DISK_CONTEXTS_ANNEX_H

#include <stddef.h>
#include <stdint.h>

#include "disk/contexts/disk.h"

struct annexes;

/* `size` bytes on each disk, at most. NULL without memory. */
struct annexes *disks_annex_new(int disks, uint64_t size);
void disks_annex_free(struct annexes *a, int disks); /* NULL is allowed */

/* Room beside the contexts, for what several have together in one row. */
struct disks_annexed {
  int disk;
  uint64_t at;
};

/* Takes n bytes, multiples of DISK_BLOCK: from then on they can be written
   whatever else fills the disks. The disks take turns. 0, or -1: no disk has
   room for that. Thread-safe. */
int disks_annex_take(struct disks *d, size_t n, struct disks_annexed *where);
void disks_annex_give(struct disks *d, struct disks_annexed where, size_t n);
/* Moves n bytes between `buf` and what was taken, in the calling thread, past
   the queue. 0 or an errno value. Counts requests, bytes and waiting.
   Thread-safe. */
int disks_annex_move(struct disks *d, bool write, struct disks_annexed where,
                     void *buf, size_t n);

#endif
