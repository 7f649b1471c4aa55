/* How fast the kernels sort and merge, for several types of records, numbers of
   pieces and threads. Prints RESULT lines; rates are MB/s of records, all
   threads together (mbps) and by CPU time (core_mbps, without what a kernel
   emits), the best of some rounds. Merges run on 1 or 2 threads, each
   with its own half of the pieces, as the sorter does it.
   Usage: kernels [MiB of records, 64 if not given] [kernel [type of record]] */
#define _GNU_SOURCE
#include "em/kernel/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "em/kernel/multiselect.h"

enum { ROUNDS = 3, PIECES = 128, THREADS = 2 };

struct shape {
  const char *name;
  struct pems_record record;
  int few; /* keys of 64 values */
};

static const struct shape shapes[] = {
    {"u32", {.size = 4, .key = PEMS_KEY_U32}, 0},
    {"u64", {.size = 8, .key = PEMS_KEY_U64}, 0},
    {"u64-few", {.size = 8, .key = PEMS_KEY_U64}, 1},
    {"f64", {.size = 8, .key = PEMS_KEY_F64}, 0},
    {"u128", {.size = 16, .key = PEMS_KEY_U128}, 0},
    {"pair", {.size = 16, .key = PEMS_KEY_U64}, 0},
    {"pair-stable", {.size = 16, .key = PEMS_KEY_U64, .stable = 1}, 0},
    {"bytes16", {.size = 16, .key = PEMS_KEY_BYTES, .key_size = 10}, 0},
    {"u16", {.size = 2, .key = PEMS_KEY_U16}, 0},
    {"gray100", {.size = 100, .key = PEMS_KEY_BYTES, .key_size = 10}, 0},
    {"large1000", {.size = 1000, .key = PEMS_KEY_U64, .stable = 1}, 0},
};

struct bench {
  const struct kernel *kernel;
  const struct shape *shape;
  size_t n;          /* records */
  char *data, *runs; /* as made; in sorted runs, later */
  char *out;
  struct team *team;
  int threads;
  struct kernel_piece piece[THREADS][PIECES]; /* of each thread's merge */
  char *at[THREADS];                          /* where its output goes */
  int pieces;
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static char *map(size_t n) {
  char *const p = mmap(NULL, n + 4096, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) {
    fprintf(stderr, "bench kernels: %zu bytes: out of memory: ask for less\n",
            n);
    exit(1);
  }
  madvise(p, n, MADV_HUGEPAGE);
  memset(p, 1, n);
  return p;
}

static void fill(const struct bench *b) {
  uint64_t x = 1;
  uint64_t *const word = (uint64_t *)b->data;
  for (size_t i = 0; i < b->n * b->shape->record.size / 8; i++) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    word[i] = x * 0x9e3779b97f4a7c15u;
    if (b->shape->few) {
      word[i] %= 64;
    }
  }
}

/* Of work that took that long, and the members that much CPU time. */
static void result(const struct bench *b, const char *what, double seconds,
                   double cpu) {
  const double bytes = (double)b->n * (double)b->shape->record.size;
  printf("RESULT bench=kernels kernel=%s type=%s what=%s pieces=%d threads=%d "
         "mib=%.0f mbps=%.0f core_mbps=%.0f\n",
         b->kernel->name, b->shape->name, what, b->pieces, b->threads,
         bytes / (1 << 20), bytes / seconds / 1e6, bytes / cpu / 1e6);
  fflush(stdout);
}

static double cpu(const struct bench *b) {
  return (double)team_cpu_ns(b->team) * 1e-9;
}

static void sort(struct bench *b, char *records, size_t n, char *out) {
  const struct pems_record *const r = &b->shape->record;
  const size_t bytes = b->kernel->sort_work(r, n, b->threads);
  char *const work = map(bytes);
  b->kernel->sort(r, b->team, records, n, work);
  if (out && b->kernel->emit) {
    b->kernel->emit(r, records, n, work, 0, n, out);
  } else if (out) {
    memcpy(out, records, n * r->size);
  }
  munmap(work, bytes + 4096);
}

/* With an emit of all, where there is one: the records are not sorted before
   that. */
static void bench_sort(struct bench *b) {
  const struct pems_record *const r = &b->shape->record;
  double best = 1e9, best_cpu = 1e9;
  b->pieces = 1;
  for (int i = 0; i < ROUNDS; i++) {
    memcpy(b->runs, b->data, b->n * r->size);
    const double begin = now(), cpu_begin = cpu(b);
    sort(b, b->runs, b->n, b->kernel->emit ? b->out : NULL);
    const double seconds = now() - begin, cpu_used = cpu(b) - cpu_begin;
    best = seconds < best ? seconds : best;
    best_cpu = cpu_used < best_cpu ? cpu_used : best_cpu;
  }
  result(b, "sort", best, best_cpu);
}

static void make_runs(struct bench *b) {
  const size_t size = b->shape->record.size, each = b->n / (size_t)b->pieces;
  memcpy(b->runs, b->data, b->n * size);
  for (int i = 0; i < b->pieces; i++) {
    char *const run = b->runs + (size_t)i * each * size;
    sort(b, run, each, b->out);
    memcpy(run, b->out, each * size);
  }
}

/* Cuts the runs at the middle of all for two threads. */
static void share_out(struct bench *b) {
  const struct pems_record *const r = &b->shape->record;
  const size_t each = b->n / (size_t)b->pieces;
  size_t cut[PIECES] = {0};
  uint64_t half = each * (uint64_t)b->pieces / 2;
  for (int i = 0; i < b->pieces; i++) {
    b->piece[0][i] = (struct kernel_piece){b->runs + i * each * r->size, each};
  }
  b->at[0] = b->out;
  if (b->threads == 1) {
    return;
  }
  multiselect(r, b->kernel, b->piece[0], b->pieces, half, cut);
  for (int i = 0; i < b->pieces; i++) {
    b->piece[1][i] = (struct kernel_piece){b->piece[0][i].at + cut[i] * r->size,
                                           each - cut[i]};
    b->piece[0][i].n = cut[i];
  }
  b->at[1] = b->out + half * r->size;
}

static void merge_half(void *arg, int task, int member) {
  struct bench *const b = arg;
  const struct pems_record *const r = &b->shape->record;
  const size_t bytes = b->kernel->merge_work(r, b->pieces);
  char *const work = map(bytes);
  (void)member;
  b->kernel->merge(r, b->piece[task], b->pieces, b->at[task], work, 1);
  munmap(work, bytes + 4096);
}

static void bench_merge(struct bench *b) {
  double best = 1e9, best_cpu = 1e9;
  make_runs(b);
  share_out(b);
  for (int i = 0; i < ROUNDS; i++) {
    const double begin = now(), cpu_begin = cpu(b);
    team_run(b->team, b->threads, merge_half, b);
    const double seconds = now() - begin, cpu_used = cpu(b) - cpu_begin;
    best = seconds < best ? seconds : best;
    best_cpu = cpu_used < best_cpu ? cpu_used : best_cpu;
  }
  result(b, "merge", best, best_cpu);
}

static void bench_shape(struct bench *b, size_t bytes) {
  static const int pieces[] = {2, 8, 16, 64, 128};
  if (!b->kernel->fits(&b->shape->record)) {
    return;
  }
  b->n = bytes / b->shape->record.size;
  fill(b);
  for (b->threads = 1; b->threads <= THREADS; b->threads++) {
    if (team_new(&b->team, b->threads)) {
      fprintf(stderr, "bench kernels: no threads: allow more\n");
      exit(1);
    }
    bench_sort(b);
    for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
      b->pieces = pieces[i];
      bench_merge(b);
    }
    team_free(b->team);
  }
}

int main(int argc, char **argv) {
  const size_t mib = argc > 1 ? strtoull(argv[1], NULL, 10) : 64;
  const size_t bytes = (mib ? mib : 1) << 20;
  static struct bench b;
  b.data = map(bytes);
  b.runs = map(bytes);
  b.out = map(bytes);
  for (const struct kernel *const *k = kernels; *k; k++) {
    if (argc > 2 && strcmp((*k)->name, argv[2]) != 0) {
      continue;
    }
    b.kernel = *k;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
      b.shape = &shapes[i];
      if (argc <= 3 || strcmp(b.shape->name, argv[3]) == 0) {
        bench_shape(&b, bytes);
      }
    }
  }
  return 0;
}
