#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/counters.h"
#include "base/message.h"
#include "os/clock.h"
#include "wrappers/measure.h"

/* --- handing on a turn --- */

enum { THREADS = 16, TURNS = 4000 };

static struct {
  pthread_mutex_t lock;
  pthread_cond_t wake[THREADS];
  int turn; /* counts up: that of thread turn % THREADS */
} ring;

static void *take_turns(void *number) {
  const int me = (int)(intptr_t)number;
  pthread_mutex_lock(&ring.lock);
  while (ring.turn < TURNS) {
    if (ring.turn % THREADS == me) {
      ring.turn++;
      pthread_cond_signal(&ring.wake[ring.turn % THREADS]);
    } else {
      pthread_cond_wait(&ring.wake[me], &ring.lock);
    }
  }
  pthread_cond_signal(&ring.wake[(me + 1) % THREADS]); /* all shall end */
  pthread_mutex_unlock(&ring.lock);
  return NULL;
}

double measure_turn(void) {
  pthread_t thread[THREADS];
  pthread_mutex_init(&ring.lock, NULL);
  ring.turn = 0;
  for (int i = 0; i < THREADS; i++) {
    pthread_cond_init(&ring.wake[i], NULL);
  }
  const uint64_t start = clock_ns();
  for (intptr_t i = 0; i < THREADS; i++) {
    if (pthread_create(&thread[i], NULL, take_turns, (void *)i)) {
      msg_fail(MSG_FAILED, "measuring a superstep: no thread could be started");
    }
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(thread[i], NULL);
  }
  return (double)(clock_ns() - start) * 1e-9 / TURNS;
}

/* --- computing --- */

#define MOST_ELEMENTS (UINT64_C(8) << 20) /* more are no slower */
#define LEAST_ELEMENTS (UINT64_C(1) << 16)
#define TRIALS 3

static uint64_t sample_of(uint64_t n) {
  if (n > MOST_ELEMENTS) {
    return MOST_ELEMENTS;
  }
  return n > LEAST_ELEMENTS ? n : LEAST_ELEMENTS;
}

/* Memory as a context has it, not touched yet. */
static uint32_t *fresh(uint64_t n) {
  void *const p = mmap(NULL, n * sizeof(uint32_t), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) {
    msg_fail(MSG_FAILED, "measuring the cores: %llu bytes: out of memory",
             (unsigned long long)n * sizeof(uint32_t));
  }
  (void)madvise(p, n * sizeof(uint32_t), MADV_HUGEPAGE);
  return p;
}

static void drop(uint32_t *p, uint64_t n) {
  munmap(p, n * sizeof(*p));
}

static uint64_t mix(uint64_t x) { /* splitmix64 */
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/* So that the compiler cannot leave out what is measured. */
static volatile uint64_t result;

enum { BITS = 11, DIGITS = 1 << BITS, PASSES = 3 };

static unsigned digit_of(uint32_t key, int pass) {
  return (key >> (pass * BITS)) & (DIGITS - 1);
}

/* Least significant digit first, as in apps/psrs.c. Returns where the sorted
   keys are. */
static uint32_t *sort(uint32_t *from, uint32_t *to, uint64_t n,
                      uint32_t range) {
  static uint32_t place[PASSES][DIGITS];
  memset(place, 0, sizeof(place));
  for (uint64_t i = 0; i < n; i++) {
    for (int pass = 0; pass < PASSES; pass++) {
      place[pass][digit_of(from[i], pass)]++;
    }
  }
  for (int pass = 0; pass < PASSES && range >> (pass * BITS); pass++) {
    uint32_t sum = 0;
    for (int d = 0; d < DIGITS; d++) {
      const uint32_t count = place[pass][d];
      place[pass][d] = sum;
      sum += count;
    }
    for (uint64_t i = 0; i < n; i++) {
      to[place[pass][digit_of(from[i], pass)]++] = from[i];
    }
    uint32_t *const sorted = to;
    to = from;
    from = sorted;
  }
  return from;
}

/* A rank's share: made, summed up, sorted. */
static void make_and_sort(uint64_t n) {
  uint32_t *const to = fresh(n), *const from = fresh(n);
  uint64_t sum = 0;
  for (uint64_t i = 0; i < n; i++) {
    from[i] = (uint32_t)(mix(i) >> 32);
    sum += mix(from[i]);
  }
  result = sum + sort(from, to, n, UINT32_MAX)[n / 2];
  drop(from, n);
  drop(to, n);
}

/* What came: pieces in order, close together. Sorted and looked at. */
static double sort_and_check(uint64_t n, int v) {
  uint32_t *const to = fresh(n), *const from = fresh(n);
  const uint32_t range = UINT32_MAX / (uint32_t)v;
  const uint64_t piece = n / (uint64_t)v ? n / (uint64_t)v : 1;
  for (uint64_t i = 0; i < n; i++) {
    from[i] = (uint32_t)((double)(i % piece) / (double)piece * range);
  }
  const uint64_t start = clock_ns();
  const uint32_t *const sorted = sort(from, to, n, range);
  uint64_t sum = 0;
  for (uint64_t i = 0; i < n; i++) {
    sum += mix(sorted[i]) + (i && sorted[i - 1] > sorted[i]);
  }
  result = sum;
  const uint64_t took = clock_ns() - start;
  drop(from, n);
  drop(to, n);
  return (double)took;
}

static struct measure_computing time_psrs(uint64_t n, int v) {
  const uint64_t start = clock_ns();
  make_and_sort(n);
  const double first = (double)(clock_ns() - start);
  return (struct measure_computing){first * 1e-9 / (double)n,
                                    sort_and_check(n, v) * 1e-9 / (double)n};
}

/* The end is in memory that might be overwritten, as counts of messages are: no
   loop of them is vectorized. */
static void fill(uint32_t *out, const uint32_t *n) {
  for (uint32_t i = 0; i < *n; i++) {
    out[i] = 2654435761u ^ i;
  }
}

static uint64_t count_wrong(const uint32_t *in, const uint32_t *n,
                            uint32_t *wrong) {
  for (uint32_t i = 0; i < *n; i++) {
    *wrong += in[i] != (2654435761u ^ i);
  }
  return *wrong;
}

static struct measure_computing time_alltoallv(uint64_t n, int v) {
  (void)v;
  uint32_t counts[2] = {(uint32_t)n, 0};
  const uint64_t start = clock_ns();
  uint32_t *const memory = fresh(n);
  fill(memory, &counts[0]);
  const uint64_t filled = clock_ns();
  result = count_wrong(memory, &counts[0], &counts[1]);
  const uint64_t checked = clock_ns();
  drop(memory, n);
  return (struct measure_computing){(double)(filled - start) * 1e-9 / (double)n,
                                    (double)(checked - filled) * 1e-9 /
                                        (double)n};
}

/* The best of a few: what else runs only makes it longer. */
static struct measure_computing
best(struct measure_computing (*time)(uint64_t n, int v), uint64_t n, int v) {
  struct measure_computing least = time(sample_of(n), v);
  for (int i = 1; i < TRIALS; i++) {
    const struct measure_computing c = time(sample_of(n), v);
    least.first = c.first < least.first ? c.first : least.first;
    least.last = c.last < least.last ? c.last : least.last;
  }
  return least;
}

struct measure_computing measure_psrs(uint64_t n, int v) {
  return best(time_psrs, n, v);
}

struct measure_computing measure_alltoallv(uint64_t n, int v) {
  return best(time_alltoallv, n, v);
}
