/* Contexts in mapped files: the system swaps them, pems does not.

   How the memory is used can be told. A sweep over 2 GiB under a limit of
   512 MiB that writes goes at 0.9 to 1.0 GB/s without, at 1.1 to 1.3 with
   MADV_SEQUENTIAL; single touches at random at 3500 to 24000 a second without,
   at 45000 with MADV_RANDOM, but at 270 with MADV_SEQUENTIAL: so nothing is
   told by itself. */
#define _GNU_SOURCE
#include "drivers/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern const struct driver driver_mmap;

/* The advice for madvise that `args` names, or -1. */
static int parse_advice(const char *args) {
  if (!args) {
    return MADV_NORMAL;
  }
  if (strcmp(args, "sequential") == 0) {
    return MADV_SEQUENTIAL;
  }
  return strcmp(args, "random") == 0 ? MADV_RANDOM : -1;
}

/* A store into a mapped hole on a full disk is SIGBUS: what is not reserved
   here must be granted before it is used. */
static int mmap_open(struct driver_file **file, const char *dir, uint64_t size,
                     int reserve, const char *args) {
  const int advice = parse_advice(args);
  if (advice < 0) {
    return EINVAL;
  }
  const int error = scratch_open(file, &driver_mmap, dir, size, 0, reserve);
  if (!error) {
    ((struct scratch *)*file)->advice = advice;
  }
  return error;
}

/* Files of others may be on full disks, have holes and be cut by others: so
   their data is copied from and to the system's cache, never mapped. */
static int mmap_attach(struct driver_file **file, int fd, uint64_t size,
                       const char *args) {
  if (parse_advice(args) < 0) {
    return EINVAL;
  }
  return scratch_attach(file, &driver_mmap, fd, size, 0);
}

static int mmap_map(struct driver_file *file, void *address, size_t n,
                    uint64_t offset) {
  const struct scratch *const s = (const struct scratch *)file;
  if (offset > s->size || n > s->size - offset) {
    return EINVAL;
  }
  const void *const at = mmap(address, n, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_FIXED, s->fd, (off_t)offset);
  if (at == MAP_FAILED) {
    return errno;
  }
  if (s->advice != MADV_NORMAL) {
    (void)madvise(address, n, s->advice);
  }
  return 0;
}

enum { PAGE_BYTES = 4096 };

/* By a descriptor of its own: the other one's transfers are cached. */
static int mmap_rewrite(struct driver_file *file, const void *page,
                        uint64_t offset) {
  const struct scratch *const s = (const struct scratch *)file;
  char name[32];
  snprintf(name, sizeof(name), "/proc/self/fd/%d", s->fd);
  const int fd = open(name, O_WRONLY | O_DIRECT | O_CLOEXEC);
  if (fd < 0) {
    return errno == EINVAL ? EOPNOTSUPP : errno;
  }
  const ssize_t n = pwrite(fd, page, PAGE_BYTES, (off_t)offset);
  const int error = n < 0 ? errno : n == PAGE_BYTES ? 0 : EIO;
  close(fd);
  return error;
}

/* Waits for what is under way of one page, and is told what went wrong with any
   since then. */
static int mmap_failed(struct driver_file *file) {
  const struct scratch *const s = (const struct scratch *)file;
  return sync_file_range(s->fd, 0, PAGE_BYTES, SYNC_FILE_RANGE_WAIT_BEFORE)
             ? errno
             : 0;
}

const struct driver driver_mmap = {
    .name = "mmap",
    .help = "files mapped into memory, swapped by the system",
    .args = "sequential|random",
    .open = mmap_open,
    .attach = mmap_attach,
    .read = scratch_read,
    .write = scratch_write,
    .flush = scratch_flush,
    .grant = scratch_grant,
    .release = scratch_release,
    .close = scratch_close,
    .map = mmap_map,
    .map_failed = mmap_failed,
    .map_rewrite = mmap_rewrite,
};
