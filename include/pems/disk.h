/* SPDX-License-Identifier: BSD-3-Clause */
/* Disks: blocks of scratch space on D files, moved by asynchronous requests.

   The lowest layer of pems's external-memory library, used by the sorter
   (pems/sort.h) and all others; see Dementiev and Sanders, Asynchronous
   Parallel Disk Sorting (SPAA 2003), sections 2.4 and 3.
   All functions are thread-safe unless they say otherwise. */
#ifndef PEMS_DISK_H
#define PEMS_DISK_H

#include <stddef.h>
#include <stdint.h>

#include <pems/status.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Blocks, lengths and addresses of buffers are multiples of this, in bytes. */
#define PEMS_DISK_UNIT 4096

struct pems_disks;

struct pems_disks_options {
  /* D paths, one per disk: a directory, in which an unnamed file is created, or
     an existing file or block device, whose contents are overwritten (a file
     grows while in use and gets its old size back at the end). A directory may
     be listed more than once. NULL: one disk in $TMPDIR, or in /var/tmp. */
  const char *const *path;
  int count; /* D, at most 1024; 0 where path is NULL */
  const char
      *io;    /* driver, "unix", "aio", "uring", "mmap", "mem"; NULL: unix */
  int depth;  /* requests under way per disk; 0: 4 */
  int strict; /* fail if the system does not offer the driver; otherwise unix is
                 used instead, with one line on stderr */
  /* For later versions, since the struct is part of others and must not grow.
     Must be 0. */
  uint64_t reserved[4];
};

/* Opens the disks. `options` may be NULL, and all its fields 0. ENOENT, EACCES,
   EROFS, ...: a path cannot be used. EBUSY: a file or device is in use. EINVAL:
   unknown driver. ENOSYS: the driver is not available (strict). On failure
   *disks is NULL. */
int pems_disks_open(struct pems_disks **disks,
                    const struct pems_disks_options *options,
                    struct pems_error *error);
/* Closes the disks and deletes all blocks and the files made for them. No
   request may be in progress. NULL is allowed. */
void pems_disks_close(struct pems_disks *disks);
/* The number of disks, D. */
int pems_disks_count(const struct pems_disks *disks);
/* The path of a disk, for messages; for disks in memory the path that was
   given. */
const char *pems_disks_path(const struct pems_disks *disks, int disk);
/* The name of the driver in use: the one requested or its replacement. */
const char *pems_disks_driver(const struct pems_disks *disks);

/* --- blocks --- */

/* Where a block lies. */
struct pems_block {
  int disk;    /* from 0 */
  uint64_t at; /* bytes, in the disk's file */
};

/* How the blocks of a stream are distributed over the disks. */
enum pems_deal {
  PEMS_DEAL_CYCLIC, /* randomised cyclic: a random order of the disks, over and
                       over again; each stream has its own (Vitter and
                       Hutchinson 2001) */
  PEMS_DEAL_STRIPE, /* disk 0, 1, 2, ... */
  PEMS_DEAL_RANDOM, /* independent random disks */
};

/* The state of one stream. Private to pems. Not thread-safe. */
struct pems_dealer {
  enum pems_deal deal;
  uint64_t random; /* state of the generator */
  uint64_t dealt;  /* blocks so far */
  uint64_t order;  /* seed of the random order of the disks */
};

/* Begins a stream; the same seed gives the same distribution. */
void pems_dealer_begin(struct pems_dealer *dealer, enum pems_deal deal,
                       uint64_t seed);
/* Allocates a block of n bytes, on the next disk if one is full. ENOSPC: all
   are full. EINVAL: n is 0 or not a multiple of PEMS_DISK_UNIT. No space is
   reserved in the file system, so its errors appear when the block is written.
   EPERM: in a forked child, whose parent takes blocks of the same disks. */
int pems_block_new(struct pems_disks *disks, struct pems_dealer *dealer,
                   size_t n, struct pems_block *block,
                   struct pems_error *error);
/* The same, and takes the space in the file system, on the next disk if there
   is none: then the block can be written whatever else fills the disk, where
   the file system can promise that (others do as pems_block_new). */
int pems_block_reserve(struct pems_disks *disks, struct pems_dealer *dealer,
                       size_t n, struct pems_block *block,
                       struct pems_error *error);
/* Frees a block of n bytes. No request for it may be in progress. */
void pems_block_free(struct pems_disks *disks, struct pems_block block,
                     size_t n);

/* --- requests --- */

/* A transfer. The caller fills in the fields up to `arg`, sets the others to 0,
   and keeps the request and the buffer until it is done. */
struct pems_request {
  struct pems_block block; /* `at` may be any multiple of the unit within it */
  void *buf;               /* aligned to PEMS_DISK_UNIT */
  size_t n;                /* bytes, a multiple of PEMS_DISK_UNIT */
  int write;               /* else read */
  /* Called when the request is done, from a thread of the disk. It must return
     soon: it may start requests but not wait for any. If the disk is in memory
     (driver "mem") or the request is invalid, it is called by the thread that
     starts the request, possibly before pems_disks_start returns; requests that
     it starts then follow after it has returned. NULL: use pems_request_wait.
   */
  void (*done)(struct pems_request *request);
  void *arg;  /* for `done` */
  int error;  /* when done: 0 or an errno value */
  int state_; /* private to pems, as all that follows: 1 when done */
  uint64_t turn_;
  struct pems_request *next_;
  void *owner_;
  uint64_t served_ns_;
};

/* Starts n requests together: each disk gets its share as one list. Requests
   for one disk begin in the order given, except for pems_disks_favour, and
   complete in any order. Successive requests that are adjacent on the disk and
   in memory become one transfer of up to 8 MiB, and share its error. Requests
   that are not aligned or outside the disk end with EINVAL. */
void pems_disks_start(struct pems_disks *disks,
                      struct pems_request *const *requests, int n);
/* Waits until the request is done and returns 0 or its errno value. Only for
   requests without `done`. The time is counted as waiting. */
int pems_request_wait(struct pems_disks *disks, struct pems_request *request);
/* True if the request is done. Only for requests without `done`. */
int pems_request_test(const struct pems_request *request);
/* Cancels a request that has not begun and returns true: it is then done with
   ECANCELED, `done` is not called, and nothing is moved or counted. Returns
   false if it has begun or is done, which has no effect; always so if the disk
   is in memory. O(queue length). */
int pems_request_cancel(struct pems_disks *disks, struct pems_request *request);

enum pems_favour {
  PEMS_FAVOUR_NONE,   /* first come, first served */
  PEMS_FAVOUR_WRITES, /* waiting writes go before waiting reads */
  PEMS_FAVOUR_READS,
};
void pems_disks_favour(struct pems_disks *disks, enum pems_favour favour);

/* --- counts --- */

/* Counts since the disks were opened; use differences for a phase. */
struct pems_disk_counts {
  uint64_t reads, writes;             /* requests */
  uint64_t merged;                    /* requests merged into others */
  uint64_t bytes_read, bytes_written; /* of requests without an error */
  uint64_t read_wait_ns;  /* waiting for reads in pems_request_wait */
  uint64_t write_wait_ns; /* and for writes */
};
void pems_disks_counts(const struct pems_disks *disks,
                       struct pems_disk_counts *counts);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
