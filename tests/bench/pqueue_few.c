/* Bulk pops of few records beside pops one by one, in one process:
 *
 *   pqueue_few DIR COUNT MEMORY [WAY ...]
 *
 * COUNT random records of 8 bytes are pushed to a queue of MEMORY bytes on the
 * disk DIR, then all are popped, in one WAY after the other:
 *
 *   one        pems_pqueue_pop
 *   bulk:N     pems_pqueue_bulk_pop of N at a time
 *   limit:N    pems_pqueue_bulk_pop_limit of 100,000 at most, where about N are
 *              before the limit
 *
 * or in all usual ones. Prints one RESULT line for each: nanoseconds of a pop,
 * and, because others use the processor, too, those of the processor (all
 * threads), with the ratio to the first way. What comes out is verified: status
 * 1 if it is wrong. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <pems/pqueue.h>

#define MOST ((size_t)100000)

struct job {
  const char *dir;
  uint64_t n, memory;
  struct pems_pqueue *q;
  uint64_t *out; /* MOST */
  uint64_t pushed_sum, sum, count, last, calls;
  int wrong;
};

static _Noreturn void give_up(const char *what) {
  fprintf(stderr, "pqueue_few: %s\n", what);
  exit(1);
}

static void must(int code, const struct pems_error *e) {
  if (code) {
    give_up(e->text);
  }
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double cpu(void) {
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
         (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void push_all(struct job *j) {
  uint64_t state = UINT64_C(0x9e3779b97f4a7c15);
  struct pems_error e;
  for (uint64_t i = 0, n; i < j->n; i += n) {
    n = j->n - i < MOST ? j->n - i : MOST;
    for (uint64_t k = 0; k < n; k++) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      j->out[k] = state;
      j->pushed_sum += state;
    }
    must(pems_pqueue_push(j->q, j->out, n, &e), &e);
  }
}

static void look(struct job *j, size_t n) {
  for (size_t i = 0; i < n; i++) {
    j->wrong |= j->out[i] < j->last;
    j->last = j->out[i];
    j->sum += j->last;
  }
  j->count += n;
  j->calls++;
}

static void pop_one(struct job *j) {
  struct pems_error e;
  for (uint64_t i = 0; i < j->n; i++) {
    must(pems_pqueue_pop(j->q, j->out, &e), &e);
    look(j, 1);
  }
}

static void pop_bulk(struct job *j, size_t bulk) {
  struct pems_error e;
  size_t n;
  do {
    must(pems_pqueue_bulk_pop(j->q, j->out, bulk, &n, &e), &e);
    look(j, n);
  } while (n > 0);
}

static void pop_limit(struct job *j, uint64_t few) {
  const uint64_t step = UINT64_MAX / j->n * few;
  uint64_t limit = 0;
  struct pems_error e;
  while (limit < UINT64_MAX) {
    size_t n;
    int more = 1;
    limit = limit < UINT64_MAX - step ? limit + step : UINT64_MAX;
    while (more) {
      must(
          pems_pqueue_bulk_pop_limit(j->q, &limit, j->out, MOST, &n, &more, &e),
          &e);
      look(j, n);
      j->wrong |= n > 0 && j->last >= limit;
    }
  }
  pop_bulk(j, MOST);
}

static uint64_t number_in(const char *way, const char *prefix) {
  const size_t n = strlen(prefix);
  return strncmp(way, prefix, n) == 0 ? strtoull(way + n, NULL, 10) : 0;
}

static void pop_all(struct job *j, const char *way) {
  const uint64_t bulk = number_in(way, "bulk:"), few = number_in(way, "limit:");
  if (strcmp(way, "one") == 0) {
    pop_one(j);
  } else if (bulk > 0 && bulk <= MOST) {
    pop_bulk(j, bulk);
  } else if (few > 0 && few <= j->n) {
    pop_limit(j, few);
  } else {
    give_up("ways: one, bulk:N, limit:N");
  }
}

/* Nanoseconds of the processor for each pop. */
static double measure(struct job *j, const char *way, double first) {
  const struct pems_pqueue_options o = {
      .record = {.size = 8, .key = PEMS_KEY_U64},
      .memory = j->memory,
      .threads = 2,
      .scratch = {.path = &j->dir, .count = 1},
  };
  struct pems_pqueue_counts c;
  struct pems_error e;
  j->pushed_sum = j->sum = j->count = j->last = j->calls = 0;
  must(pems_pqueue_new(&j->q, &o, &e), &e);
  push_all(j);
  const double begin = now(), used = cpu();
  pop_all(j, way);
  const double ns = (now() - begin) / (double)j->n * 1e9;
  const double cpu_ns = (cpu() - used) / (double)j->n * 1e9;
  pems_pqueue_counts(j->q, &c);
  pems_pqueue_free(j->q);
  j->wrong |= j->count != j->n || j->sum != j->pushed_sum;
  printf("RESULT bench=pqueue_few way=%s records=%" PRIu64 " memory=%" PRIu64
         " calls=%" PRIu64 " ns=%.1f cpu_ns=%.1f ratio=%.2f refills=%" PRIu64
         " read=%" PRIu64 " right=%d\n",
         way, j->n, j->memory, j->calls, ns, cpu_ns,
         first > 0 ? cpu_ns / first : 1, c.refills, c.io.bytes_read, !j->wrong);
  fflush(stdout);
  return cpu_ns;
}

int main(int argc, char **argv) {
  static const char *const usual[] = {"one",         "bulk:1",     "bulk:2",
                                      "bulk:8",      "bulk:64",    "bulk:1000",
                                      "bulk:100000", "limit:1",    "limit:8",
                                      "limit:64",    "limit:1000", "one"};
  struct job j = {0};
  double first = 0;
  if (argc < 4) {
    give_up("usage: pqueue_few DIR COUNT MEMORY [WAY ...]");
  }
  j.dir = argv[1];
  j.n = strtoull(argv[2], NULL, 0);
  j.memory = strtoull(argv[3], NULL, 0);
  j.out = malloc(MOST * sizeof(*j.out));
  if (!j.out || j.n == 0) {
    give_up("COUNT: give 1 or more");
  }
  const int all = (int)(sizeof(usual) / sizeof(*usual));
  const int ways = argc > 4 ? argc - 4 : all;
  for (int i = 0; i < ways; i++) {
    const double ns = measure(&j, argc > 4 ? argv[4 + i] : usual[i], first);
    first = i == 0 ? ns : first;
  }
  free(j.out);
  return j.wrong;
}
