/* What the files of src/disk that make up disk.h share. */
#ifndef PEMS_DISK_CONTEXTS_INTERNAL_H
#define PEMS_DISK_CONTEXTS_INTERNAL_H

#include <stdbool.h>
#include <sys/types.h>

#include "disk/contexts/annex.h"
#include "disk/contexts/disk.h"
#include "disk/contexts/placement.h"
#include "disk/queue.h"
#include "drivers/driver.h"

#define DISK_ELSEWHERE "name another directory with --pems-disk"
#define DISK_NO_GRANT "the file system cannot reserve it (fallocate)"

struct disk {
  const char *dir; /* within disks.dirs */
  dev_t system;    /* its file system */
  int device;      /* the lowest disk on that file system */
  uint64_t room;   /* free bytes there before anything was reserved */
  struct driver_file *file;
  struct disk_queue *queue;
  struct disk_records *records; /* of its batches */
  bool zeros;                   /* what is granted must be written */
};

struct disks {
  int n;                 /* contexts */
  uint64_t context_size; /* bytes */
  uint64_t stripe;       /* bytes, or 0 */
  int reserved;          /* all of the space */
  struct placement *placement;
  char driver[64]; /* what is used, as an option */
  char *dirs;      /* the list, cut at its commas */
  struct annexes *annexes;
  int count;          /* D */
  struct disk disk[]; /* count of them */
};

/* True if [offset, offset + n) of `context` may be moved to or from `buf`. */
static inline bool disks_valid(const struct disks *d, int context,
                               const void *buf, size_t n, uint64_t offset) {
  const uint64_t bits = (uint64_t)(uintptr_t)buf | n | offset;
  return context >= 0 && context < d->n && bits % DISK_BLOCK == 0 &&
         offset <= d->context_size && n <= d->context_size - offset;
}

/* Where the next request of at most n bytes goes. */
static inline struct placement_spot
disks_spot(const struct disks *d, int context, uint64_t offset, uint64_t n) {
  struct placement_spot spot = placement_find(d->placement, context, offset);
  spot.n = spot.n < n ? spot.n : n;
  return spot;
}

#endif
