/* The priority queue under the workloads of Bingmann, Keh and Sanders 2015,
   section 4, and the sorter beside it:
 *
 *   pqueue DIR WORKLOAD COUNT MEMORY [NAME=VALUE ...]
 *
 * DIR is the disk, MEMORY the budget in bytes. Records are `size` bytes, the
 * first 8 are the key. WORKLOAD is
 *
 *   push-rand-pop   COUNT random records are pushed, then all are popped
 *   push-asc-pop    the same with numbers one after the other; order=down, the
 *                   default, is what STXXL's benchmark does: the last one first
 *   bulk-rewrite    COUNT records are pushed, then `bulk` at a time are popped
 *                   and as many larger ones pushed, until COUNT * rewrite have
 *                   been; only these cycles are timed
 *   asc-rbulk-rewrite  the same, bulks of a size below `bulk` at random
 *   limit-rewrite   the same, with the interface of limits
 *
 * Names: size (8), threads, bulk (640000), batch (1024, records that are pushed
 * in one call), push=bulk (plain: not in bulks), pop=bulk (one: one by one),
 * rewrite (0.5), queue=pqueue (sorter), block, io, depth, disks (files in DIR),
 * heap, extract_buffer, read_memory, arrays, external_arrays, kernel, seed.
 * Prints one RESULT line; what came out is verified. A failure is told in one
 * line, after the queue has been asked once more and freed: exit status 1, or 3
 * if it did not fail again. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <pems/pqueue.h>
#include <pems/sort.h>

#include "em/core/team.h"

enum { MOST_DISKS = 64, MOST_THREADS = 64, LINE = 8 };
enum keys { KEYS_RANDOM, KEYS_UP, KEYS_DOWN };

/* What came out, or went in. */
struct tally {
  uint64_t count, sum, last;
  int wrong;
};

struct job {
  const char *dir, *workload;
  struct pems_pqueue_options o;
  size_t words; /* of 8 bytes, in a record */
  uint64_t n, bulk, batch;
  double rewrite;
  int down, plain, one, sorter;
  const char *path[MOST_DISKS];

  struct pems_pqueue *q;
  struct team *team;
  uint64_t *out;                         /* `bulk` records that were popped */
  uint64_t *in[MOST_THREADS];            /* `batch` to be pushed, of a thread */
  uint64_t random[MOST_THREADS][LINE];   /* generators, a cache line each */
  struct tally pushed[MOST_THREADS + 1]; /* the last: of all */
  struct tally popped;

  enum keys keys; /* of what is being pushed */
  uint64_t first; /* the number of its first record */
  uint64_t part;  /* how many */

  double push_seconds, pop_seconds, seconds; /* the latter is reported */
  uint64_t moved; /* records that came or went meanwhile */
  struct pems_pqueue_counts before, after;
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Marsaglia's xorshift64: the same numbers for all that are compared. */
static uint64_t next_random(uint64_t *state) {
  uint64_t x = *state;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return *state = x;
}

/* The first failure is what is told, and it lasts. */
static void give_up(struct job *j, const struct pems_error *e) {
  static const uint64_t record[PEMS_RECORD_MOST / 8];
  const struct pems_error first = *e;
  int again = first.code;
  if (j->q) {
    again = pems_pqueue_push(j->q, record, 1, NULL);
  }
  pems_pqueue_free(j->q);
  fprintf(stderr, "pqueue: %s\n", first.text);
  if (again != first.code) {
    fprintf(stderr, "pqueue: then another error: %d\n", again);
  }
  exit(again == first.code ? 1 : 3);
}

/* --- records --- */

/* Records first to first + n, all of the same kind, to `to`. */
static void make(struct job *j, int thread, uint64_t first, size_t n) {
  uint64_t *to = j->in[thread], sum = 0;
  uint64_t *const random = j->random[thread];
  for (size_t i = 0; i < n; i++) {
    const uint64_t key = j->keys == KEYS_RANDOM ? next_random(random)
                         : j->keys == KEYS_UP   ? first + i
                                                : j->n - 1 - first - i;
    for (size_t w = 0; w < j->words; w++) {
      *to++ = key + w;
    }
    sum += key;
  }
  j->pushed[thread].sum += sum;
  j->pushed[thread].count += n;
}

static void look(struct job *j, const uint64_t *record, size_t n) {
  struct tally *const t = &j->popped;
  uint64_t last = t->last, sum = 0;
  bool wrong = false;
  for (size_t i = 0; i < n; i++, record += j->words) {
    wrong |= record[0] < last;
    last = record[0];
    sum += last;
    for (size_t w = 1; w < j->words; w++) {
      wrong |= record[w] != last + w;
    }
  }
  t->last = last;
  t->sum += sum;
  t->count += n;
  t->wrong |= wrong;
}

/* All that was pushed was popped, in order. */
static bool right(const struct job *j) {
  uint64_t count = 0, sum = 0;
  for (int i = 0; i <= MOST_THREADS; i++) {
    count += j->pushed[i].count;
    sum += j->pushed[i].sum;
  }
  return !j->popped.wrong && j->popped.count == count && j->popped.sum == sum;
}

/* --- pushing and popping --- */

/* The part of a bulk that is this thread's. */
static void push_part(void *arg, int task, int member) {
  struct job *const j = arg;
  const int threads = team_size(j->team);
  const uint64_t end = j->part * (uint64_t)(task + 1) / (uint64_t)threads;
  uint64_t at = j->part * (uint64_t)task / (uint64_t)threads;
  struct pems_error e;
  (void)member;
  for (size_t n; at < end; at += n) {
    n = (size_t)(end - at < j->batch ? end - at : j->batch);
    make(j, task, j->first + at, n);
    /* push_end tells. */
    if (pems_pqueue_bulk_push(j->q, task, j->in[task], n, &e)) {
      return;
    }
  }
}

static void push_in_bulk(struct job *j, uint64_t n, uint64_t estimate) {
  struct pems_error e;
  j->part = n;
  if (pems_pqueue_bulk_push_begin(j->q, estimate, &e)) {
    give_up(j, &e);
  }
  team_run(j->team, team_size(j->team), push_part, j);
  if (pems_pqueue_bulk_push_end(j->q, &e)) {
    give_up(j, &e);
  }
  j->first += n;
}

static void push_plain(struct job *j, uint64_t n) {
  struct pems_error e;
  for (uint64_t i = 0, step; i < n; i += step) {
    step = n - i < j->batch ? n - i : j->batch;
    make(j, 0, j->first, (size_t)step);
    if (pems_pqueue_push(j->q, j->in[0], (size_t)step, &e)) {
      give_up(j, &e);
    }
    j->first += step;
  }
}

static void push_all(struct job *j) {
  const double begin = now();
  for (uint64_t i = 0, n; i < j->n; i += n) {
    n = j->n - i < j->bulk ? j->n - i : j->bulk;
    if (j->plain) {
      push_plain(j, n);
    } else {
      push_in_bulk(j, n, n);
    }
  }
  j->push_seconds = now() - begin;
}

static size_t pop_bulk(struct job *j, size_t max) {
  struct pems_error e;
  size_t n;
  if (pems_pqueue_bulk_pop(j->q, j->out, max, &n, &e)) {
    give_up(j, &e);
  }
  look(j, j->out, n);
  return n;
}

static void pop_all(struct job *j) {
  struct pems_error e;
  const double begin = now();
  if (j->one) {
    for (uint64_t i = pems_pqueue_size(j->q); i > 0; i--) {
      if (pems_pqueue_pop(j->q, j->out, &e)) {
        give_up(j, &e);
      }
      look(j, j->out, 1);
    }
  } else {
    while (pop_bulk(j, (size_t)j->bulk) > 0)
      ;
  }
  j->pop_seconds = now() - begin;
}

/* --- workloads --- */

static void push_pop(struct job *j) {
  pems_pqueue_counts(j->q, &j->before);
  push_all(j);
  pop_all(j);
  pems_pqueue_counts(j->q, &j->after);
  j->seconds = j->push_seconds + j->pop_seconds;
  j->moved = 2 * j->n;
}

static void bulk_cycle(struct job *j, uint64_t n) {
  const uint64_t expected = j->popped.count;
  const size_t got = pop_bulk(j, (size_t)n);
  if (got > 0 && (j->out[0] != expected ||
                  j->out[(got - 1) * j->words] != expected + got - 1)) {
    j->popped.wrong = 1;
  }
  if (j->plain) {
    push_plain(j, got);
  } else {
    push_in_bulk(j, got, n);
  }
}

/* As a simulation would, one after the other. */
static void limit_cycle(struct job *j, uint64_t n) {
  uint64_t limit[PEMS_RECORD_MOST / 8] = {j->popped.count + n};
  struct pems_error e = {.code = 0};
  const uint64_t *top;
  if (pems_pqueue_limit_begin(j->q, limit, n, &e)) {
    give_up(j, &e);
  }
  while ((top = pems_pqueue_limit_top(j->q, &e))) {
    look(j, top, 1);
    make(j, 0, j->first++, 1);
    if (pems_pqueue_limit_pop(j->q, NULL, &e) ||
        pems_pqueue_limit_push(j->q, j->in[0], 1, &e)) {
      give_up(j, &e);
    }
  }
  if (e.code || pems_pqueue_limit_end(j->q, &e)) {
    give_up(j, &e);
  }
  if (j->popped.count != limit[0]) {
    j->popped.wrong = 1;
  }
}

static void rewrite_records(struct job *j, bool random, bool limits) {
  uint64_t state = 88172645463325252;
  const uint64_t whole = (uint64_t)((double)j->n * j->rewrite);
  j->keys = KEYS_UP;
  double begin = now();
  if (j->plain) {
    push_plain(j, j->n);
  } else {
    push_in_bulk(j, j->n, j->n);
  }
  j->push_seconds = now() - begin;
  pems_pqueue_counts(j->q, &j->before);
  begin = now();
  for (uint64_t done = 0, n; done < whole; done += n) {
    n = random ? (next_random(&state) >> 11) % j->bulk : j->bulk;
    n = n < j->n ? n : j->n;
    (limits ? limit_cycle : bulk_cycle)(j, n);
  }
  j->seconds = now() - begin;
  pems_pqueue_counts(j->q, &j->after);
  j->moved = 2 * j->popped.count;
  pop_all(j);
}

/* The same records through the sorter. */
static void sort_records(struct job *j) {
  struct pems_sort_options o = {.record = j->o.record,
                                .memory = j->o.memory,
                                .threads = j->o.threads,
                                .block = j->o.block,
                                .scratch = j->o.scratch,
                                .kernel = j->o.kernel,
                                .count = j->n};
  struct pems_sorter *sorter;
  struct pems_error e;
  const void *records;
  size_t n;
  int code = pems_sorter_new(&sorter, &o, &e);
  const double begin = now();
  for (uint64_t i = 0; i < j->n && !code; i += n) {
    n = (size_t)(j->n - i < j->batch ? j->n - i : j->batch);
    make(j, 0, i, n);
    code = pems_sorter_push(sorter, j->in[0], n, &e);
  }
  if (code || pems_sorter_finish(sorter, &e)) {
    give_up(j, &e);
  }
  j->push_seconds = now() - begin;
  do {
    if (pems_sorter_pull(sorter, &records, &n, &e)) {
      give_up(j, &e);
    }
    look(j, records, n);
  } while (n > 0);
  j->seconds = now() - begin;
  j->pop_seconds = j->seconds - j->push_seconds;
  j->moved = 2 * j->n;
  pems_sorter_free(sorter);
}

/* 0, or -1 if there is no such workload. */
static int run(struct job *j) {
  const char *const w = j->workload;
  if (!strcmp(w, "push-rand-pop") || !strcmp(w, "push-asc-pop")) {
    j->keys = w[5] == 'r' ? KEYS_RANDOM : j->down ? KEYS_DOWN : KEYS_UP;
    (j->sorter ? sort_records : push_pop)(j);
  } else if (j->sorter) {
    return -1;
  } else if (!strcmp(w, "bulk-rewrite")) {
    rewrite_records(j, false, false);
  } else if (!strcmp(w, "asc-rbulk-rewrite")) {
    rewrite_records(j, true, false);
  } else if (!strcmp(w, "limit-rewrite")) {
    rewrite_records(j, false, true);
  } else {
    return -1;
  }
  return 0;
}

/* --- options --- */

static int set_queue(struct pems_pqueue_options *o, const char *name,
                     const char *value) {
  const uint64_t n = strtoull(value, NULL, 0);
  if (!strcmp(name, "threads")) {
    o->threads = (int)n;
  } else if (!strcmp(name, "size")) {
    o->record.size = n;
  } else if (!strcmp(name, "block")) {
    o->block = n;
  } else if (!strcmp(name, "io")) {
    o->scratch.io = value;
  } else if (!strcmp(name, "depth")) {
    o->scratch.depth = (int)n;
  } else if (!strcmp(name, "disks")) {
    o->scratch.count = n < MOST_DISKS ? (int)n : MOST_DISKS;
  } else if (!strcmp(name, "heap")) {
    o->heap = n;
  } else if (!strcmp(name, "extract_buffer")) {
    o->extract_buffer = n;
  } else if (!strcmp(name, "read_memory")) {
    o->read_memory = n;
  } else if (!strcmp(name, "arrays")) {
    o->arrays = (int)n;
  } else if (!strcmp(name, "external_arrays")) {
    o->external_arrays = (int)n;
  } else if (!strcmp(name, "kernel")) {
    o->kernel = value;
  } else {
    return -1;
  }
  return 0;
}

static int set(struct job *j, const char *name, const char *value) {
  const uint64_t n = strtoull(value, NULL, 0);
  if (!strcmp(name, "bulk")) {
    j->bulk = n;
  } else if (!strcmp(name, "batch")) {
    j->batch = n;
  } else if (!strcmp(name, "rewrite")) {
    j->rewrite = strtod(value, NULL);
  } else if (!strcmp(name, "order")) {
    j->down = strcmp(value, "up") != 0;
  } else if (!strcmp(name, "push")) {
    j->plain = strcmp(value, "bulk") != 0;
  } else if (!strcmp(name, "pop")) {
    j->one = strcmp(value, "bulk") != 0;
  } else if (!strcmp(name, "queue")) {
    j->sorter = strcmp(value, "pqueue") != 0;
  } else if (!strcmp(name, "seed")) {
    j->o.seed = n;
  } else {
    return set_queue(&j->o, name, value);
  }
  return 0;
}

static void usage(void) {
  fprintf(stderr,
          "usage: pqueue DIR push-rand-pop|push-asc-pop|asc-rbulk-rewrite|"
          "bulk-rewrite|limit-rewrite COUNT MEMORY [NAME=VALUE ...]\n");
  exit(2);
}

static void read_options(struct job *j, int argc, char **argv) {
  if (argc < 5) {
    usage();
  }
  *j = (struct job){.dir = argv[1],
                    .workload = argv[2],
                    .n = strtoull(argv[3], NULL, 0),
                    .bulk = 640000,
                    .batch = 1024,
                    .rewrite = 0.5,
                    .down = 1};
  j->o = (struct pems_pqueue_options){
      .record = {.size = 8, .key = PEMS_KEY_U64},
      .memory = strtoull(argv[4], NULL, 0),
      .threads = 2,
      .scratch = {.path = j->path, .count = 1},
  };
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
  for (int i = 0; i < MOST_DISKS; i++) {
    j->path[i] = j->dir;
  }
  j->words = j->o.record.size / 8;
  if (j->words < 1 || j->o.record.size % 8 || j->batch < 1 || j->bulk < 1 ||
      j->o.threads < 1 || j->o.threads > MOST_THREADS) {
    usage();
  }
}

/* --- results --- */

static double cpu(void) {
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
         (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void print_counts(const struct job *j) {
  const struct pems_pqueue_counts *const a = &j->before, *const c = &j->after;
  printf(" read=%" PRIu64 " written=%" PRIu64 " reads=%" PRIu64
         " writes=%" PRIu64 " read_wait=%.3f write_wait=%.3f "
         "flush_seconds=%.3f queue_cpu=%.3f",
         c->io.bytes_read - a->io.bytes_read,
         c->io.bytes_written - a->io.bytes_written, c->io.reads - a->io.reads,
         c->io.writes - a->io.writes,
         (double)(c->io.read_wait_ns - a->io.read_wait_ns) / 1e9,
         (double)(c->io.write_wait_ns - a->io.write_wait_ns) / 1e9,
         c->flush_seconds - a->flush_seconds, c->cpu_seconds - a->cpu_seconds);
  printf(" sorted_arrays=%" PRIu64 " internal_merges=%" PRIu64
         " flushes=%" PRIu64 " external_merges=%" PRIu64 " refills=%" PRIu64
         " hints=%" PRIu64 " cancelled=%" PRIu64
         " block=%zu disks=%d kernel=%s memory_used=%" PRIu64,
         c->sorted_arrays, c->internal_merges, c->flushes, c->external_merges,
         c->refills, c->hints, c->cancelled, c->block, c->disks, c->kernel,
         c->memory);
}

/* Of the whole run, for tests that want to know how many can fail. */
static void print_requests(const struct job *j) {
  struct pems_pqueue_counts c;
  pems_pqueue_counts(j->q, &c);
  printf(" all_reads=%" PRIu64 " all_writes=%" PRIu64, c.io.reads, c.io.writes);
}

static void print(const struct job *j, double used) {
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  const double bytes = (double)j->moved * (double)j->o.record.size;
  printf("RESULT bench=pqueue queue=%s workload=%s records=%" PRIu64
         " size=%zu memory=%" PRIu64 " threads=%d bulk=%" PRIu64
         " batch=%" PRIu64 " push=%s pop=%s order=%s moved=%" PRIu64
         " push_seconds=%.3f pop_seconds=%.3f seconds=%.3f "
         "mib_per_second=%.1f cpu_seconds=%.3f peak_rss_mib=%ld",
         j->sorter ? "pems-sorter" : "pems", j->workload, j->n,
         j->o.record.size, j->o.memory, j->o.threads, j->bulk, j->batch,
         j->plain ? "plain" : "bulk", j->one ? "one" : "bulk",
         j->down ? "down" : "up", j->moved, j->push_seconds, j->pop_seconds,
         j->seconds, bytes / j->seconds / (1 << 20), used, u.ru_maxrss >> 10);
  if (!j->sorter) {
    print_counts(j);
    print_requests(j);
  }
  printf(" right=%d\n", right(j));
}

static void *need(void *p) {
  if (!p) {
    perror("pqueue: memory");
    exit(1);
  }
  return p;
}

int main(int argc, char **argv) {
  static struct job j;
  struct pems_error e;
  read_options(&j, argc, argv);
  for (int i = 0; i < j.o.threads; i++) {
    j.random[i][0] =
        UINT64_C(0x9e3779b97f4a7c15) * (j.o.seed + (uint64_t)i + 1);
    j.in[i] = need(malloc(j.batch * j.o.record.size));
  }
  j.out = need(malloc(j.bulk * j.o.record.size));
  if (team_new(&j.team, j.o.threads)) {
    fprintf(stderr, "pqueue: no threads\n");
    return 1;
  }
  if (!j.sorter && pems_pqueue_new(&j.q, &j.o, &e)) {
    give_up(&j, &e);
  }
  const double used = cpu();
  if (run(&j)) {
    usage();
  }
  print(&j, cpu() - used);
  pems_pqueue_free(j.q);
  team_free(j.team);
  return right(&j) ? 0 : 1;
}
