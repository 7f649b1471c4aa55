/* Sorts pairs of 64-bit numbers within a graph of nodes, as Fig. 10 of
   Beckmann, Dementiev and Singler (2009) has it beside a sort by itself:

     stream_sort [options]

   pairs 0 - sum 1 - sorter 2 - sum 3 - end 4. With --async all, asynchronous
   nodes stand before and behind the sorter, so that making pairs, sorting,
   merging and looking at the result run at once. Prints a RESULT line; exit
   status 1 if the sums differ or the order is wrong. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <pems/stream.h>

#include "apps/settings.h"

struct pair {
  uint64_t first, second;
};

struct tally {
  uint64_t count, sum;
};

struct job {
  struct settings_machine machine;
  uint64_t n, made, state, last, disorder;
  struct tally before, behind;
  int async;
};

static uint64_t next_random(uint64_t *state) {
  uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

static int generate(void *arg, void *records, size_t room, size_t *n,
                    struct pems_error *e) {
  (void)e;
  struct job *const j = arg;
  struct pair *const pair = records;
  size_t i = 0;
  for (; i < room && j->made < j->n; i++, j->made++) {
    pair[i].first = next_random(&j->state);
    pair[i].second = j->made;
  }
  *n = i;
  return 0;
}

static int count(void *arg, const void *records, size_t n,
                 struct pems_error *e) {
  (void)e;
  struct tally *const tally = arg;
  const struct pair *const pair = records;
  for (size_t i = 0; i < n; i++) {
    tally->sum += pair[i].first ^ pair[i].second;
  }
  tally->count += n;
  return 0;
}

static int end(void *arg, const void *records, size_t n, struct pems_error *e) {
  struct job *const j = arg;
  const struct pair *const pair = records;
  for (size_t i = 0; i < n; i++) {
    j->disorder += pair[i].first < j->last;
    j->last = pair[i].first;
  }
  return count(&j->behind, records, n, e);
}

static void join(const struct job *j, struct pems_graph *g,
                 struct pems_node *from, struct pems_node *to) {
  if (j->async) {
    struct pems_node *const between = pems_node_async_pull(g, "async", 0);
    pems_edge_pull(from, between);
    from = between;
  }
  pems_edge_pull(from, to);
}

static struct pems_node *make_graph(struct job *j, struct pems_graph *g) {
  const struct pems_sort_options order = {
      .record = {.size = sizeof(struct pair), .key = PEMS_KEY_U64},
      .count = j->n};
  struct pems_node *const pairs =
      pems_node_generator(g, "pairs", generate, j, sizeof(struct pair));
  struct pems_node *const sum =
      pems_node_tap(g, "sum", count, &j->before, sizeof(struct pair));
  struct pems_node *const sort = pems_node_sorter(g, "sort", &order);
  struct pems_node *const last =
      pems_node_callback_sink(g, "end", end, j, sizeof(struct pair));
  pems_edge_pull(pairs, sum);
  join(j, g, sum, sort);
  join(j, g, sort, last);
  return last;
}

static int run(struct job *j) {
  struct pems_error error = {0};
  struct pems_disks *const disks = settings_disks(&j->machine);
  struct pems_graph *const g = pems_graph_new(
      &(struct pems_graph_options){.memory = j->machine.memory,
                                   .threads = (int)j->machine.threads,
                                   .disks = disks});
  struct pems_node *const last = make_graph(j, g);
  const double began = settings_seconds();
  if (pems_graph_start(g, last, &error)) {
    settings_fail(&error);
  }
  const double seconds = settings_seconds() - began;
  const bool right = j->disorder == 0 && j->before.count == j->n &&
                     j->behind.count == j->n && j->before.sum == j->behind.sum;
  printf("RESULT bench=stream_sort n=%" PRIu64 " async=%s threads=%" PRIu64
         " memory=%" PRIu64 " seconds=%.3f cpu_seconds=%.3f right=%d\n",
         j->n, j->async ? "all" : "none", j->machine.threads, j->machine.memory,
         seconds, settings_cpu_seconds(), right);
  pems_graph_free(g);
  pems_disks_close(disks);
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv) {
  static const char *const asyncs[] = {"none", "all", NULL};
  struct job j = {.n = 1 << 20};
  const char *async = "none", *words[1];
  const struct setting settings[] = {
      SETTINGS_MACHINE(&j.machine),
      {"n", SETTING_COUNT, &j.n, "N          pairs to sort"},
      {"async", SETTING_TEXT, &async, "WORD     none (default) or all"},
      {0}};
  settings_read(argc, argv, "[options]\nSorts pairs within a graph of nodes.",
                settings, words, 0, 0);
  j.async = settings_choice("async", asyncs, async);
  return run(&j);
}
