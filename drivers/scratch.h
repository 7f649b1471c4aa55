/* Scratch files and files of others: what the drivers that use files share.
   Errors as in driver.h: 0 or an errno value. */
#ifndef PEMS_DRIVERS_SCRATCH_H
#define PEMS_DRIVERS_SCRATCH_H

#include <stdatomic.h>
#include <sys/types.h>

#include "drivers/driver.h"

struct scratch {
  struct driver_file file; /* what the driver hands out */
  int fd;
  int owned;        /* to be closed */
  uint64_t size;    /* bytes, rounded up to whole blocks of 4096 */
  uint64_t end;     /* where the data ends: reads across it are short */
  int advice;       /* for madvise; of the driver mmap */
  atomic_int ahead; /* how much a touched page brings; scratch_lazy.c */
};

/* Opens a file of `size` bytes, a struct scratch, for `driver`, which frees it
   by scratch_close.
   `direct`: O_DIRECT, with alignment 4096, but cached and with alignment 1
   (after one warning per process) where the file system refuses it. EFBIG
   beyond `ulimit -f`. `reserve` as in driver.h. */
int scratch_open(struct driver_file **file, const struct driver *driver,
                 const char *dir, uint64_t size, int direct, int reserve);
/* As the driver function attach; `direct` as above, but without a warning. */
int scratch_attach(struct driver_file **file, const struct driver *driver,
                   int fd, uint64_t size, int direct);
/* A new unnamed file in a directory, for reading and writing, close-on-exec:
   its descriptor, or -1 with errno. `flags`: O_DIRECT or 0. */
int scratch_make(const char *dir, int flags);
/* Bytes that such a file may have, roughly: half of what the file system and
   `ulimit -f` allow, or more; 0 if there can be none. */
uint64_t scratch_most(const char *dir);

/* The driver functions of the same names, on a struct scratch. */
int scratch_read(struct driver_file *file, void *buf, size_t n,
                 uint64_t offset);
int scratch_write(struct driver_file *file, const void *buf, size_t n,
                  uint64_t offset);
int scratch_flush(struct driver_file *file);
int scratch_grant(struct driver_file *file, uint64_t n, uint64_t offset);
void scratch_release(struct driver_file *file, uint64_t n, uint64_t offset);
void scratch_close(struct driver_file *file);

/* 0, or EINVAL for what is not aligned or not inside the file. */
int scratch_check(const struct scratch *s, const void *buf, size_t n,
                  uint64_t offset);
/* Notes in a request what the system did for it: bytes or a negative errno
   value. True if the rest, from r->moved on, is to be asked for (again); else
   the request is done, r->error says how. */
int scratch_advance(const struct scratch *s, struct driver_request *r,
                    ssize_t result);

/* How many of n bytes to ask the system for. That is n, but once after
   scratch_shorten_next about half of it (whole blocks, at least one): so that
   tests see short transfers. Thread-safe. */
size_t scratch_ask(size_t n);
void scratch_shorten_next(void);

#endif
