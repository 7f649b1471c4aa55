/* Memory that a program maps itself: it is kept while its rank waits, in
   content and protection, and behaves as mmap's. */
#define _GNU_SOURCE
#include <mpi.h>

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 64, RW = PROT_READ | PROT_WRITE };

static int rank, size, failures;

static void check(int ok, const char *what) {
  if (!ok) {
    failures++;
    printf("rank %d: %s: wrong (%s)\n", rank, what, strerror(errno));
  }
}

/* Here the rank waits for others. */
static void superstep(void) {
  int sum, one = 1;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  check(sum == size, "sum");
}

static char *map(size_t pages, int prot) {
  char *p = mmap(NULL, pages * PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  check(p != MAP_FAILED, "mmap");
  return p;
}

static unsigned value(size_t page, unsigned seed) {
  return (unsigned)(page * 2654435761u + seed * 40503u + (unsigned)rank) | 1;
}

static void fill(char *p, size_t from, size_t to, unsigned seed) {
  for (size_t i = from; i < to; i++) {
    unsigned v = value(i, seed);
    memcpy(p + i * PAGE, &v, sizeof(v));
    memcpy(p + i * PAGE + PAGE - sizeof(v), &v, sizeof(v));
  }
}

static int holds(const char *p, size_t from, size_t to, unsigned seed) {
  for (size_t i = from; i < to; i++) {
    unsigned v = value(i, seed), a, b;
    memcpy(&a, p + i * PAGE, sizeof(a));
    memcpy(&b, p + i * PAGE + PAGE - sizeof(b), sizeof(b));
    if (a != v || b != v) {
      return 0;
    }
  }
  return 1;
}

static int zero(const char *p, size_t from, size_t to) {
  for (size_t at = from * PAGE; at < to * PAGE; at += 512) {
    if (p[at]) {
      return 0;
    }
  }
  return 1;
}

static sigjmp_buf back;
static char *volatile fault_at;

static void on_fault(int sig, siginfo_t *info, void *context) {
  (void)sig, (void)context;
  fault_at = info->si_addr;
  siglongjmp(back, 1);
}

/* Does reading, or writing, p end in a signal? */
static int faults(volatile char *p, int write) {
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
  struct sigaction old;
  sigaction(SIGSEGV, &action, &old);
  volatile int faulted = 0;
  if (sigsetjmp(back, 1) == 0) {
    char c = *p;
    if (write) {
      *p = c;
    }
  } else {
    faulted = fault_at == (char *)p;
  }
  sigaction(SIGSEGV, &old, NULL);
  return faulted;
}

static void basics(void) {
  char *p = map(PAGES, RW), *big = map(600, RW);
  check(zero(p, 0, PAGES), "new pages are zero");
  fill(p, 0, PAGES, 1);
  fill(big, 0, 600, 2);
  superstep();
  check(holds(p, 0, PAGES, 1) && holds(big, 0, 600, 2), "kept");
  superstep();
  check(holds(p, 0, PAGES, 1) && holds(big, 0, 600, 2), "kept unchanged");
  check(munmap(big, 600 * PAGE) == 0, "munmap");
  big = map(600, RW);
  check(zero(big, 0, 600), "pages mapped again are zero");
  fill(big, 5, 6, 3);
  superstep();
  check(zero(big, 0, 5) && holds(big, 5, 6, 3) && zero(big, 6, 600), "sparse");
  check(munmap(big, 600 * PAGE) == 0 && munmap(p, PAGES * PAGE) == 0, "end");
}

static void parts(void) {
  char *p = map(PAGES, RW);
  fill(p, 0, PAGES, 4);
  check(munmap(p + 10 * PAGE, 20 * PAGE) == 0, "munmap of a part");
  check(munmap(p + 10 * PAGE, 20 * PAGE) == 0, "munmap of nothing");
  superstep();
  check(holds(p, 0, 10, 4) && holds(p, 30, PAGES, 4), "rest of a mapping");
  char *q = mmap(p + 10 * PAGE, 5 * PAGE, RW,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  check(q == p + 10 * PAGE && zero(q, 0, 5), "MAP_FIXED_NOREPLACE");
  q = mmap(p + 14 * PAGE, 5 * PAGE, RW,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  check(q == MAP_FAILED && errno == EEXIST, "MAP_FIXED_NOREPLACE in use");
  q = mmap(p + 8 * PAGE, 10 * PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
           -1, 0);
  check(q == p + 8 * PAGE && zero(q, 0, 10), "MAP_FIXED");
  superstep();
  check(holds(p, 0, 8, 4) && zero(p, 8, 18) && holds(p, 30, PAGES, 4),
        "MAP_FIXED kept");
  check(munmap(p, PAGES * PAGE) == 0, "munmap with holes");
  q = mmap(p, PAGES * PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  check(q == p && zero(q, 0, PAGES), "hint");
  munmap(q, PAGES * PAGE);
}

static void resize(void) {
  char *p = map(PAGES, RW);
  fill(p, 0, PAGES, 5);
  char *q = mremap(p, PAGES * PAGE, 16 * PAGE, 0);
  check(q == p && holds(q, 0, 16, 5), "mremap shrinks");
  char *block = mmap(p + 16 * PAGE, PAGE, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  check(block == p + 16 * PAGE, "neighbour");
  q = mremap(p, 16 * PAGE, 300 * PAGE, 0);
  check(q == MAP_FAILED && errno == ENOMEM, "mremap in place is in the way");
  q = mremap(p, 16 * PAGE, 300 * PAGE, MREMAP_MAYMOVE);
  check(q != MAP_FAILED && holds(q, 0, 16, 5) && zero(q, 16, 300), "mremap");
  superstep();
  check(holds(q, 0, 16, 5) && zero(q, 16, 300), "mremap kept");
  char *room = map(300, RW);
  p = mremap(q, 300 * PAGE, 300 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, room);
  check(p == room && holds(p, 0, 16, 5) && zero(p, 16, 300), "MREMAP_FIXED");
  check(mremap(p, 20 * PAGE, 0, MREMAP_MAYMOVE) == MAP_FAILED &&
            errno == EINVAL,
        "mremap to nothing");
  munmap(p, 300 * PAGE);
  munmap(block, PAGE);
}

static void advice(void) {
  char *p = map(PAGES, RW);
  fill(p, 0, PAGES, 6);
  superstep();
  check(madvise(p + 3 * PAGE, 7 * PAGE, MADV_DONTNEED) == 0, "DONTNEED");
  check(zero(p, 3, 10), "DONTNEED gives zeros");
  superstep();
  check(holds(p, 0, 3, 6) && zero(p, 3, 10) && holds(p, 10, PAGES, 6),
        "DONTNEED kept");
  check(madvise(p, PAGES * PAGE, MADV_SEQUENTIAL) == 0 &&
            madvise(p, PAGES * PAGE, MADV_WILLNEED) == 0,
        "hints");
  check(madvise(p + 1, PAGE, MADV_DONTNEED) != 0 && errno == EINVAL,
        "madvise of no page");
  munmap(p, PAGES * PAGE);
}

static char data[3 * PAGE]; /* at least one whole page */

static void protection(void) {
  char *p = map(PAGES, RW);
  char *own = (char *)(((uintptr_t)data + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
  char *block = aligned_alloc(PAGE, 4 * PAGE);
  fill(p, 0, PAGES, 7);
  fill(own, 0, 1, 8);
  fill(block, 0, 4, 9);
  check(mprotect(p + 8 * PAGE, PAGE, PROT_NONE) == 0 &&
            mprotect(p + 20 * PAGE, 4 * PAGE, PROT_READ) == 0 &&
            mprotect(own, PAGE, PROT_READ) == 0 &&
            mprotect(block + PAGE, PAGE, PROT_NONE) == 0,
        "mprotect");
  for (int i = 0; i < 3; i++) {
    check(faults(p + 8 * PAGE, 0), "PROT_NONE");
    check(faults(p + 23 * PAGE, 1), "PROT_READ");
    check(holds(p, 20, 24, 7) && holds(p, 0, 8, 7), "can be read");
    check(faults(own, 1) && holds(own, 0, 1, 8), "data of the program");
    check(faults(block + PAGE, 0) && holds(block, 0, 1, 9), "malloc's");
    superstep();
  }
  check(mprotect(p, PAGES * PAGE, RW) == 0 && holds(p, 0, PAGES, 7),
        "unprotected");
  check(!faults(p + 8 * PAGE, 1), "can be written");
  check(mprotect(own, PAGE, RW) == 0 && holds(own, 0, 1, 8), "data again");
  check(mprotect(block, 4 * PAGE, RW) == 0 && holds(block, 0, 4, 9),
        "malloc's again");
  check(mprotect(p, 2 * PAGE, PROT_NONE) == 0 && munmap(p, PAGES * PAGE) == 0,
        "munmap of protected pages");
  p = map(PAGES, RW);
  check(!faults(p, 1), "new pages can be written");
  check(mprotect(p + 1, PAGE, PROT_READ) != 0 && errno == EINVAL, "no page");
  munmap(p, PAGES * PAGE);
  free(block);
  superstep();
}

/* Memory is reserved, and opened as it is needed; a program writes code. */
static void reserve(void) {
  char *p = mmap(NULL, 512 * PAGE, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  check(p != MAP_FAILED && faults(p, 0), "reserved");
  check(mprotect(p + 7 * PAGE, 9 * PAGE, RW) == 0, "committed");
  fill(p, 7, 16, 10);
  superstep();
  check(holds(p, 7, 16, 10) && faults(p + 16 * PAGE, 0), "committed, kept");
  munmap(p, 512 * PAGE);
#ifdef __x86_64__
  static const unsigned char code[] = {0x8d, 0x47, 0x07, 0xc3}; /* x + 7 */
  p = map(1, RW);
  memcpy(p, code, sizeof(code));
  check(mprotect(p, PAGE, PROT_READ | PROT_EXEC) == 0, "PROT_EXEC");
  int (*f)(int) = (int (*)(int))(uintptr_t)p;
  check(f(rank) == rank + 7, "code runs");
  superstep();
  check(f(rank) == rank + 7 && faults(p, 1), "code runs afterwards");
  munmap(p, PAGE);
#endif
}

static int open_file(size_t pages) {
  char name[] = "/var/tmp/mappings-XXXXXX";
  const int fd = mkstemp(name);
  unlink(name);
  char page[PAGE];
  for (size_t i = 0; i < pages; i++) {
    memset(page, 'a' + (int)((i + (size_t)rank) % 26), sizeof(page));
    check(write(fd, page, sizeof(page)) == sizeof(page), "write");
  }
  check(write(fd, "end", 3) == 3, "write");
  return fd;
}

static void files(void) {
  const int fd = open_file(PAGES);
  char *p = mmap(NULL, PAGES * PAGE + 3, RW, MAP_PRIVATE, fd, 0);
  char *r = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_PRIVATE, fd, PAGE);
  char *s = mmap(NULL, PAGES * PAGE, RW, MAP_SHARED, fd, 0);
  check(p != MAP_FAILED && r != MAP_FAILED && s != MAP_FAILED, "files");
  check(memcmp(p, s, PAGES * PAGE) == 0 &&
            memcmp(p + PAGES * PAGE, "end\0", 4) == 0,
        "contents");
  fill(p, 10, 20, 11);
  superstep();
  check(holds(p, 10, 20, 11) && memcmp(p, s, 10 * PAGE) == 0 &&
            memcmp(p + 20 * PAGE, s + 20 * PAGE, 40 * PAGE) == 0,
        "changes are private");
  check(memcmp(r, s + PAGE, 40 * PAGE) == 0, "the file is as it was");
  fill(s, 30, 31, 12);
  char *t = mmap(p + 4 * PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd,
                 30 * PAGE);
  superstep();
  check(t == p + 4 * PAGE && memcmp(t, s + 30 * PAGE, PAGE) == 0,
        "a file at a fixed address");
  check(mmap(NULL, PAGE, RW, MAP_PRIVATE, -1, 0) == MAP_FAILED &&
            errno == EBADF,
        "no file");
  check(mmap(NULL, PAGE, RW, MAP_PRIVATE, fd, 7) == MAP_FAILED &&
            errno == EINVAL,
        "offset");
  const int zeros = open("/dev/zero", O_RDWR);
  char *z = mmap(NULL, 4 * PAGE, RW, MAP_PRIVATE, zeros, 0);
  check(z != MAP_FAILED && zero(z, 0, 4), "/dev/zero");
  close(zeros);
  close(fd);
  munmap(z, 4 * PAGE);
  munmap(p, PAGES * PAGE + 3);
  munmap(r, PAGES * PAGE);
  munmap(s, PAGES * PAGE);
}

static void odd(void) {
  check(mmap(NULL, 0, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED &&
            errno == EINVAL,
        "nothing");
  check(mmap(NULL, (size_t)1 << 60, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
                MAP_FAILED &&
            errno == ENOMEM,
        "more than there is");
  char *s =
      mmap(NULL, 2 * PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  char *shared = mmap(NULL, 2 * PAGE, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  fill(s, 0, 2, 13);
  fill(shared, 0, 2, 14);
  superstep();
  check(holds(s, 0, 2, 13) && holds(shared, 0, 2, 14), "stack, shared");
  munmap(s, 2 * PAGE);
  munmap(shared, 2 * PAGE);
  char *b = sbrk(3 * PAGE);
  check(b != (char *)-1 && sbrk(0) == b + 3 * PAGE, "sbrk");
  memset(b, 5, 3 * PAGE);
  superstep();
  check(b[0] == 5 && b[3 * PAGE - 1] == 5, "sbrk kept");
  check(brk(b + PAGE) == 0 && sbrk(2 * PAGE) == b + PAGE && b[PAGE - 1] == 5 &&
            b[PAGE] == 0,
        "brk");
}

/* A message between mapped pages, and from a mapping that others move. */
static void messages(void) {
  char *from = map(PAGES, RW), *to = map(PAGES, RW);
  fill(from, 0, PAGES, 15);
  MPI_Sendrecv(from, PAGES * PAGE, MPI_CHAR, (rank + 1) % size, 0, to,
               PAGES * PAGE, MPI_CHAR, (rank + size - 1) % size, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  rank = (rank + size - 1) % size;
  check(holds(to, 0, PAGES, 15), "message");
  rank = (rank + 1) % size;
  munmap(from, PAGES * PAGE);
  munmap(to, PAGES * PAGE);
}

/* Random mappings of many sizes: none harms another. */
static void many(void) {
  enum { N = 40 };
  struct {
    char *p;
    size_t n;
    unsigned seed;
  } m[N] = {0};
  unsigned x = 12345u + (unsigned)rank;
  for (int step = 0; step < 400; step++) {
    x = x * 1103515245u + 12345u;
    const unsigned i = (x >> 16) % N;
    if (m[i].p) {
      check(holds(m[i].p, 0, m[i].n, m[i].seed), "one of many");
      check(munmap(m[i].p, m[i].n * PAGE) == 0, "munmap");
      m[i].p = NULL;
    } else {
      m[i].n = 1 + (x >> 8) % 50;
      m[i].seed = x;
      m[i].p = map(m[i].n, RW);
      check(zero(m[i].p, 0, m[i].n), "zero");
      fill(m[i].p, 0, m[i].n, m[i].seed);
    }
    free(malloc(x % 20000));
    if (step % 80 == 0) {
      superstep();
    }
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  basics();
  parts();
  resize();
  advice();
  protection();
  reserve();
  files();
  odd();
  messages();
  many();
  printf("rank %d: %d failures\n", rank, failures);
  MPI_Finalize();
  return failures != 0;
}
