/* Sorts a file of random records, beside what the disk and the processors need
   for it:
 *
 *   sort DIR TYPE COUNT MEMORY [NAME=VALUE ...]
 *
 * TYPE is u32, u64, pair (16 bytes, the first 8 are the key) or record (100
 * bytes, the first 10 are the key); COUNT records are written to a file in DIR,
 * which is also the disk; MEMORY is the budget in bytes. Names: threads, block,
 * io, depth, disks (files in DIR that count as disks), runs=long, fetch=naive,
 * deal, kernel, read_buffers, write_buffers, prefetch_buffers, limit=0 (do not
 * measure the disk), files=0 (records are pushed as they are made, and pulled:
 * only the runs are on the disks; beside_cpu is what making and checking them
 * took, which is part of the times of both phases). Prints one RESULT line. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <pems/sort.h>

#define CHUNK ((size_t)4 << 20)
#define MOST_DISKS 64

struct job {
  const char *dir;
  struct pems_sort_options o;
  uint64_t bytes;
  int measure, files;
  double beside; /* CPU seconds of making and checking records */
  char from[4096], to[4096];
  const char *path[MOST_DISKS];
};

static void give_up(const struct pems_error *e) {
  fprintf(stderr, "sort: %s\n", e->text);
  exit(1);
}

static double seconds_of(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double now(void) {
  return seconds_of(CLOCK_MONOTONIC);
}

static double thread_cpu(void) {
  return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

static uint64_t next_random(uint64_t *state) {
  uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

static int find_type(const char *type, struct pems_record *r) {
  if (!strcmp(type, "u32")) {
    *r = (struct pems_record){.size = 4, .key = PEMS_KEY_U32};
  } else if (!strcmp(type, "u64")) {
    *r = (struct pems_record){.size = 8, .key = PEMS_KEY_U64};
  } else if (!strcmp(type, "pair")) {
    *r = (struct pems_record){.size = 16, .key = PEMS_KEY_U64};
  } else if (!strcmp(type, "record")) {
    *r = (struct pems_record){
        .size = 100, .key = PEMS_KEY_BYTES, .key_size = 10};
  } else {
    return -1;
  }
  return 0;
}

/* --- input --- */

static void write_all(int fd, const char *at, size_t n) {
  while (n > 0) {
    const ssize_t done = write(fd, at, n);
    if (done < 0) {
      perror("sort: input");
      exit(1);
    }
    at += done;
    n -= (size_t)done;
  }
}

static void generate(const struct job *j) {
  uint64_t state = 1, *const chunk = aligned_alloc(4096, CHUNK);
  const int fd = open(j->from, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0 || !chunk) {
    perror("sort: input");
    exit(1);
  }
  for (uint64_t done = 0, n; done < j->bytes; done += n) {
    n = j->bytes - done < CHUNK ? j->bytes - done : CHUNK;
    for (size_t i = 0; i < CHUNK / sizeof(*chunk); i++) {
      chunk[i] = next_random(&state);
    }
    write_all(fd, (char *)chunk, (size_t)n);
  }
  /* What lies in the page cache would be written while the sort is timed. */
  fsync(fd);
  posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  close(fd);
  free(chunk);
}

/* --- without files --- */

static void make_chunk(struct job *j, uint64_t *state, uint64_t *chunk,
                       size_t n, struct pems_sort_check *check, void *last) {
  const double begin = thread_cpu();
  for (size_t i = 0; i < CHUNK / sizeof(*chunk); i++) {
    chunk[i] = next_random(state);
  }
  pems_sort_check_piece(check, &j->o.record, chunk, n, last);
  j->beside += thread_cpu() - begin;
}

static void push_all(struct pems_sorter *sorter, struct job *j,
                     struct pems_sort_check *check, void *last) {
  const size_t size = j->o.record.size;
  uint64_t state = 1, *const chunk = aligned_alloc(4096, CHUNK);
  struct pems_error e;
  for (uint64_t left = j->bytes / size, n; left > 0; left -= n) {
    n = left < CHUNK / size ? left : CHUNK / size;
    make_chunk(j, &state, chunk, (size_t)n, check, last);
    if (pems_sorter_push(sorter, chunk, (size_t)n, &e)) {
      give_up(&e);
    }
  }
  if (pems_sorter_finish(sorter, &e)) {
    give_up(&e);
  }
  free(chunk);
}

static void pull_all(struct pems_sorter *sorter, struct job *j,
                     struct pems_sort_check *check, void *last) {
  struct pems_error e;
  const void *records;
  size_t n;
  do {
    if (pems_sorter_pull(sorter, &records, &n, &e)) {
      give_up(&e);
    }
    const double begin = thread_cpu();
    pems_sort_check_piece(check, &j->o.record, records, n, last);
    j->beside += thread_cpu() - begin;
  } while (n > 0);
}

/* Returns whether the result is right. */
static bool stream(struct job *j, struct pems_sort_counts *c) {
  struct pems_sort_check from = {.sorted = 1}, to = {.sorted = 1};
  struct pems_sorter *sorter;
  struct pems_error e;
  char last[PEMS_RECORD_MOST];
  j->o.count = j->bytes / j->o.record.size;
  if (pems_sorter_new(&sorter, &j->o, &e)) {
    give_up(&e);
  }
  push_all(sorter, j, &from, last);
  pull_all(sorter, j, &to, last);
  pems_sorter_counts(sorter, c);
  pems_sorter_free(sorter);
  return to.sorted && from.count == to.count && from.sum[0] == to.sum[0] &&
         from.sum[1] == to.sum[1];
}

/* --- the disk alone --- */

enum { BLOCKS = 32 };

struct probe {
  struct pems_disks *disks;
  struct pems_dealer dealer;
  size_t n; /* bytes of a block */
  char *buf;
  struct pems_request request[BLOCKS];
};

static void finish(struct probe *p, size_t i) {
  struct pems_request *const r = &p->request[i % BLOCKS];
  if (r->buf && pems_request_wait(p->disks, r)) {
    fprintf(stderr, "sort: the disk alone: %s\n", strerror(r->error));
    exit(1);
  }
}

static void begin(struct probe *p, size_t i, struct pems_block block,
                  int write) {
  struct pems_request *const r = &p->request[i % BLOCKS];
  *r = (struct pems_request){.block = block,
                             .buf = p->buf + (i % BLOCKS) * p->n,
                             .n = p->n,
                             .write = write};
  pems_disks_start(p->disks, (struct pems_request *const *)&r, 1);
}

static struct pems_block new_block(struct probe *p) {
  struct pems_block block;
  struct pems_error e;
  if (pems_block_new(p->disks, &p->dealer, p->n, &block, &e)) {
    give_up(&e);
  }
  return block;
}

/* Seconds to copy the blocks: half of the buffers are read into while the other
   half is written. With `from` NULL they are only written, and left in `to`. */
static double copy_blocks(struct probe *p, const struct pems_block *from,
                          struct pems_block *to, size_t blocks) {
  const size_t lag = from ? BLOCKS / 2 : 0;
  const double start = now();
  for (size_t i = 0; i < blocks + lag; i++) {
    if (i < blocks) {
      finish(p, i);
      if (from) {
        begin(p, i, from[i], 0);
      }
    }
    if (i >= lag) {
      if (from) {
        finish(p, i - lag);
      }
      to[i - lag] = new_block(p);
      begin(p, i - lag, to[i - lag], 1);
    }
  }
  for (size_t i = 0; i < BLOCKS; i++) {
    finish(p, i);
  }
  memset(p->request, 0, sizeof(p->request));
  return now() - start;
}

/* Seconds that the disks need to read and write all twice, as a sort does. */
static double measure_disk(const struct job *j, size_t n) {
  struct probe p = {.n = n, .buf = aligned_alloc((size_t)2 << 20, BLOCKS * n)};
  struct pems_error e;
  const size_t blocks = (size_t)(j->bytes / n > BLOCKS ? j->bytes / n : BLOCKS);
  struct pems_block *const a = calloc(blocks, sizeof(*a));
  struct pems_block *const b = calloc(blocks, sizeof(*b));
  if (!p.buf || !a || !b || pems_disks_open(&p.disks, &j->o.scratch, &e)) {
    give_up(&e);
  }
  memset(p.buf, 1, BLOCKS * n);
  pems_dealer_begin(&p.dealer, PEMS_DEAL_CYCLIC, 1);
  copy_blocks(&p, NULL, a, blocks);
  const double there = copy_blocks(&p, a, b, blocks);
  for (size_t i = 0; i < blocks; i++) {
    pems_block_free(p.disks, a[i], n);
  }
  const double back = copy_blocks(&p, b, a, blocks);
  pems_disks_close(p.disks);
  free(a);
  free(b);
  free(p.buf);
  return (there + back) * (double)j->bytes / (double)(blocks * n);
}

/* --- options --- */

static int set(struct job *j, const char *name, const char *value) {
  struct pems_sort_options *const o = &j->o;
  const int n = atoi(value);
  if (!strcmp(name, "threads")) {
    o->threads = n;
  } else if (!strcmp(name, "block")) {
    o->block = strtoull(value, NULL, 0);
  } else if (!strcmp(name, "io")) {
    o->scratch.io = value;
  } else if (!strcmp(name, "depth")) {
    o->scratch.depth = n;
  } else if (!strcmp(name, "disks")) {
    o->scratch.count = n < MOST_DISKS ? n : MOST_DISKS;
  } else if (!strcmp(name, "runs")) {
    o->runs = strcmp(value, "long") ? PEMS_RUNS_HALF : PEMS_RUNS_LONG;
  } else if (!strcmp(name, "fetch")) {
    o->fetch = strcmp(value, "naive") ? PEMS_FETCH_OPTIMAL : PEMS_FETCH_NAIVE;
  } else if (!strcmp(name, "deal")) {
    o->deal = !strcmp(value, "stripe")   ? PEMS_DEAL_STRIPE
              : !strcmp(value, "random") ? PEMS_DEAL_RANDOM
                                         : PEMS_DEAL_CYCLIC;
  } else if (!strcmp(name, "kernel")) {
    o->kernel = value;
  } else if (!strcmp(name, "read_buffers")) {
    o->read_buffers = n;
  } else if (!strcmp(name, "write_buffers")) {
    o->write_buffers = n;
  } else if (!strcmp(name, "prefetch_buffers")) {
    o->prefetch_buffers = n;
  } else if (!strcmp(name, "limit")) {
    j->measure = n;
  } else if (!strcmp(name, "files")) {
    j->files = n;
  } else {
    return -1;
  }
  return 0;
}

static void usage(void) {
  fprintf(stderr, "usage: sort DIR u32|u64|pair|record COUNT MEMORY "
                  "[NAME=VALUE ...]\n");
  exit(2);
}

static void read_options(struct job *j, int argc, char **argv) {
  if (argc < 5 || find_type(argv[2], &j->o.record)) {
    usage();
  }
  j->dir = argv[1];
  j->bytes = strtoull(argv[3], NULL, 0) * j->o.record.size;
  j->o.memory = strtoull(argv[4], NULL, 0);
  j->o.scratch.count = 1;
  j->measure = j->files = 1;
  for (int i = 5; i < argc; i++) {
    char *const value = strchr(argv[i], '=');
    if (!value) {
      usage();
    }
    *value = 0;
    if (set(j, argv[i], value + 1)) {
      usage();
    }
  }
  for (int i = 0; i < j->o.scratch.count; i++) {
    j->path[i] = j->dir;
  }
  j->o.scratch.path = j->path;
  snprintf(j->from, sizeof(j->from), "%s/sort-bench.in", j->dir);
  snprintf(j->to, sizeof(j->to), "%s/sort-bench.out", j->dir);
}

/* --- results --- */

static bool verified(const struct job *j) {
  struct pems_sort_check from, to;
  struct pems_error e;
  if (pems_sort_check_file(j->from, &j->o, &from, &e) ||
      pems_sort_check_file(j->to, &j->o, &to, &e)) {
    give_up(&e);
  }
  return to.sorted && from.count == to.count && from.sum[0] == to.sum[0] &&
         from.sum[1] == to.sum[1];
}

static void print_phase(const char *name, const struct pems_sort_phase *p) {
  printf(" %s_seconds=%.3f %s_cpu=%.3f %s_read_wait=%.3f %s_write_wait=%.3f "
         "%s_read=%" PRIu64 " %s_written=%" PRIu64,
         name, p->seconds, name, p->cpu_seconds, name,
         (double)p->io.read_wait_ns / 1e9, name,
         (double)p->io.write_wait_ns / 1e9, name, p->io.bytes_read, name,
         p->io.bytes_written);
}

static double cpu(const struct rusage *u) {
  return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) +
         (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) / 1e6;
}

/* The sort's time beside the larger of what the disk needs for two reads and
   two writes, and what the processors needed. */
static void print_limit(const struct job *j, const struct pems_sort_counts *c,
                        double seconds) {
  const double disk = measure_disk(j, c->block);
  const double work = (c->form.cpu_seconds + c->merge.cpu_seconds) / c->threads;
  printf(" disk_seconds=%.3f cpu_limit=%.3f ratio_to_limit=%.3f", disk, work,
         seconds / (disk > work ? disk : work));
}

static void print(const struct job *j, const char *type,
                  const struct pems_sort_counts *c, double seconds, double used,
                  long rss, bool right) {
  const double stall =
      (double)(c->form.io.read_wait_ns + c->form.io.write_wait_ns +
               c->merge.io.read_wait_ns + c->merge.io.write_wait_ns) /
      1e9;
  printf("RESULT bench=sort method=pems type=%s records=%" PRIu64
         " memory=%" PRIu64 " seconds=%.3f cpu_seconds=%.3f "
         "cpu_ns_per_byte=%.3f",
         type, c->records, j->o.memory, seconds, used,
         used * 1e9 / (double)j->bytes);
  print_phase("form", &c->form);
  print_phase("merge", &c->merge);
  printf(" runs=%" PRIu64 " passes=%d block=%zu disks=%d threads=%d kernel=%s "
         "read_buffers=%d prefetch_buffers=%d write_buffers=%d "
         "memory_used=%" PRIu64 " peak_rss_mib=%ld stall_share=%.4f right=%d",
         c->runs, c->passes, c->block, c->disks, c->threads, c->kernel,
         c->read_buffers, c->prefetch_buffers, c->write_buffers, c->memory,
         rss >> 10, stall / seconds, right);
}

int main(int argc, char **argv) {
  struct job j = {0};
  struct pems_sort_counts c;
  struct pems_error e;
  struct rusage before, after;
  bool right = false;
  read_options(&j, argc, argv);
  if (j.files) {
    generate(&j);
  }
  getrusage(RUSAGE_SELF, &before);
  const double begin = now();
  if (!j.files) {
    right = stream(&j, &c);
  } else if (pems_sort_file(j.from, j.to, &j.o, &c, &e)) {
    give_up(&e);
  }
  const double seconds = now() - begin;
  getrusage(RUSAGE_SELF, &after);
  if (j.files) {
    right = verified(&j);
  }
  print(&j, argv[2], &c, seconds, cpu(&after) - cpu(&before), after.ru_maxrss,
        right);
  if (!j.files) {
    printf(" beside_cpu=%.3f", j.beside);
  }
  if (j.measure) {
    print_limit(&j, &c, seconds);
  }
  putchar('\n');
  unlink(j.from);
  unlink(j.to);
  return right ? 0 : 1;
}
