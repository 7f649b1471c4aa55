/* How pages of a mapped scratch file come. On a disk that is read ahead of by
   8 MiB, on Linux 6.18, two cores (256 MiB of ext4, all touched in order): with
   MADV_SEQUENTIAL at 1.3 GB/s and 3000 faults, for pages lie scattered in
   memory, as they were free, and a disk takes their addresses one by one. A
   single touched page brought 8 MiB. With MADV_HUGEPAGE the system reads the 2
   MiB in which the page lies, and the next two, in one folio each: 3.6 GB/s;
   together with MADV_RANDOM without the next two, 1.7 GB/s by one thread, which
   is what programs that touch this and that are better off with. */
#define _GNU_SOURCE
#include "drivers/scratch_lazy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "drivers/scratch.h"
#include "os/bits.h"
#include "os/pages.h"

/* <linux/mman.h> of Linux 5.14. */
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

/* What a touched page brings, once it is known. */
enum { AHEAD_UNKNOWN, AHEAD_UNIT, AHEAD_AS_SYSTEM };

/* Has the advice been taken? Reads one page of the mapping, which must not be
   its unit's last, and asks whether the next one has come as well. */
static bool brings_next(char *page) {
  unsigned char in[2];
  return madvise(page, PAGE, MADV_POPULATE_READ) == 0 &&
         mincore(page, 2 * PAGE, in) == 0 && (in[1] & 1);
}

static bool advise_unit(void *address, size_t n) {
  return madvise(address, n, MADV_HUGEPAGE) == 0 &&
         madvise(address, n, MADV_RANDOM) == 0;
}

/* Tries it once for each file: no version says what the kernel and the file
   system do. */
static void advise_near(struct scratch *s, char *address, size_t n,
                        uint64_t offset) {
  int ahead = atomic_load(&s->ahead);
  if (ahead != AHEAD_AS_SYSTEM && !advise_unit(address, n)) {
    ahead = AHEAD_AS_SYSTEM;
  } else if (ahead == AHEAD_UNKNOWN && n > 2 * PAGE) {
    const bool last = offset % HUGE_PAGE == HUGE_PAGE - PAGE;
    ahead =
        brings_next(address + (last ? PAGE : 0)) ? AHEAD_UNIT : AHEAD_AS_SYSTEM;
    atomic_store(&s->ahead, ahead);
  }
  if (ahead != AHEAD_UNIT) {
    (void)madvise(address, n, MADV_SEQUENTIAL);
  }
}

int scratch_lazy_map(struct driver_file *file, void *address, size_t n,
                     uint64_t offset, int sequential) {
  struct scratch *const s = (struct scratch *)file;
  if (offset > s->size || n > s->size - offset) {
    return EINVAL;
  }
  if (mmap(address, n, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, s->fd,
           (off_t)offset) == MAP_FAILED) {
    return errno;
  }
  if (sequential) {
    advise_near(s, address, n, offset);
  } else {
    (void)madvise(address, n, MADV_RANDOM);
  }
  return 0;
}

void scratch_lazy_forget(struct driver_file *file, size_t n, uint64_t offset) {
  const struct scratch *const s = (const struct scratch *)file;
  const uint64_t start = bits_align_down(offset, HUGE_PAGE);
  const uint64_t end = bits_align_up(offset + n, HUGE_PAGE);
  (void)posix_fadvise(s->fd, (off_t)start, (off_t)(end - start),
                      POSIX_FADV_DONTNEED);
}
