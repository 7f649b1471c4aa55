/* The Diamond: a stream that is doubled, sorted in two ways, and joined again.

     diamond [options] [FILE]

   Pairs of 64-bit numbers come from FILE or, without one, are made up: --n of
   them. The graph is that of Beckmann, Dementiev and Singler, Building a
   Parallel Pipelined External Memory Algorithm Library (IPDPS 2009), Fig. 6;
   numbers are those of the figure, - marks pulled and : pushed edges:

     pairs 0 - sum 1 - double 2 - by second 4 - sum 5 - by first 7 - zip 15
                              :                                       |
                              :.. by second, descending 10 -- sum 11  |
                                                                |     |
                                                        by first 13 --+

   and then another sum (16), and the end (17): a file of pairs of pairs if
   there is --out. Asynchronous nodes (3, 6, 8, 9, 12, 14) let parts run at
   once: none of them, those behind the last sorters (8, 14) for --async some,
   or all.

   The sums do not depend on the order of the pairs, so they must all be equal;
   that is checked always. With --verify, the result is compared with one made
   in memory. --dot FILE draws the graph, with what each node did. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pems/stream.h>

#include "keys.h"
#include "settings.h"

#define USAGE "[options] [FILE]\nSorts pairs of numbers in two ways at once."

struct pair {
  uint64_t first, second;
};

/* What comes out: the same pair, if no two pairs have the same first. */
struct couple {
  struct pair a, b;
};

/* Sums that do not depend on the order. */
struct sums {
  uint64_t count, sum, hash;
};

enum { SUM_IN, SUM_UP, SUM_DOWN, SUM_A, SUM_B, SUMS };

struct diamond {
  struct settings_machine machine;
  uint64_t n; /* pairs */
  uint64_t seed;
  uint64_t made; /* pairs, by the generator */
  const char *in, *out, *dot;
  int async; /* 0 none, 1 some, 2 all */
  int verify;
  struct sums sums[SUMS];
  uint64_t disorder;   /* couples whose order or whose firsts are wrong */
  uint64_t last;       /* first */
  struct couple *kept; /* n of them, for --verify; or NULL */
  uint64_t keeping;
};

/* --- callbacks --- */

static struct pair pair_at(const struct diamond *d, uint64_t i) {
  return (struct pair){key_mix(d->seed + i), key_mix(~d->seed - 3 * i)};
}

static int generate(void *arg, void *records, size_t room, size_t *n,
                    struct pems_error *error) {
  struct diamond *const d = arg;
  struct pair *const pair = records;
  (void)error;
  for (*n = 0; *n < room && d->made < d->n; ++*n) {
    pair[*n] = pair_at(d, d->made++);
  }
  return 0;
}

static void add(struct sums *s, const struct pair *pair) {
  s->count++;
  s->sum += pair->first + pair->second;
  s->hash += key_mix(pair->first ^ key_mix(pair->second));
}

static int sum_pairs(void *arg, const void *records, size_t n,
                     struct pems_error *error) {
  const struct pair *const pair = records;
  struct sums s = *(struct sums *)arg;
  (void)error;
  for (size_t i = 0; i < n; i++) {
    add(&s, &pair[i]);
  }
  *(struct sums *)arg = s;
  return 0;
}

static int sum_couples(void *arg, const void *records, size_t n,
                       struct pems_error *error) {
  struct diamond *const d = arg;
  const struct couple *const couple = records;
  (void)error;
  for (size_t i = 0; i < n; i++) {
    add(&d->sums[SUM_A], &couple[i].a);
    add(&d->sums[SUM_B], &couple[i].b);
    d->disorder +=
        couple[i].a.first != couple[i].b.first || couple[i].a.first < d->last;
    d->last = couple[i].a.first;
  }
  if (d->kept && d->keeping + n <= d->n) {
    memcpy(d->kept + d->keeping, couple, n * sizeof(*couple));
  }
  d->keeping += n;
  return 0;
}

static int drop(void *arg, const void *records, size_t n,
                struct pems_error *error) {
  (void)arg, (void)records, (void)n, (void)error;
  return 0;
}

/* --- the graph --- */

/* An edge, with an asynchronous node where `is`. */
static void pull(struct pems_graph *g, struct pems_node *from,
                 struct pems_node *to, bool is) {
  if (is) {
    struct pems_node *const between = pems_node_async_pull(g, "async", 0);
    pems_edge_pull(from, between);
    from = between;
  }
  pems_edge_pull(from, to);
}

static void push(struct pems_graph *g, struct pems_node *from,
                 struct pems_node *to, bool is) {
  if (is) {
    struct pems_node *const between = pems_node_async_push(g, "async", 0);
    pems_edge_push(from, between);
    from = between;
  }
  pems_edge_push(from, to);
}

static struct pems_node *sorter(struct pems_graph *g, const char *name,
                                size_t key_offset, bool descending,
                                uint64_t count) {
  const struct pems_sort_options options = {
      .record = {.size = sizeof(struct pair),
                 .key = PEMS_KEY_U64,
                 .key_offset = key_offset,
                 .descending = descending},
      .count = count};
  return pems_node_sorter(g, name, &options);
}

/* From the double node on one side: sorted by second, summed, sorted by first.
   Returns the first and the last of these nodes. */
struct side {
  struct pems_node *top, *bottom;
};

static struct side make_side(struct diamond *d, struct pems_graph *g,
                             bool descending) {
  struct sums *const sums = &d->sums[descending ? SUM_DOWN : SUM_UP];
  struct pems_node *const second =
      sorter(g, descending ? "by second, descending" : "by second",
             offsetof(struct pair, second), descending, d->n);
  struct pems_node *const sum =
      pems_node_tap(g, "sum", sum_pairs, sums, sizeof(struct pair));
  struct pems_node *const first =
      sorter(g, "by first", offsetof(struct pair, first), false, d->n);
  pems_edge_pull(second, sum);
  pull(g, sum, first, d->async == 2);
  return (struct side){second, first};
}

static struct pems_node *source(struct diamond *d, struct pems_graph *g) {
  if (d->in) {
    return pems_node_file_source(g, "pairs", d->in, sizeof(struct pair));
  }
  return pems_node_generator(g, "pairs", generate, d, sizeof(struct pair));
}

static struct pems_node *sink(struct diamond *d, struct pems_graph *g) {
  if (d->out) {
    return pems_node_file_sink(g, "pairs of pairs", d->out);
  }
  return pems_node_callback_sink(g, "end", drop, d, sizeof(struct couple));
}

/* Returns the primary sink. */
static struct pems_node *make_graph(struct diamond *d, struct pems_graph *g) {
  struct pems_node *const pairs = source(d, g);
  struct pems_node *const sum =
      pems_node_tap(g, "sum", sum_pairs, &d->sums[SUM_IN], sizeof(struct pair));
  struct pems_node *const twice = pems_node_copy(g, "double", 2);
  const struct side up = make_side(d, g, false);
  const struct side down = make_side(d, g, true);
  struct pems_node *const zip = pems_node_zip(g, "zip", 2);
  struct pems_node *const last =
      pems_node_tap(g, "sum", sum_couples, d, sizeof(struct couple));
  struct pems_node *const end = sink(d, g);
  pems_edge_pull(pairs, sum);
  pems_edge_pull(sum, twice);
  pull(g, twice, up.top, d->async == 2);
  push(g, twice, down.top, d->async == 2);
  pull(g, up.bottom, zip, d->async > 0);
  pull(g, down.bottom, zip, d->async > 0);
  pems_edge_pull(zip, last);
  pems_edge_pull(last, end);
  return end;
}

/* --- the same in memory --- */

static int compare_pairs(const void *a, const void *b) {
  const struct pair *const x = a, *const y = b;
  if (x->first != y->first) {
    return x->first < y->first ? -1 : 1;
  }
  return x->second < y->second ? -1 : x->second > y->second;
}

static void *take(size_t n, size_t size) {
  void *const p = malloc(n * size + 1);
  if (!p) {
    settings_fail(&(struct pems_error){ENOMEM, "no memory for --verify"});
  }
  return p;
}

/* All pairs, in order. */
static struct pair *reference(const struct diamond *d) {
  struct pair *const pair = take(d->n, sizeof(*pair));
  FILE *const file = d->in ? fopen(d->in, "r") : NULL;
  for (uint64_t i = 0; i < d->n; i++) {
    if (!d->in) {
      pair[i] = pair_at(d, i);
    } else if (!file || fread(&pair[i], sizeof(*pair), 1, file) != 1) {
      settings_fail(&(struct pems_error){EIO, "cannot read for --verify"});
    }
  }
  if (file) {
    fclose(file);
  }
  qsort(pair, d->n, sizeof(*pair), compare_pairs);
  return pair;
}

/* One of each couple; pairs of the same first come in any order. */
static struct pair *halves(const struct diamond *d, size_t offset) {
  struct pair *const pair = take(d->n, sizeof(*pair));
  for (uint64_t i = 0; i < d->n; i++) {
    memcpy(&pair[i], (const char *)&d->kept[i] + offset, sizeof(*pair));
  }
  qsort(pair, d->n, sizeof(*pair), compare_pairs);
  return pair;
}

static bool same_as_reference(const struct diamond *d) {
  const size_t bytes = d->n * sizeof(struct pair);
  struct pair *const wanted = reference(d);
  struct pair *const a = halves(d, offsetof(struct couple, a));
  struct pair *const b = halves(d, offsetof(struct couple, b));
  const bool same = d->keeping == d->n && memcmp(wanted, a, bytes) == 0 &&
                    memcmp(wanted, b, bytes) == 0;
  free(wanted);
  free(a);
  free(b);
  return same;
}

/* --- the program --- */

static bool sums_equal(const struct diamond *d) {
  bool equal = d->sums[SUM_IN].count == d->n;
  for (int i = 1; i < SUMS; i++) {
    equal &= memcmp(&d->sums[i], &d->sums[0], sizeof(d->sums[0])) == 0;
  }
  return equal;
}

static void draw(const struct diamond *d, const struct pems_graph *g) {
  FILE *const file = fopen(d->dot, "w");
  const int failed = file ? pems_graph_dot(g, file) : errno;
  struct pems_error error = {.code = failed};
  if (failed || fclose(file)) {
    snprintf(error.text, sizeof(error.text), "cannot write: %.300s: %s", d->dot,
             strerror(failed ? failed : errno));
    settings_fail(&error);
  }
}

/* Phases: two sorters follow each other. */
static int report(const struct diamond *d, struct pems_disks *disks,
                  const struct pems_node *last, double seconds) {
  static const char *const asyncs[] = {"none", "some", "all"};
  const bool ok = sums_equal(d) && d->disorder == 0;
  const int verified = d->verify ? same_as_reference(d) : -1;
  struct pems_disk_counts io;
  struct pems_node_counts counts;
  pems_disks_counts(disks, &io);
  pems_node_counts(last, &counts);
  printf("RESULT app=diamond n=%" PRIu64 " bytes=%" PRIu64
         " async=%s memory=%" PRIu64 " threads=%" PRIu64
         " phases=%d seconds=%.3f cpu_seconds=%.3f bytes_read=%" PRIu64
         " bytes_written=%" PRIu64
         " read_wait=%.2f write_wait=%.2f sums_ok=%d verified=%d\n",
         d->n, d->n * sizeof(struct pair), asyncs[d->async], d->machine.memory,
         d->machine.threads, counts.phase + 1, seconds, settings_cpu_seconds(),
         io.bytes_read, io.bytes_written, 1e-9 * (double)io.read_wait_ns,
         1e-9 * (double)io.write_wait_ns, ok, verified);
  return ok && verified ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int run(struct diamond *d) {
  struct pems_error error = {0};
  struct pems_disks *const disks = settings_disks(&d->machine);
  struct pems_graph *const g = pems_graph_new(
      &(struct pems_graph_options){.memory = d->machine.memory,
                                   .threads = (int)d->machine.threads,
                                   .disks = disks});
  struct pems_node *const last = make_graph(d, g);
  const double begin = settings_seconds();
  if (pems_graph_start(g, last, &error)) {
    settings_fail(&error);
  }
  const double seconds = settings_seconds() - begin;
  if (d->dot) {
    draw(d, g);
  }
  const int status = report(d, disks, last, seconds);
  pems_graph_free(g);
  pems_disks_close(disks);
  return status;
}

int main(int argc, char **argv) {
  static const char *const asyncs[] = {"none", "some", "all", NULL};
  static struct diamond d = {.n = 1 << 20, .seed = 1};
  const char *async = "none";
  const struct setting settings[] = {
      SETTINGS_MACHINE(&d.machine),
      {"n", SETTING_COUNT, &d.n, "N           pairs to make up"},
      {"seed", SETTING_COUNT, &d.seed, "N        of made-up pairs"},
      {"out", SETTING_TEXT, &d.out, "FILE      of pairs of pairs"},
      {"dot", SETTING_TEXT, &d.dot, "FILE      draws the graph"},
      {"async", SETTING_TEXT, &async, "NAME    none, some or all"},
      {"verify", SETTING_FLAG, &d.verify, "       compares with memory"},
      {0}};
  settings_read(argc, argv, USAGE, settings, &d.in, 0, 1);
  d.async = settings_choice("async", asyncs, async);
  d.seed = key_mix(d.seed);
  if (d.in) {
    d.n = settings_file_size(d.in) / sizeof(struct pair);
  }
  if (d.verify) {
    d.kept = take(d.n, sizeof(*d.kept));
  }
  const int status = run(&d);
  free(d.kept);
  return status;
}
