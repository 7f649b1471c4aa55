#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/counters.h"
#include "base/failure.h"
#include "disk/contexts/dirs.h"
#include "disk/contexts/disk.h"
#include "os/clock.h"
#include "wrappers/measure.h"

#define MIB (UINT64_C(1) << 20)
#define PIECE (16 * MIB)
#define LONG_ENOUGH UINT64_C(2000000000) /* ns */

/* Pieces of a disk: each is a context. The one that is read was written so many
   pieces ago, which no cache below holds for the sake of this. */
enum { PIECES = 48, LAG = 16 };

/* Pieces of memory in turn, so that none is in a cache of the processor. */
enum { TURNS = 8 };

struct trial {
  struct disks *disks;
  int disk_count;
  uint64_t request;
  char *memory; /* TURNS pieces for each disk */
  char *copies; /* as many, to copy from and to, or NULL */
};

/* Memory in the n-th turn. */
static char *turn(const struct trial *t, char *memory, int n) {
  return memory + (uint64_t)(n % TURNS * t->disk_count) * PIECE;
}

/* Moves piece i of each disk: contexts are dealt to them in turn. */
static int move(const struct trial *t, int i, char *memory, bool write) {
  struct disk_batch batch;
  disk_batch_begin(&batch);
  for (uint64_t at = 0; at < PIECE; at += t->request) {
    for (int d = 0; d < t->disk_count; d++) {
      const int context = i * t->disk_count + d;
      char *const p = memory + (uint64_t)d * PIECE + at;
      if (write) {
        disks_start_write(t->disks, &batch, context, p, t->request, at);
      } else {
        disks_start_read(t->disks, &batch, context, p, t->request, at);
      }
    }
  }
  return disk_batch_wait(&batch);
}

static int put(const struct trial *t, int i) {
  char *const out = turn(t, t->memory, 2 * i);
  if (t->copies) {
    memcpy(out, turn(t, t->copies, 2 * i), (size_t)t->disk_count * PIECE);
  }
  return move(t, i, out, true);
}

/* To fresh memory, as that of another context has been given back. */
static int get(const struct trial *t, int i) {
  const size_t bytes = (size_t)t->disk_count * PIECE;
  char *const in = turn(t, t->memory, 2 * i + 1);
  (void)madvise(in, bytes, MADV_DONTNEED);
  const int error = move(t, i, in, false);
  if (t->copies && !error) {
    memcpy(turn(t, t->copies, 2 * i + 1), in, bytes);
  }
  return error;
}

/* Space is written for the first time, as most of a job's is. */
static int time_moves(const struct trial *t, double *seconds) {
  int error = 0, i;
  for (i = 0; i < LAG && !error; i++) {
    error = put(t, i);
  }
  const uint64_t start = clock_ns();
  uint64_t took = 0;
  for (; i < PIECES && took < LONG_ENOUGH && !error; i++) {
    error = put(t, i);
    error = error ? error : get(t, i - LAG);
    took = clock_ns() - start;
  }
  *seconds = (double)took * 1e-9 / (i - LAG) / (2.0 * PIECE);
  return error;
}

/* A power of two, so that requests fill a piece. */
static uint64_t rounded(uint64_t request) {
  uint64_t n = DISK_BLOCK;
  while (2 * n <= request && n < 2 * MIB) {
    n *= 2;
  }
  return n;
}

/* Memory that huge pages can fill. */
static int with_memory(struct trial *t, bool copied, double *seconds) {
  const size_t each = (size_t)t->disk_count * TURNS * PIECE;
  const size_t bytes = (copied ? 2 : 1) * each + 2 * MIB;
  char *const p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) {
    return ENOMEM;
  }
  (void)madvise(p, bytes, MADV_HUGEPAGE);
  memset(p, 1, bytes);
  t->memory = p + -(uintptr_t)p % (2 * MIB);
  t->copies = copied ? t->memory + each : NULL;
  const int error = time_moves(t, seconds);
  munmap(p, bytes);
  return error;
}

int measure_disks(const struct options *o, uint64_t request, bool copied,
                  double *seconds, struct pems_error *error) {
  const struct disks_options options = {
      .dirs = o->disk,
      .io = o->io,
      .depth = o->depth,
      .reserve = 1,
      .strict = o->strict,
  };
  struct trial t = {.disk_count = disks_named(o->disk),
                    .request = rounded(request)};
  int code =
      disks_open(&t.disks, &options, PIECES * t.disk_count, PIECE, error);
  if (code) {
    return code;
  }
  code = with_memory(&t, copied, seconds);
  disks_close(t.disks);
  if (code) {
    failure(error, code,
            "measuring the scratch disks: %s: give --G and --S, or other "
            "directories",
            strerror(code));
  }
  return code;
}
