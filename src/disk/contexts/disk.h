/* The disks of one process: where its contexts lie and all I/O to them. */
#ifndef PEMS_DISK_CONTEXTS_DISK_H
#define PEMS_DISK_CONTEXTS_DISK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pems/status.h>

/* All offsets and lengths of I/O on contexts are multiples of this, and so are
   the addresses of buffers. */
#define DISK_BLOCK 4096

struct disks;

/* How the contexts lie on the disks and how they are moved. */
struct disks_options {
  const char *dirs; /* directories, comma-separated: one disk each. NULL:
                       $TMPDIR, else /var/tmp (/tmp is often in memory) */
  const char *io;   /* driver; NULL: "unix" */
  uint64_t stripe;  /* bytes, a multiple of DISK_BLOCK: each context is spread
                       over all disks in pieces of this size; 0: each context
                       lies on one disk as one contiguous piece */
  int depth;        /* requests under way per disk; 0: 4 */
  int reserve;      /* allocate the space now, not as it is granted */
  int strict;       /* fail where the system forbids the driver; else "unix" is
                       used then, and one line says so */
};

/* Opens scratch files for `n` contexts of `context_size` bytes each (a multiple
   of DISK_BLOCK). Disks with little free space get fewer contexts (or stripes)
   where even shares would not fit. Checks that each directory exists, is
   writable, and (reserve) has the room, before anything is reserved. Where a
   file system cannot allocate what is not written, what is granted is filled
   with zeros, and a line says so when it is; ENOTSUP if
   `strict`. Returns 0, or an errno value with *error filled in (then *d is
   NULL): EINVAL for what is wrong in *o or the sizes; ENOSPC, EDQUOT, EFBIG,
   EACCES, ... */
int disks_open(struct disks **d, const struct disks_options *o, int n,
               uint64_t context_size, struct pems_error *error);
/* Waits for nothing: no call may be under way. NULL is allowed. A forked child
   has no part in the queues: there all transfers are carried out by who starts
   them, and this call leaves the queues to the parent. */
void disks_close(struct disks *d);

/* Is all of the space allocated since disks_open? Then nothing has to be
   granted. */
int disks_reserved(const struct disks *d);
/* Allocates [from, to) of a context, of which nothing was granted or written
   before: from then on it can be written whatever else fills the disks. Returns
   0, or an errno value with nothing granted and in *dir (unless NULL) the
   directory that has no room; EINVAL as for disks_read. Thread-safe. */
int disks_grant(struct disks *d, int context, uint64_t from, uint64_t to,
                const char **dir);
/* Gives the space of [from, to), which was granted, back to the file systems
   that can; what was written there is lost. Thread-safe. */
void disks_release(struct disks *d, int context, uint64_t from, uint64_t to);

/* As disks_check (disk/contexts/dirs.h), and opens an empty file in each with
   the driver and the stripes of *o, for a moment: whatever is wrong with them
   is found though the disks may never be used. Needs one block of each disk at
   most, whatever o->reserve. */
int disks_try(const struct disks_options *o, struct pems_error *error);

/* Moves n bytes between memory and context `context` at `offset`. Requests are
   cut to at most 2 MiB; one alone is carried out in the calling thread, several
   as a batch, all of them even if one fails. Returns 0 or an errno value,
   EINVAL for what is not aligned or not inside the context. Never written means
   zeros. Counts requests, bytes and waiting. Thread-safe. */
int disks_read(struct disks *d, int context, void *buf, size_t n,
               uint64_t offset);
int disks_write(struct disks *d, int context, const void *buf, size_t n,
                uint64_t offset);

struct disk_queue;
struct disk_records;

/* Transfers that are under way together; a local variable of whoever waits. */
struct disk_batch {
  _Atomic uint32_t pending;   /* requests not done yet, and a futex */
  _Atomic int error;          /* of the first that failed, else 0 */
  _Atomic uint64_t served_ns; /* what the disks took for those that are done */
  bool helps;                 /* disk_batch_help */
  struct {
    struct disk_queue *queue; /* NULL: there is none */
    struct disk_records *records;
    void *buf;
    size_t n;
    uint64_t offset;
    bool write;
  } own; /* the last request so far, that no thread has */
};

static inline void disk_batch_begin(struct disk_batch *b) {
  b->pending = 0;
  b->error = 0;
  b->served_ns = 0;
  b->helps = false;
  b->own.queue = NULL;
}
/* After that: who starts requests waits for them at once, and carries out the
   last one itself, which begins only then: where there are few, no thread need
   be woken for them. */
static inline void disk_batch_help(struct disk_batch *b) {
  b->helps = true;
}
/* As disks_read and disks_write, but return when the requests are queued (cut
   to pieces of at most 2 MiB, so that all disks and the whole queue work): the
   memory must stay as it is until disk_batch_wait. What is wrong, an argument
   too, is said there. Requests of one batch may be done in any order. Only the
   owner of a batch adds to it. */
void disks_start_read(struct disks *d, struct disk_batch *b, int context,
                      void *buf, size_t n, uint64_t offset);
void disks_start_write(struct disks *d, struct disk_batch *b, int context,
                       const void *buf, size_t n, uint64_t offset);
/* Waits until all are done; 0 or the first error. The batch is then empty. The
   time counts as io_wait. Thread-safe beside everything but calls for the same
   batch. */
int disk_batch_wait(struct disk_batch *b);

/* ns that disks took so far for what the calling thread has waited for: of each
   request the time from its start, or the end of the one that was done before
   it, to its end. So, other than io_wait, without what others' requests take.
   It only grows; differences count. */
uint64_t disks_served_ns(void);

/* What moves them: as asked for, or what it was replaced by. */
const char *disks_driver(const struct disks *d);
/* D. */
int disks_count(const struct disks *d);
/* The disk that a context lies on, or -1 if it is spread over all. */
int disks_home(const struct disks *d, int context);
/* Requests queued or under way on a disk now: a hint for who is to be moved
   next. */
unsigned disks_busy(const struct disks *d, int disk);

/* True if contexts can be mapped lazily (disks_map_lazy). */
bool disks_lazy(const struct disks *d);
/* Maps [offset, offset + n) of a context at `address`: privately, pages are
   read when they are touched (driver.h, map_lazy). Maps piece by piece where
   striped; ENOTSUP if a stripe is smaller than 64 KiB or not disks_lazy. 0 or
   an errno value. */
int disks_map_lazy(struct disks *d, int context, void *address, size_t n,
                   uint64_t offset, int sequential);
/* Drops what the system has cached of it; mapped no more. */
void disks_forget(struct disks *d, int context, size_t n, uint64_t offset);

/* True if contexts are to be mapped (disks_map), not read and written. */
bool disks_mapped(const struct disks *d);
/* Maps a piece of a context at `address` (MAP_FIXED, shared). 0 or an errno
   value; ENOTSUP unless disks_mapped. */
int disks_map(struct disks *d, int context, void *address, size_t n,
              uint64_t offset);

/* Has the system failed to write mapped contexts since this was last asked?
   Returns its error, with *dir the disk's directory, owned by *d; or 0. */
int disks_map_failed(const struct disks *d, const char **dir);
/* Writes a page of a mapped context, as disks_read has just given it, so that
   stores into it find their place on a full disk (driver.h, map_rewrite). 0 or
   an errno value; ENOTSUP unless disks_mapped. Thread-safe, takes no lock. */
int disks_map_rewrite(struct disks *d, int context, const void *page,
                      uint64_t offset);

/* Directory of a context's disk, for messages. */
const char *disks_dir(const struct disks *d, int context);

#endif
