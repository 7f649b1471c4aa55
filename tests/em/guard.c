/* Preloaded into pems-sort by tests/em/fuzz.sh: nothing lies beside memory that
   is mapped, so that reading one byte before or behind it ends the process. A
   page on each side of a mapping cannot be touched, and what was unmapped is
   never used again. */
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096 };

static void *map(void *at, size_t n, int protection, int flags, int fd,
                 off_t offset) {
  return (void *)syscall(SYS_mmap, at, n, protection, flags, fd, offset);
}

static size_t rounded(size_t n) {
  return (n + PAGE - 1) / PAGE * PAGE;
}

void *mmap(void *at, size_t n, int protection, int flags, int fd,
           off_t offset) {
  if (at || n == 0 || !(flags & MAP_ANONYMOUS)) {
    return map(at, n, protection, flags, fd, offset);
  }
  char *const all = map(NULL, rounded(n) + (size_t)2 * PAGE, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return all == MAP_FAILED
             ? all
             : map(all + PAGE, n, protection, flags | MAP_FIXED, fd, offset);
}

int munmap(void *at, size_t n) {
  if (n == 0) {
    errno = EINVAL;
    return -1;
  }
  return map(at, n, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
             0) == MAP_FAILED
             ? -1
             : 0;
}
