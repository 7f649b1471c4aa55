/* Parallel Sorting by Regular Sampling (Shi and Schaeffer, 1992).

   Sorts n 32-bit keys with v ranks in four supersteps:
     1. every rank sorts its share and sends v regular samples to rank 0;
     2. rank 0 sorts the samples and broadcasts v - 1 of them, the pivots;
     3. every rank cuts its sorted share at the pivots and tells each rank how
        many keys it will send;
     4. the keys are exchanged, and every rank sorts what it received.
   One more superstep proves the result.

   Keys are made distinct by their place (rank, index), so the bound of the
   paper, no rank receives more than about 2n/v keys, holds for any input,
   equal keys included.

   A plain MPI program. It frees what it can before each communication call: a
   rank holds its share there, and twice that while sorting and exchanging. */
#include <inttypes.h>
#include <limits.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keys.h"

#define ROOT 0

enum { EXIT_USAGE = 2 };

/* Shares are at most half of INT_MAX, so that what a rank receives can be
   counted in MPI's int. */
enum { SHARE_MAX = INT_MAX / 2 };

/* A sample's number, v * rank + its number there, must fit into 32 bits. */
enum { RANKS_MAX = 65535 };

struct job {
  struct key_source source;
  int rank;
  int ranks;
  bool verbose;
};

/* Lengths and starts of the pieces to and from every rank, in keys. */
struct pieces {
  int *send_count;
  int *send_start;
  int *recv_count;
  int *recv_start;
};

/* What a rank says about its part of the result; all fields are 64 bits wide
   because it travels as an array of them. */
struct summary {
  struct checksum before;
  struct checksum after;
  uint64_t sorted; /* 1 if its keys are in order */
  uint64_t first;  /* smallest and largest key, if it has any */
  uint64_t last;
};

struct verdict {
  int sorted;
  bool count_ok;
  bool checksum_ok;
  uint64_t largest; /* keys on the fullest rank */
};

/* Ends the program; MPI sees to the other ranks. */
static _Noreturn void fail(const struct job *job, const char *what,
                           uint64_t value, const char *advice) {
  fprintf(stderr, "psrs: rank %d: %s: %" PRIu64 ": %s\n", job->rank, what,
          value, advice);
  exit(EXIT_FAILURE);
}

/* Never returns NULL, not even for n == 0. */
static void *allocate(const struct job *job, uint64_t n, size_t size) {
  void *p = malloc((n > 0 ? n : 1) * size);
  if (p == NULL) {
    fail(job, "out of memory, bytes wanted", n * size, "use more ranks");
  }
  return p;
}

/* ---- Shares: n keys dealt evenly, the first n mod v ranks hold one more. */

static uint64_t share_size(const struct job *job, int rank) {
  const uint64_t ranks = (uint64_t)job->ranks;
  return job->source.n / ranks + ((uint64_t)rank < job->source.n % ranks);
}

static uint64_t share_start(const struct job *job, int rank) {
  const uint64_t rest = job->source.n % (uint64_t)job->ranks;
  const uint64_t longer = (uint64_t)rank < rest ? (uint64_t)rank : rest;
  return job->source.n / (uint64_t)job->ranks * (uint64_t)rank + longer;
}

static struct checksum generate(const struct job *job, uint32_t *keys,
                                uint64_t n) {
  const uint64_t start = share_start(job, job->rank);
  struct checksum sum = {0, 0, 0};
  for (uint64_t i = 0; i < n; i++) {
    keys[i] = key_at(&job->source, start + i);
    checksum_add(&sum, keys[i]);
  }
  return sum;
}

/* ---- Sorting within a rank: least significant digit first. */

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, PASSES = 3 };

static unsigned digit_of(uint32_t key, int pass) {
  return (key >> (pass * DIGIT_BITS)) & (DIGITS - 1);
}

/* Bits needed to write x. */
static int bit_width(uint32_t x) {
  return x == 0 ? 0 : 32 - __builtin_clz(x);
}

/* Moves the keys to their places by one digit; `place` holds how many keys have
   each value of the digit, and is used up. */
static void distribute(const uint32_t *from, uint32_t *to, uint64_t n,
                       uint32_t least, int pass, uint32_t *place) {
  uint32_t sum = 0;
  for (int d = 0; d < DIGITS; d++) {
    const uint32_t count = place[d];
    place[d] = sum;
    sum += count;
  }
  for (uint64_t i = 0; i < n; i++) {
    to[place[digit_of(from[i] - least, pass)]++] = from[i];
  }
}

/* Sorts the n keys of `from` into `to`; both are overwritten. Digits are those
   of the distance from the least key: after the exchange a rank's keys lie
   close together, and there is less to sort by. */
static void radix_sort(uint32_t *from, uint32_t *to, uint64_t n) {
  uint32_t least = UINT32_MAX;
  uint32_t most = 0;
  for (uint64_t i = 0; i < n; i++) {
    least = from[i] < least ? from[i] : least;
    most = from[i] > most ? from[i] : most;
  }

  uint32_t counts[PASSES][DIGITS];
  memset(counts, 0, sizeof(counts));
  for (uint64_t i = 0; i < n; i++) {
    for (int pass = 0; pass < PASSES; pass++) {
      counts[pass][digit_of(from[i] - least, pass)]++;
    }
  }

  const int bits = n > 0 ? bit_width(most - least) : 0;
  uint32_t *source = from;
  uint32_t *target = to;
  for (int pass = 0; pass * DIGIT_BITS < bits; pass++) {
    distribute(source, target, n, least, pass, counts[pass]);
    uint32_t *const done = target;
    target = source;
    source = done;
  }
  if (source != to) {
    memcpy(to, source, n * sizeof(*to));
  }
}

/* The rank's share of the keys, sorted. */
static uint32_t *sorted_share(const struct job *job, struct checksum *sum) {
  const uint64_t n = share_size(job, job->rank);
  uint32_t *const keys = allocate(job, n, sizeof(*keys));
  uint32_t *const unsorted = allocate(job, n, sizeof(*unsorted));
  *sum = generate(job, unsorted, n);
  radix_sort(unsorted, keys, n);
  free(unsorted);
  return keys;
}

/* ---- Samples and pivots. */

/* Where sample `number` of a share of n keys is taken: at the beginning of one
   of v equal pieces. */
static uint64_t sample_index(const struct job *job, uint64_t n, int number) {
  return n * (uint64_t)number / (uint64_t)job->ranks;
}

/* A pivot is a sample: its key in the upper 32 bits and its number among all
   samples in the lower. Comparing them as integers compares (key, rank, index).
 */
static int compare_pivots(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a;
  const uint64_t y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Chooses every v-th of the sorted samples; rank 0 only. (The paper goes half a
   step further, which suits random keys as well but leaves the first rank with
   1.5 n/v keys of sorted input.) */
static void choose_pivots(const struct job *job, const uint32_t *samples,
                          uint64_t *pivots) {
  const uint64_t v = (uint64_t)job->ranks;
  uint64_t *const tagged = allocate(job, v * v, sizeof(*tagged));
  for (uint64_t i = 0; i < v * v; i++) {
    tagged[i] = (uint64_t)samples[i] << 32 | i;
  }
  qsort(tagged, v * v, sizeof(*tagged), compare_pivots);
  for (uint64_t i = 1; i < v; i++) {
    pivots[i - 1] = tagged[i * v];
  }
  free(tagged);
}

/* Agrees on the v - 1 pivots that part the ranks' ranges of keys. */
static void find_pivots(const struct job *job, const uint32_t *keys,
                        uint64_t *pivots) {
  const uint64_t v = (uint64_t)job->ranks;
  const uint64_t n = share_size(job, job->rank);
  uint32_t *const mine = allocate(job, v, sizeof(*mine));
  uint32_t *all = NULL;
  for (int i = 0; i < job->ranks; i++) {
    mine[i] = n > 0 ? keys[sample_index(job, n, i)] : UINT32_MAX;
  }
  if (job->rank == ROOT) {
    all = allocate(job, v * v, sizeof(*all));
  }
  MPI_Gather(mine, job->ranks, MPI_UINT32_T, all, job->ranks, MPI_UINT32_T,
             ROOT, MPI_COMM_WORLD);
  free(mine);
  if (job->rank == ROOT) {
    choose_pivots(job, all, pivots);
    free(all);
  }
  MPI_Bcast(pivots, job->ranks - 1, MPI_UINT64_T, ROOT, MPI_COMM_WORLD);
}

/* Number of keys less than `key` or, where `or_equal`, not greater. */
static uint64_t count_below(const uint32_t *keys, uint64_t n, uint32_t key,
                            bool or_equal) {
  uint64_t low = 0;
  uint64_t high = n;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (keys[middle] < key || (or_equal && keys[middle] == key)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Number of this rank's keys that lie before the pivot in the order of (key,
   rank, index). */
static uint64_t cut_at(const struct job *job, const uint32_t *keys,
                       uint64_t pivot) {
  const uint64_t n = share_size(job, job->rank);
  const uint32_t key = (uint32_t)(pivot >> 32);
  const uint32_t sample = (uint32_t)pivot;
  const int rank = (int)(sample / (uint32_t)job->ranks);
  if (rank == job->rank) {
    return sample_index(job, n, (int)(sample % (uint32_t)job->ranks));
  }
  return count_below(keys, n, key, job->rank < rank);
}

/* ---- The exchange. */

static struct pieces pieces_make(const struct job *job) {
  const uint64_t v = (uint64_t)job->ranks;
  struct pieces p;
  p.send_count = allocate(job, v, sizeof(int));
  p.send_start = allocate(job, v, sizeof(int));
  p.recv_count = allocate(job, v, sizeof(int));
  p.recv_start = allocate(job, v, sizeof(int));
  return p;
}

static void pieces_free(struct pieces *p) {
  free(p->send_count);
  free(p->send_start);
  free(p->recv_count);
  free(p->recv_start);
}

/* Cuts the keys at the pivots: piece i goes to rank i. */
static void cut(const struct job *job, const uint32_t *keys,
                const uint64_t *pivots, struct pieces *p) {
  uint64_t start = 0;
  for (int i = 0; i < job->ranks; i++) {
    const uint64_t end = i + 1 < job->ranks ? cut_at(job, keys, pivots[i])
                                            : share_size(job, job->rank);
    p->send_start[i] = (int)start;
    p->send_count[i] = (int)(end - start);
    start = end;
  }
}

/* Tells every rank how many keys it gets; returns how many this one gets. */
static uint64_t exchange_counts(const struct job *job, struct pieces *p) {
  uint64_t total = 0;
  MPI_Alltoall(p->send_count, 1, MPI_INT, p->recv_count, 1, MPI_INT,
               MPI_COMM_WORLD);
  for (int i = 0; i < job->ranks; i++) {
    p->recv_start[i] = (int)total;
    total += (uint64_t)p->recv_count[i];
    if (total > INT_MAX) {
      fail(job, "too many keys for one rank", total, "use more ranks");
    }
  }
  return total;
}

/* Exchanges the keys, whose memory it takes over, and sorts what comes. */
static uint32_t *exchange(const struct job *job, uint32_t *keys,
                          const struct pieces *p, uint64_t total) {
  /* Room for the keys to come in the place of those that go: it is where they
     will be sorted to, and no third array is needed. */
  if (total > share_size(job, job->rank)) {
    keys = realloc(keys, total * sizeof(*keys));
    if (keys == NULL) {
      fail(job, "out of memory, bytes wanted", total * sizeof(*keys),
           "use more ranks");
    }
  }
  uint32_t *const received = allocate(job, total, sizeof(*received));
  MPI_Alltoallv(keys, p->send_count, p->send_start, MPI_UINT32_T, received,
                p->recv_count, p->recv_start, MPI_UINT32_T, MPI_COMM_WORLD);
  radix_sort(received, keys, total);
  free(received);
  return keys;
}

/* ---- The proof. */

static struct summary summarise(const uint32_t *keys, uint64_t n,
                                const struct checksum *before) {
  struct summary s = {.before = *before, .sorted = 1};
  if (n > 0) {
    s.first = keys[0];
    s.last = keys[n - 1];
  }
  for (uint64_t i = 0; i < n; i++) {
    s.sorted &= i == 0 || keys[i - 1] <= keys[i];
    checksum_add(&s.after, keys[i]);
  }
  return s;
}

/* Judges all ranks' summaries; ranks without keys are passed over. */
static struct verdict judge(const struct job *job, const struct summary *all) {
  struct verdict v = {.sorted = 1};
  struct checksum before = {0, 0, 0};
  struct checksum after = {0, 0, 0};
  uint64_t last = 0;
  for (int i = 0; i < job->ranks; i++) {
    checksum_join(&before, &all[i].before);
    checksum_join(&after, &all[i].after);
    if (all[i].after.count > 0) {
      v.sorted &= all[i].sorted && last <= all[i].first;
      last = all[i].last;
    }
    if (all[i].after.count > v.largest) {
      v.largest = all[i].after.count;
    }
  }
  v.count_ok = after.count == job->source.n;
  v.checksum_ok = checksum_equal(&before, &after);
  return v;
}

/* Every rank learns the verdict. */
static struct verdict verify(const struct job *job,
                             const struct summary *mine) {
  enum { WIDTH = sizeof(*mine) / sizeof(uint64_t) };
  struct summary *const all = allocate(job, (uint64_t)job->ranks, sizeof(*all));
  MPI_Allgather(mine, WIDTH, MPI_UINT64_T, all, WIDTH, MPI_UINT64_T,
                MPI_COMM_WORLD);
  const struct verdict v = judge(job, all);
  free(all);
  return v;
}

/* ---- The program. */

/* Times at which rank 0 had finished each phase, in seconds. */
struct times {
  double start, sorted, pivots, counts, exchanged, verified;
};

static struct verdict sort_and_verify(const struct job *job, struct times *t) {
  /* Small things first, so that the large arrays above them leave no gaps. */
  struct pieces pieces = pieces_make(job);
  uint64_t *const pivots = allocate(job, (uint64_t)job->ranks, sizeof(*pivots));
  struct checksum before;

  t->start = MPI_Wtime();
  uint32_t *keys = sorted_share(job, &before);
  t->sorted = MPI_Wtime();
  find_pivots(job, keys, pivots);
  t->pivots = MPI_Wtime();
  cut(job, keys, pivots, &pieces);
  free(pivots);
  const uint64_t total = exchange_counts(job, &pieces);
  t->counts = MPI_Wtime();
  keys = exchange(job, keys, &pieces, total);
  t->exchanged = MPI_Wtime();
  pieces_free(&pieces);

  /* A program with a use for the sorted keys would use them here. */
  const struct summary mine = summarise(keys, total, &before);
  free(keys);
  const struct verdict v = verify(job, &mine);
  t->verified = MPI_Wtime();
  return v;
}

static void print(const struct job *job, const struct verdict *v,
                  const struct times *t) {
  const uint64_t n = job->source.n;
  if (job->verbose) {
    fprintf(stderr,
            "psrs: rank 0: sort %.3f s, pivots %.3f s, counts %.3f s, "
            "exchange and merge %.3f s, verify %.3f s\n",
            t->sorted - t->start, t->pivots - t->sorted, t->counts - t->pivots,
            t->exchanged - t->counts, t->verified - t->exchanged);
    fprintf(stderr, "psrs: fullest rank: %.3f times n/v\n",
            n > 0 ? (double)v->largest * job->ranks / (double)n : 0.0);
  }
  printf("RESULT app=psrs elements=%" PRIu64 " ranks=%d seconds=%.6f "
         "sorted=%d count_ok=%d checksum_ok=%d\n",
         n, job->ranks, t->verified - t->start, v->sorted, v->count_ok,
         v->checksum_ok);
}

/* Reads an unsigned 64-bit decimal number. Returns 0 or -1. */
static int parse_number(const char *text, uint64_t *value) {
  *value = 0;
  for (const char *p = text; *p != '\0' || p == text; p++) {
    if (*p < '0' || *p > '9' || __builtin_mul_overflow(*value, 10u, value) ||
        __builtin_add_overflow(*value, (unsigned)(*p - '0'), value)) {
      return -1;
    }
  }
  return 0;
}

/* Fills the job from the arguments. Returns NULL, or what is wrong. */
static const char *parse(struct job *job, int argc, char **argv) {
  uint64_t n = 0;
  uint64_t seed = 1;
  enum key_order order = KEYS_RANDOM;
  bool have_n = false;
  for (int i = 1; i < argc; i++) {
    const char *const next = i + 1 < argc ? argv[i + 1] : "";
    if (strcmp(argv[i], "--verbose") == 0) {
      job->verbose = true;
    } else if (strcmp(argv[i], "--seed") == 0) {
      if (parse_number(next, &seed) != 0) {
        return "--seed wants a number";
      }
      i++;
    } else if (strcmp(argv[i], "--key") == 0) {
      if (key_order_find(next, &order) != 0) {
        return "--key wants random, equal, sorted or reverse";
      }
      i++;
    } else if (!have_n && parse_number(argv[i], &n) == 0) {
      have_n = true;
    } else {
      return "usage: psrs N [--seed S] [--key random|equal|sorted|reverse] "
             "[--verbose]";
    }
  }
  if (!have_n) {
    return "the number of keys is missing: psrs N";
  }
  job->source = key_source_make(order, n, seed);
  if (job->ranks > RANKS_MAX) {
    return "more than 65535 ranks: use fewer";
  }
  if (share_size(job, 0) > SHARE_MAX) {
    return "more than 2^30 keys per rank: use more ranks";
  }
  return NULL;
}

int main(int argc, char **argv) {
  struct job job = {.rank = 0};
  int status = EXIT_SUCCESS;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
  const char *const problem = parse(&job, argc, argv);
  if (problem != NULL) {
    if (job.rank == ROOT) {
      fprintf(stderr, "psrs: %s\n", problem);
    }
    status = EXIT_USAGE;
  } else {
    struct times times;
    const struct verdict v = sort_and_verify(&job, &times);
    if (job.rank == ROOT) {
      print(&job, &v, &times);
    }
    status =
        v.sorted && v.count_ok && v.checksum_ok ? EXIT_SUCCESS : EXIT_FAILURE;
  }
  MPI_Finalize();
  return status;
}
