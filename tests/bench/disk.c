/* How fast the disk layer is: moves contexts as pems does, without MPI.

     disk DRIVER MIX BYTES [DIR] [DEPTH] [UNIT] [TRANSFER]

   MIX is read, write, or alternate (a unit is read, the next written, as in a
   sweep of swaps; two batches are under way at once). BYTES are moved in all,
   in units of UNIT bytes (default 64M), each a context, by requests of at most
   TRANSFER bytes (default: as the layer cuts them). Sizes take K, M, G. What is
   read or overwritten was written before, outside the measurement. Prints

     RESULT disk driver= mix= bytes= depth= seconds= gbs= cpu=

   with GB/s of 10^9 bytes, and CPU seconds of the process.

   Compile: link with libpemscore.a (see disk.sh). */
#define _GNU_SOURCE
#include "disk/contexts/disk.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "os/clock.h"

enum { BUFFERS = 2 };

struct bench {
  struct disks *d;
  char *memory; /* BUFFERS units */
  uint64_t unit, transfer;
  int contexts;
  struct disk_batch batch[BUFFERS];
};

static uint64_t size_of(const char *text) {
  char *end;
  const uint64_t n = strtoull(text, &end, 10);
  switch (*end) {
  case 'K':
    return n << 10;
  case 'M':
    return n << 20;
  case 'G':
    return n << 30;
  default:
    return n;
  }
}

static double cpu_seconds(void) {
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
         (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void fail(const char *what, const char *why) {
  fprintf(stderr, "disk: %s: %s\n", what, why);
  exit(1);
}

static void wait_for(struct bench *b, int slot) {
  const int error = disk_batch_wait(&b->batch[slot]);
  if (error) {
    fail("transfer", strerror(error));
  }
}

static void start(struct bench *b, int slot, bool write, int context) {
  char *const buf = b->memory + (uint64_t)slot * b->unit;
  for (uint64_t at = 0; at < b->unit; at += b->transfer) {
    const uint64_t left = b->unit - at;
    const uint64_t n = left < b->transfer ? left : b->transfer;
    if (write) {
      disks_start_write(b->d, &b->batch[slot], context, buf + at, n, at);
    } else {
      disks_start_read(b->d, &b->batch[slot], context, buf + at, n, at);
    }
  }
}

/* `mix`: 'r', 'w', or 'a'. */
static void sweep(struct bench *b, int mix, uint64_t units) {
  for (uint64_t i = 0; i < units; i++) {
    const int slot = (int)(i % BUFFERS);
    const bool write = mix == 'w' || (mix == 'a' && i % 2);
    wait_for(b, slot);
    start(b, slot, write, (int)(i % (uint64_t)b->contexts));
  }
  for (int slot = 0; slot < BUFFERS; slot++) {
    wait_for(b, slot);
  }
}

int main(int argc, char **argv) {
  struct pems_error error;
  struct bench b = {.unit = 64 << 20};
  if (argc < 4) {
    fputs("usage: disk DRIVER MIX BYTES [DIR] [DEPTH] [UNIT] [TRANSFER]\n",
          stderr);
    return 2;
  }
  const int depth = argc > 5 ? atoi(argv[5]) : 0;
  const uint64_t bytes = size_of(argv[3]);
  b.unit = argc > 6 ? size_of(argv[6]) : b.unit;
  b.transfer = argc > 7 ? size_of(argv[7]) : b.unit;
  const uint64_t file = (uint64_t)1 << 30;
  b.contexts = (int)(file / b.unit);
  const struct disks_options o = {.dirs = argc > 4 ? argv[4] : NULL,
                                  .io = argv[1],
                                  .depth = depth,
                                  .reserve = 1,
                                  .strict = 1};
  if (disks_open(&b.d, &o, b.contexts, b.unit, &error)) {
    fail("open", error.text);
  }
  const size_t page = (size_t)2 << 20, size = BUFFERS * b.unit;
  char *const range = mmap(NULL, size + page, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (range == MAP_FAILED) {
    fail("memory", "none");
  }
  b.memory = range + (page - (uintptr_t)range % page);
  madvise(b.memory, size, MADV_HUGEPAGE);
  memset(b.memory, 1, size);
  sweep(&b, 'w', (uint64_t)b.contexts);
  const double cpu = cpu_seconds();
  const uint64_t begin = clock_ns();
  sweep(&b, argv[2][0], bytes / b.unit);
  const double seconds = (double)(clock_ns() - begin) / 1e9;
  printf("RESULT disk driver=%s mix=%s bytes=%llu depth=%d seconds=%.3f "
         "gbs=%.3f cpu=%.3f\n",
         argv[1], argv[2], (unsigned long long)bytes, depth, seconds,
         (double)bytes / seconds / 1e9, cpu_seconds() - cpu);
  disks_close(b.d);
  return 0;
}
