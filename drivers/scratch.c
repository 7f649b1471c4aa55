#define _GNU_SOURCE
#include "drivers/scratch.h"
#include "os/refused.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/message.h"
#include "os/native.h"
#include "os/thread.h"

#define BLOCK 4096

/* A named file that nobody else can open, its name removed at once. */
static int open_named(const char *dir, int flags) {
  char path[PATH_MAX];
  if (snprintf(path, sizeof(path), "%s/pems-XXXXXX", dir) >=
      (int)sizeof(path)) {
    errno = ENAMETOOLONG;
    return -1;
  }
  /* No signal may end the process while the name exists. */
  sigset_t before;
  thread_block_signals(&before);
  const int fd = mkostemp(path, flags);
  const int error = errno;
  if (fd >= 0) {
    unlink(path);
  }
  thread_unblock_signals(&before);
  errno = error;
  return fd;
}

int scratch_make(const char *dir, int flags) {
  flags |= O_CLOEXEC;
  const int fd = open(dir, O_TMPFILE | O_EXCL | O_RDWR | flags, 0600);
  /* EISDIR comes from kernels that do not know O_TMPFILE. */
  if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
    return open_named(dir, flags);
  }
  return fd;
}

static void warn_cached(const char *dir) {
  static atomic_flag warned = ATOMIC_FLAG_INIT;
  if (!atomic_flag_test_and_set(&warned)) {
    msg_notice("direct I/O refused by the file system: %s: scratch files are "
               "cached in memory now: name another directory with --pems-disk",
               dir);
  }
}

/* Beyond the limit the kernel would also send SIGXFSZ. */
static int check_size(uint64_t size) {
  struct rlimit limit;
  if (size > INT64_MAX) {
    return EFBIG;
  }
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      size > limit.rlim_cur) {
    return EFBIG;
  }
  return 0;
}

static void punch(int fd, uint64_t n, uint64_t offset) {
  while (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                   (off_t)offset, (off_t)n)) {
    if (errno != EINTR) {
      return;
    }
  }
}

static int reserve_space(int fd, uint64_t n, uint64_t offset) {
  struct statvfs fs;
  if (n == 0) {
    return 0;
  }
  /* First, so that a file that is too large does not fill the disk, if only for
     a moment, under others. No blocks at all: the file system cannot tell. */
  if (fstatvfs(fd, &fs) == 0 && fs.f_blocks > 0 &&
      n / fs.f_frsize > fs.f_bavail) {
    return ENOSPC;
  }
  while (fallocate(fd, 0, (off_t)offset, (off_t)n)) {
    const int error = errno;
    if (error == EINTR) {
      continue;
    }
    punch(fd, n, offset); /* what it has got so far */
    return refused(error) ? EOPNOTSUPP : error;
  }
  return 0;
}

static int set_size(int fd, uint64_t size, int reserve) {
  const int error = check_size(size);
  if (error) {
    return error;
  }
  while (ftruncate(fd, (off_t)size)) {
    if (errno != EINTR) {
      return errno;
    }
  }
  return reserve ? reserve_space(fd, size, 0) : 0;
}

/* 15 TiB is less than what ext4 allows. */
uint64_t scratch_most(const char *dir) {
  uint64_t size = UINT64_C(60) << 40;
  const int fd = scratch_make(dir, 0);
  if (fd < 0) {
    return 0;
  }
  while (size > 0 && set_size(fd, size, 0)) {
    size /= 2;
  }
  close(fd);
  return size;
}

int scratch_open(struct driver_file **file, const struct driver *driver,
                 const char *dir, uint64_t size, int direct, int reserve) {
  size = size > INT64_MAX ? size : (size + BLOCK - 1) / BLOCK * BLOCK;
  int fd = scratch_make(dir, direct ? O_DIRECT : 0);
  if (fd < 0 && direct && errno == EINVAL) {
    direct = 0;
    fd = scratch_make(dir, 0);
    if (fd >= 0) {
      warn_cached(dir);
    }
  }
  if (fd < 0) {
    return errno;
  }
  const int error = set_size(fd, size, reserve);
  struct scratch *const s = error ? NULL : native_alloc(sizeof(*s));
  if (!s) {
    close(fd);
    return error ? error : ENOMEM;
  }
  *s = (struct scratch){
      .file = {.driver = driver, .align = direct ? BLOCK : 1},
      .fd = fd,
      .owned = 1,
      .size = size,
      .end = size,
  };
  *file = &s->file;
  return 0;
}

/* Sets or clears O_DIRECT; 0, or -1 where the file system refuses it. */
static int set_direct(int fd, bool direct) {
  const int flags = fcntl(fd, F_GETFL);
  const int wanted = direct ? flags | O_DIRECT : flags & ~O_DIRECT;
  return flags < 0 ? -1 : fcntl(fd, F_SETFL, wanted);
}

int scratch_attach(struct driver_file **file, const struct driver *driver,
                   int fd, uint64_t size, int direct) {
  if (size > INT64_MAX - BLOCK) {
    return EFBIG;
  }
  if (direct && set_direct(fd, true)) {
    direct = 0;
  }
  if (!direct && set_direct(fd, false)) {
    return errno;
  }
  struct scratch *const s = native_alloc(sizeof(*s));
  if (!s) {
    return ENOMEM;
  }
  *s = (struct scratch){
      .file = {.driver = driver, .align = direct ? BLOCK : 1},
      .fd = fd,
      .size = (size + BLOCK - 1) / BLOCK * BLOCK,
      .end = size,
  };
  *file = &s->file;
  return 0;
}

static _Atomic int shorten;

void scratch_shorten_next(void) {
  atomic_store_explicit(&shorten, 1, memory_order_relaxed);
}

size_t scratch_ask(size_t n) {
  if (__builtin_expect(atomic_load_explicit(&shorten, memory_order_relaxed),
                       0) &&
      n > BLOCK && atomic_exchange(&shorten, 0)) {
    return n / 2 - n / 2 % BLOCK + (n < 2 * BLOCK ? BLOCK : 0);
  }
  return n;
}

int scratch_check(const struct scratch *s, const void *buf, size_t n,
                  uint64_t offset) {
  const uint64_t bits = (uint64_t)(uintptr_t)buf | n | offset;
  if (bits % s->file.align || offset > s->size || n > s->size - offset) {
    return EINVAL;
  }
  return 0;
}

/* Does the file have bytes at `offset`? File systems on other machines and in
   other processes may believe for a while, after a read that was short, that
   the file ends there: this asks for the truth. */
static bool has_data(const struct scratch *s, uint64_t offset) {
  struct statx now;
  return statx(s->fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_SIZE,
               &now) == 0 &&
         now.stx_size > offset;
}

/* After a transfer that moved too little to go on from: may the next one do
   more? Direct I/O has to begin with a whole block, and *stalls are counted. */
static bool may_go_on(const struct scratch *s, bool write, uint64_t offset,
                      ssize_t moved, int *stalls) {
  enum { MOST_STALLS = 20 };
  return ++*stalls <= MOST_STALLS && (moved > 0 || !write) &&
         has_data(s, offset);
}

/* pread and pwrite, as one type. */
typedef ssize_t transfer_fn(int fd, void *buf, size_t n, off_t offset);

static ssize_t put(int fd, void *buf, size_t n, off_t offset) {
  return pwrite(fd, buf, n, offset);
}

/* Of `moved` bytes at `offset`, those from which a transfer can go on, of n:
   direct I/O has to begin with a whole block. The rest of the last block, which
   the file need not have, counts as read. */
static size_t whole(const struct scratch *s, int write, uint64_t offset,
                    size_t n, size_t moved) {
  if (!write && moved > 0 && offset + moved == s->end) {
    return n < s->size - offset ? n : (size_t)(s->size - offset);
  }
  return moved - moved % s->file.align;
}

/* After an error of a transfer of at most *most bytes: is it worth another try,
   with as many as *most says then? FUSE says EIO where it cut a write in
   several requests and one of them was short; of a single block it does not. */
static bool may_try_less(bool write, size_t asked, size_t *most) {
  if (errno == EINTR) {
    return true;
  }
  if (errno != EIO || !write || asked <= BLOCK) {
    return false;
  }
  *most = (asked / 2 + BLOCK - 1) / BLOCK * BLOCK;
  return true;
}

static int transfer(const struct scratch *s, transfer_fn *move, void *buf,
                    size_t n, uint64_t offset) {
  size_t done = 0, most = n;
  int stalls = 0;
  while (done < n) {
    const size_t asked = scratch_ask(n - done < most ? n - done : most);
    const ssize_t moved =
        move(s->fd, (char *)buf + done, asked, (off_t)(offset + done));
    if (moved < 0 && may_try_less(move == put, asked, &most)) {
      continue;
    }
    if (moved < 0) {
      return errno;
    }
    const size_t more =
        whole(s, move == put, offset + done, n - done, (size_t)moved);
    if (more > 0) {
      stalls = 0;
    } else if (!may_go_on(s, move == put, offset + done, moved, &stalls)) {
      return EIO;
    }
    done += more;
  }
  return 0;
}

/* The rest of a request, by the thread that reaps. */
static int finish_now(const struct scratch *s, struct driver_request *r) {
  r->error = transfer(s, r->write ? put : pread, (char *)r->buf + r->moved,
                      r->n - r->moved, r->offset + r->moved);
  return 0;
}

int scratch_advance(const struct scratch *s, struct driver_request *r,
                    ssize_t result) {
  if (result == -EINTR || result == -EAGAIN) {
    return 1;
  }
  /* What FUSE says of an asynchronous write that was short, too. */
  if (result == -EIO && r->write) {
    return finish_now(s, r);
  }
  if (result < 0) {
    r->error = (int)-result;
    return 0;
  }
  const size_t more =
      whole(s, r->write, r->offset + r->moved, r->n - r->moved, (size_t)result);
  r->moved += more;
  if (r->moved == r->n) {
    return 0;
  }
  return more > 0 ? 1 : finish_now(s, r);
}

int scratch_read(struct driver_file *file, void *buf, size_t n,
                 uint64_t offset) {
  const struct scratch *const s = (const struct scratch *)file;
  const int error = scratch_check(s, buf, n, offset);
  return error ? error : transfer(s, pread, buf, n, offset);
}

int scratch_write(struct driver_file *file, const void *buf, size_t n,
                  uint64_t offset) {
  const struct scratch *const s = (const struct scratch *)file;
  const int error = scratch_check(s, buf, n, offset);
  return error ? error : transfer(s, put, (void *)buf, n, offset);
}

int scratch_flush(struct driver_file *file) {
  const struct scratch *const s = (const struct scratch *)file;
  while (fdatasync(s->fd)) {
    if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

int scratch_grant(struct driver_file *file, uint64_t n, uint64_t offset) {
  const struct scratch *const s = (const struct scratch *)file;
  if (offset > s->size || n > s->size - offset) {
    return EINVAL;
  }
  return reserve_space(s->fd, n, offset);
}

void scratch_release(struct driver_file *file, uint64_t n, uint64_t offset) {
  const struct scratch *const s = (const struct scratch *)file;
  if (n) {
    punch(s->fd, n, offset);
  }
}

void scratch_close(struct driver_file *file) {
  struct scratch *const s = (struct scratch *)file;
  if (s->owned) {
    close(s->fd);
  }
  native_free(s);
}
