#define _GNU_SOURCE
#include "os/pages.h"

#include "os/bits.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* --- guards --- */

/* <asm-generic/mman-common.h> of Linux 6.13. */
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#define MADV_GUARD_REMOVE 103
#endif

static int this_process = -1; /* as process_madvise wants it */

/* All of the ranges. The system says how many bytes it has done. */
static bool advise(const struct iovec *ranges, size_t n, int advice) {
  enum { MOST = 1024 };
  for (size_t done = 0, now; done < n; done += now) {
    size_t bytes = 0;
    now = n - done < MOST ? n - done : MOST;
    for (size_t i = 0; i < now; i++) {
      bytes += ranges[done + i].iov_len;
    }
    if (syscall(SYS_process_madvise, this_process, ranges + done, now, advice,
                0) != (ssize_t)bytes) {
      return false;
    }
  }
  return true;
}

bool pages_can_guard(void) {
  return this_process >= 0;
}

/* The pages go first, all by one: to guard those that exist, the system tells
   other processors of each range. */
bool pages_guard(const struct iovec *ranges, size_t n,
                 const struct iovec *guarded, size_t n_guarded) {
  return advise(ranges, n, MADV_DONTNEED) &&
         advise(guarded, n_guarded, MADV_GUARD_INSTALL);
}

bool pages_unguard(const struct iovec *ranges, size_t n) {
  return advise(ranges, n, MADV_GUARD_REMOVE);
}

static bool try_guard(void) {
  char *const p = pages_new(NULL, PAGE);
  const struct iovec range = {p, PAGE};
  bool can = p && pages_guard(&range, 1, &range, 1) && pages_unguard(&range, 1);
  if (can) {
    *(volatile char *)p = 1;
  }
  if (p) {
    pages_drop(p, PAGE);
  }
  return can;
}

static void guard_end(void) {
  if (this_process >= 0) {
    close(this_process);
  }
  this_process = -1;
}

static void guard_start(void) {
  this_process = (int)syscall(SYS_pidfd_open, getpid(), 0);
  if (this_process >= 0 && !try_guard()) {
    guard_end();
  }
}

/* --- surveys --- */

/* <linux/fs.h> of Linux 6.7, which the system's headers may not have yet. */
struct page_region_ {
  uint64_t start;
  uint64_t end;
  uint64_t categories;
};

struct pm_scan_arg_ {
  uint64_t size;
  uint64_t flags;
  uint64_t start;
  uint64_t end;
  uint64_t walk_end;
  uint64_t vec;
  uint64_t vec_len;
  uint64_t max_pages;
  uint64_t category_inverted;
  uint64_t category_mask;
  uint64_t category_anyof_mask;
  uint64_t return_mask;
};

#define SCAN _IOWR('f', 16, struct pm_scan_arg_)

enum {
  IS_WATCHED = 1 << 0,
  IS_WRITTEN = 1 << 1,
  IS_FILE = 1 << 2,
  IS_PRESENT = 1 << 3,
  IS_SWAPPED = 1 << 4,
  IS_ZERO = 1 << 5,
  IS_HUGE = 1 << 6,
};

/* A longer vector made the kernel return a stale walk_end. */
enum { REGIONS = 512 };

static int pagemap = -1;
static bool full;

static int scan(uintptr_t start, uintptr_t end, struct page_region_ *region,
                uintptr_t *walked) {
  struct pm_scan_arg_ arg = {
      .size = sizeof(arg),
      .start = start,
      .end = end,
      .vec = (uintptr_t)region,
      .vec_len = REGIONS,
      .category_anyof_mask = IS_PRESENT | IS_SWAPPED,
      .return_mask = IS_WATCHED | IS_WRITTEN | IS_FILE | IS_ZERO | IS_HUGE,
  };
  const int n = ioctl(pagemap, SCAN, &arg);
  *walked = arg.walk_end;
  return n;
}

int pages_survey_start(void) {
  pages_survey_end();
  guard_start();
  pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (pagemap < 0) {
    return errno;
  }
  struct page_region_ region[REGIONS];
  uintptr_t walked;
  const uintptr_t here = bits_align_down((uintptr_t)&region[0], PAGE);
  full = scan(here, here + PAGE, region, &walked) == 1;
  return 0;
}

void pages_survey_end(void) {
  if (pagemap >= 0) {
    close(pagemap);
  }
  guard_end();
  pagemap = -1;
  full = false;
}

bool pages_survey_full(void) {
  return full;
}

static int flags_of(uint64_t categories) {
  return (categories & IS_WATCHED ? SURVEY_WATCHED : 0) |
         (categories & IS_WRITTEN ? SURVEY_WRITTEN : 0) |
         (categories & IS_FILE ? SURVEY_FILE : 0) |
         (categories & IS_ZERO ? SURVEY_ZERO : 0) |
         (categories & IS_HUGE ? SURVEY_HUGE : 0);
}

/* Returns where it stopped: end, or less if the kernel refused. */
static uintptr_t survey_scan(uintptr_t start, uintptr_t end, survey_visit *f,
                             void *arg) {
  struct page_region_ region[REGIONS];
  while (start < end) {
    uintptr_t walked;
    const int n = scan(start, end, region, &walked);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n < 0 || walked <= start) {
      break;
    }
    for (int i = 0; i < n; i++) {
      f(arg, region[i].start, region[i].end, flags_of(region[i].categories));
    }
    start = walked;
  }
  return start;
}

/* Older kernels: eight bytes a page. */
static uintptr_t survey_read(uintptr_t start, uintptr_t end, survey_visit *f,
                             void *arg) {
  enum { BATCH = 2048, STATE = 6, FILE_PAGE = 1 };
  uint64_t entry[BATCH];
  while (start < end) {
    const size_t left = (end - start) / PAGE;
    const size_t n = left < BATCH ? left : BATCH;
    const ssize_t want = n * sizeof(entry[0]);
    if (pread(pagemap, entry, want, start / PAGE * sizeof(entry[0])) != want) {
      break;
    }
    for (size_t i = 0, j; i < n; i = j) {
      const uint64_t is = entry[i] >> 61; /* present, in swap, of a file */
      for (j = i + 1; j < n && entry[j] >> 61 == is; j++) {
      }
      if (is & STATE) {
        f(arg, start + i * PAGE, start + j * PAGE,
          SURVEY_WRITTEN | (is & FILE_PAGE ? SURVEY_FILE : 0));
      }
    }
    start += n * PAGE;
  }
  return start;
}

void pages_survey(uintptr_t start, uintptr_t end, survey_visit *f, void *arg) {
  if (pagemap >= 0 && full) {
    start = survey_scan(start, end, f, arg);
  } else if (pagemap >= 0) {
    start = survey_read(start, end, f, arg);
  }
  if (start < end) {
    f(arg, start, end, SURVEY_WRITTEN);
  }
}

/* Not by mmap: UCX puts a function in its place that takes a lock, which a
   thread may have held that the child of a fork does not have. */
void *pages_new(void *at, size_t n) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0);
  const long p = syscall(SYS_mmap, at, n, PROT_READ | PROT_WRITE,
                         flags | MAP_NORESERVE, -1, 0L);
  return p == -1 ? NULL : (void *)p;
}

void pages_drop(void *p, size_t n) {
  syscall(SYS_munmap, p, n);
}

/* Not by mremap: UCX, which MPIs use, puts a function of four arguments in its
   place (seen in 1.13), and the pages land anywhere. */
int pages_move(void *from, void *to, size_t n, bool keep) {
  const int flags =
      MREMAP_MAYMOVE | MREMAP_FIXED | (keep ? MREMAP_DONTUNMAP : 0);
  return syscall(SYS_mremap, from, n, n, flags, to) == -1 ? errno : 0;
}

void pages_clear(char *p, size_t n) {
  for (size_t at = 0; at < n; at += PAGE) {
    const size_t part = bits_min(n - at, PAGE);
    if (!bits_zero(p + at, part)) {
      memset(p + at, 0, part);
    }
  }
}
