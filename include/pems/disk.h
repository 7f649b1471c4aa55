/* Disks: blocks of scratch space on D files, moved by asynchronous requests.

   The lowest layer of pems's external-memory library, on which the sorter
   (pems/sort.h) and the streams (pems/stream.h) stand; see Dementiev and
   Sanders, Asynchronous Parallel Disk Sorting (SPAA 2003), sections 2.4 and 3.
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
  /* D paths, one disk each: a directory, where an unnamed file is made, or a
     file or block device that exists, whose contents are lost (a file grows
     while it is used, and has its old size in the end). A directory may be
     there more than once. NULL: one, in $TMPDIR or else /var/tmp. */
  const char *const *path;
  int count; /* D, at most 1024; 0 where path is NULL */
  const char
      *io;    /* driver, "unix", "aio", "uring", "mmap", "mem"; NULL: unix */
  int depth;  /* requests under way per disk; 0: 4 */
  int strict; /* fail where the system does not offer the driver; else unix
                 is used then, and one line on stderr says so */
  /* For later versions: the struct is part of others, and must not grow. 0. */
  uint64_t reserved[4];
};

/* Opens the disks; all fields of *options may be 0, and it may be NULL. ENOENT,
   EACCES, EROFS, ... for a path that cannot be used, EBUSY for a file or device
   that is in use, EINVAL for an unknown driver, ENOSYS for one that is not
   offered (strict). On failure *disks is NULL. */
int pems_disks_open(struct pems_disks **disks,
                    const struct pems_disks_options *options,
                    struct pems_error *error);
/* No request may be under way. All blocks are gone, and the files made. NULL is
   allowed. */
void pems_disks_close(struct pems_disks *disks);
/* D. */
int pems_disks_count(const struct pems_disks *disks);
/* The path of a disk, for messages; for those in memory what was given. */
const char *pems_disks_path(const struct pems_disks *disks, int disk);
/* What moves the blocks: as asked for, or what it was replaced by. */
const char *pems_disks_driver(const struct pems_disks *disks);

/* --- blocks --- */

/* Where a block lies. */
struct pems_block {
  int disk;    /* from 0 */
  uint64_t at; /* bytes, in the disk's file */
};

/* How the blocks of a stream are dealt to the disks. */
enum pems_deal {
  PEMS_DEAL_CYCLIC, /* randomised cyclic: a random order of the disks, over and
                       over again; each stream has its own (Vitter and
                       Hutchinson 2001) */
  PEMS_DEAL_STRIPE, /* disk 0, 1, 2, ... */
  PEMS_DEAL_RANDOM, /* any, independently */
};

/* The dealing of one stream; to be looked at by pems only. Not thread-safe. */
struct pems_dealer {
  enum pems_deal deal;
  uint64_t random; /* state of the generator */
  uint64_t dealt;  /* blocks so far */
  uint64_t order;  /* seed of the random order of the disks */
};

/* Begins a stream; the same seed gives the same dealing. */
void pems_dealer_begin(struct pems_dealer *dealer, enum pems_deal deal,
                       uint64_t seed);
/* A new block of n bytes. A disk that is full passes it on to the next, ENOSPC
   where all are; what is wrong with the system is seen only when it is written,
   for no space is reserved. n of 0 or no multiple of PEMS_DISK_UNIT: EINVAL. */
int pems_block_new(struct pems_disks *disks, struct pems_dealer *dealer,
                   size_t n, struct pems_block *block,
                   struct pems_error *error);
/* Gives a block of n bytes back; no request for it may be under way. */
void pems_block_free(struct pems_disks *disks, struct pems_block block,
                     size_t n);

/* --- requests --- */

/* A transfer. The caller fills in the first fields (the rest 0), and keeps it
   and the buffer until it is done. */
struct pems_request {
  struct pems_block block; /* `at` may be any multiple of the unit within it */
  void *buf;               /* aligned to PEMS_DISK_UNIT */
  size_t n;                /* bytes, a multiple of PEMS_DISK_UNIT */
  int write;               /* else read */
  /* Called once it is done, from a thread of the disk, which it must not keep
     long: it may start requests, but not wait for any. Called by the thread
     that starts the request, perhaps before pems_disks_start returns, where the
     disk is in memory (driver "mem") or what is asked for is wrong; requests
     started there by `done` follow after it has returned. NULL: wait for it. */
  void (*done)(struct pems_request *request);
  void *arg;  /* for `done` */
  int error;  /* once it is done: 0 or an errno value */
  int state_; /* what follows is pems's: 1 once it is done */
  uint64_t turn_;
  struct pems_request *next_;
  void *owner_;
};

/* Starts n requests together: each disk gets its share as one list. Requests
   for one disk begin in the order in which they come, but for
   pems_disks_favour, and neighbours that lie beside each other on the disk and
   in memory become one transfer (of up to 8 MiB), whose error is that of each.
   They may be done in any order. What is not aligned or outside the disk ends
   with EINVAL. */
void pems_disks_start(struct pems_disks *disks,
                      struct pems_request *const *requests, int n);
/* Waits until it is done: 0 or an errno value. Only for requests without
   `done`. The time counts as waiting. */
int pems_request_wait(struct pems_disks *disks, struct pems_request *request);
/* True once it is done; for requests without `done`. */
int pems_request_test(const struct pems_request *request);
/* Takes back a request that was started and still exists: true if it had not
   begun; it is done then, with ECANCELED, without `done` being called, nothing
   was moved and nothing is counted. False: it has begun or is done, and ends as
   if nothing had been asked, as it always does where the disk is in memory.
   Takes time for each request that waits for the same disk. */
int pems_request_cancel(struct pems_disks *disks, struct pems_request *request);

enum pems_favour {
  PEMS_FAVOUR_NONE,   /* first come, first served */
  PEMS_FAVOUR_WRITES, /* waiting writes go before waiting reads */
  PEMS_FAVOUR_READS,
};
void pems_disks_favour(struct pems_disks *disks, enum pems_favour favour);

/* --- counts --- */

/* Since the disks were opened; take differences for what a phase did. */
struct pems_disk_counts {
  uint64_t reads, writes;             /* requests */
  uint64_t merged;                    /* requests that became part of others */
  uint64_t bytes_read, bytes_written; /* of requests without an error */
  uint64_t read_wait_ns;  /* waited in pems_request_wait for reads */
  uint64_t write_wait_ns; /* and for writes */
};
void pems_disks_counts(const struct pems_disks *disks,
                       struct pems_disk_counts *counts);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
