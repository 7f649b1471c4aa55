#define _GNU_SOURCE
#include "disk/spill.h"

#include "base/message.h"
#include "base/need.h"
#include "base/ranges.h"
#include "os/bits.h"
#include "os/lock.h"
#include "os/native.h"
#include "os/refused.h"
#include "os/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Pieces begin at multiples of it, so that free space falls apart less. */
enum { GRAIN = 64 };

struct spill {
  struct lock lock;
  _Atomic int fd;     /* -1: not open yet */
  uint64_t end;       /* bytes of the file that are or were reserved */
  uint64_t used;      /* of them, those that are */
  uint64_t spared;    /* bytes at its beginning that are kept elsewhere */
  uint64_t granted;   /* bytes of the file that are allocated on the disk, and
                         those before them */
  struct ranges free; /* of them, those that are not; a place is its address
                         here, from GRAIN on */
  char dir[];
};

static _Noreturn void fail(const struct spill *s, const char *what, int error) {
  msg_fail_here(
      MSG_FAILED,
      "%s: %s: %s: free some space there or name another directory with "
      "--pems-disk",
      what, s->dir, strerror(error));
}

static int open_file(const char *dir) {
  char path[PATH_MAX];
  int fd = open(dir, O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  /* EISDIR comes from kernels that do not know O_TMPFILE. */
  if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
    if (snprintf(path, sizeof(path), "%s/pems-XXXXXX", dir) >=
        (int)sizeof(path)) {
      errno = ENAMETOOLONG;
      return -1;
    }
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0) {
      unlink(path);
    }
  }
  return fd;
}

struct spill *spill_open(const char *dir) {
  return spill_open_spared(dir, 0);
}

struct spill *spill_open_spared(const char *dir, uint64_t spared) {
  const size_t n = strlen(dir) + 1;
  struct spill *s = need_zalloc(1, sizeof(*s) + n, "the file for messages");
  lock_init(&s->lock, LOCK_SPILL);
  s->fd = -1;
  s->spared = s->granted = spared;
  memcpy(s->dir, dir, n);
  return s;
}

void spill_close(struct spill *s) {
  if (!s) {
    return;
  }
  if (s->fd >= 0) {
    close(s->fd);
  }
  ranges_free(&s->free);
  lock_destroy(&s->lock);
  native_free(s);
}

static size_t rounded(size_t n) {
  return bits_round_up(n, GRAIN);
}

static void need(const struct spill *s, int failed) {
  if (failed) {
    fail(s, "noting where messages are kept", ENOMEM);
  }
}

/* The first free place of n bytes, else the end of the file. */
static uint64_t find(struct spill *s, size_t n) {
  for (size_t i = 0; i < s->free.n; i++) {
    const struct range *r = &s->free.item[i];
    if (r->end - r->start >= n) {
      const uint64_t at = r->start - GRAIN;
      need(s, ranges_remove(&s->free, r->start, r->start + n));
      return at;
    }
  }
  s->end += n;
  return s->end - n;
}

static bool is_full(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

/* Where the file system cannot allocate what is not written. */
static int fill(const struct spill *s, uint64_t to) {
  static const char zeros[16 << 10];
  for (uint64_t at = s->granted; at < to;) {
    const size_t n = to - at < sizeof(zeros) ? to - at : sizeof(zeros);
    const int error = whole_write_at(s->fd, zeros, n, at);
    if (error) {
      return error;
    }
    at += n;
  }
  return 0;
}

/* Allocates the file's first `bytes`, which were none of its. */
static int grant(struct spill *s, uint64_t bytes) {
  int error;
  do {
    error = fallocate(s->fd, 0, (off_t)s->granted, (off_t)(bytes - s->granted))
                ? errno
                : 0;
  } while (error == EINTR);
  if (error == EOPNOTSUPP || refused(error)) {
    error = fill(s, bytes);
  }
  if (!error) {
    s->granted = bytes;
  } else if (ftruncate(s->fd, (off_t)s->granted) != 0) {
    return errno;
  }
  return error;
}

/* So that the file's first `end` bytes can be written. */
static int grant_up_to(struct spill *s, uint64_t end) {
  enum { STEP = 1 << 20 };
  if (end <= s->granted) {
    return 0;
  }
  if (s->fd < 0) {
    s->fd = open_file(s->dir);
  }
  if (s->fd < 0) {
    return errno;
  }
  return grant(s, end + STEP) ? grant(s, end) : 0;
}

/* A place of n bytes that can be written, or 0, or else an errno value. */
static int take(struct spill *s, size_t n, uint64_t *at) {
  const uint64_t end = s->end;
  *at = find(s, n);
  const int error = grant_up_to(s, s->end);
  if (error) {
    s->end = end;
    return error;
  }
  s->used += n;
  return 0;
}

bool spill_take(struct spill *s, size_t n, uint64_t *at) {
  lock_take(&s->lock);
  const int error = take(s, rounded(n), at);
  lock_give(&s->lock);
  if (error && !is_full(error)) {
    fail(s, "a scratch file for messages", error);
  }
  return !error;
}

void spill_give(struct spill *s, uint64_t at, size_t n) {
  n = rounded(n);
  lock_take(&s->lock);
  s->used -= n;
  if (s->used) {
    need(s, ranges_add(&s->free, at + GRAIN, at + GRAIN + n));
  } else {
    ranges_clear(&s->free);
    s->end = 0;
    s->granted = s->spared;
    if (s->fd >= 0 && ftruncate(s->fd, 0) != 0) {
      fail(s, "shortening a scratch file", errno);
    }
  }
  lock_give(&s->lock);
}

uint64_t spill_size(struct spill *s) {
  lock_take(&s->lock);
  const uint64_t size = s->end;
  lock_give(&s->lock);
  return size;
}

void spill_write(struct spill *s, uint64_t at, const void *bytes, size_t n) {
  const int error = whole_write_at(s->fd, bytes, n, at);
  if (error) {
    fail(s, "writing messages to a scratch file", error);
  }
}

void spill_read(struct spill *s, uint64_t at, void *bytes, size_t n) {
  const int error = whole_read_at(s->fd, bytes, n, at);
  if (error) {
    fail(s, "reading messages from a scratch file", error);
  }
}

int spill_map(struct spill *s, void *p, uint64_t at, size_t len) {
  return mmap(p, len, PROT_READ | PROT_WRITE,
              MAP_SHARED | MAP_FIXED | MAP_NORESERVE, s->fd,
              (off_t)at) == MAP_FAILED
             ? errno
             : 0;
}

void spill_push(struct spill *s, uint64_t at, size_t n) {
  (void)sync_file_range(s->fd, (off_t)at, (off_t)n, SYNC_FILE_RANGE_WRITE);
}

#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

/* As <linux/mman.h> of Linux 6.5 has them. */
struct cache_range {
  uint64_t at, n;
};
struct cache_state {
  uint64_t cached, dirty, writeback, evicted, recently_evicted;
};

void spill_cached(struct spill *s, uint64_t at, size_t n, uint64_t *cached,
                  uint64_t *dirty) {
  const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  struct cache_range range = {at, n};
  struct cache_state state;
  if (syscall(SYS_cachestat, s->fd, &range, &state, 0) != 0) {
    *cached = *dirty = n;
    return;
  }
  *cached = state.cached * page;
  *dirty = (state.dirty + state.writeback) * page;
}

int spill_clear(struct spill *s, uint64_t at, size_t n) {
  enum { KEEP = FALLOC_FL_KEEP_SIZE };
  const off_t from = (off_t)at, len = (off_t)n;
  if (fallocate(s->fd, FALLOC_FL_ZERO_RANGE | KEEP, from, len) == 0) {
    return 0;
  }
  /* Where the file system knows no more than holes. */
  const int holes = FALLOC_FL_PUNCH_HOLE | KEEP;
  return fallocate(s->fd, holes, from, len) == 0 &&
                 fallocate(s->fd, KEEP, from, len) == 0
             ? 0
             : errno;
}

uint64_t spill_next(const struct spill *s, uint64_t at, uint64_t end,
                    uint64_t *start) {
  const off_t data = lseek(s->fd, (off_t)at, SEEK_DATA);
  if (data < 0 && errno != ENXIO) {
    *start = at; /* the file system cannot tell */
    return end;
  }
  *start = data < 0 ? end : bits_min((uint64_t)data, end);
  const off_t hole = *start < end ? lseek(s->fd, data, SEEK_HOLE) : -1;
  return hole < 0 ? end : bits_min((uint64_t)hole, end);
}

int spill_leave(struct spill *s, uint64_t at, size_t n) {
  const unsigned all = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
                       SYNC_FILE_RANGE_WAIT_AFTER;
  if (sync_file_range(s->fd, (off_t)at, (off_t)n, all) != 0) {
    return errno;
  }
  return posix_fadvise(s->fd, (off_t)at, (off_t)n, POSIX_FADV_DONTNEED);
}
