/* Components that merge: every result of an attempt by hand, and whole forests
   by many threads against Kruskal's. */
#include "digraph/compute/boruvka.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>

#include "check_main.h"
#include "digraph/compute/reference.h"

static struct undirected rows;
static struct boruvka b;

static void set_up(const struct digraph *g) {
  ck_assert_int_eq(undirected_copy(&rows, g), 0);
  b = (struct boruvka){.nodes = g->nodes,
                       .first = rows.first,
                       .edge = rows.edge,
                       .node = calloc(g->nodes, sizeof(*b.node))};
  boruvka_reset(&b);
}

static void tear_down(void) {
  undirected_free(&rows);
  free(b.node);
}

START_TEST(results_of_attempts) {
  /* 0 - 1 (3), 1 - 2 (1), 0 - 2 (2); 3 has a loop. */
  const uint64_t first[] = {0, 2, 3, 3, 4};
  const struct digraph_edge edge[] = {{1, 3}, {2, 2}, {2, 1}, {3, 0}};
  const struct digraph g = {
      .nodes = 4, .edges = 4, .first = first, .edge = edge};
  set_up(&g);
  uint32_t root = 0, stamp = 0;
  uint64_t degree = 99, weight = 0;
  ck_assert_int_eq(boruvka_merge(&b, &root, &stamp, &degree, &weight),
                   BORUVKA_MERGED);
  ck_assert(root == 0 || root == 2);
  ck_assert_uint_eq(weight, 2);
  ck_assert_uint_eq(stamp, 1);
  ck_assert_uint_eq(degree, 4);
  /* Both tasks that there were are stale now. */
  for (uint32_t v = 0; v <= 2; v += 2) {
    uint32_t old = v, stamp_0 = 0;
    ck_assert_int_eq(boruvka_merge(&b, &old, &stamp_0, &degree, &weight),
                     BORUVKA_STALE);
  }
  ck_assert_int_eq(boruvka_merge(&b, &root, &stamp, &degree, &weight),
                   BORUVKA_MERGED);
  ck_assert_uint_eq(weight, 3);
  ck_assert_int_eq(boruvka_merge(&b, &root, &stamp, &degree, &weight),
                   BORUVKA_ALONE);
  ck_assert_uint_eq(degree, 0);
  root = 3;
  stamp = 0;
  ck_assert_int_eq(boruvka_merge(&b, &root, &stamp, &degree, &weight),
                   BORUVKA_ALONE);
  ck_assert_uint_eq(weight, 3);
  tear_down();
}
END_TEST

START_TEST(a_locked_neighbour_is_busy) {
  const uint64_t first[] = {0, 1, 2};
  const struct digraph_edge edge[] = {{1, 5}, {0, 5}};
  const struct digraph g = {
      .nodes = 2, .edges = 2, .first = first, .edge = edge};
  set_up(&g);
  uint32_t root = 1, stamp = 0;
  uint64_t degree, weight = 0;
  atomic_store(&b.node[0].locked, 1);
  ck_assert_int_eq(boruvka_merge(&b, &root, &stamp, &degree, &weight),
                   BORUVKA_BUSY);
  ck_assert_uint_eq(root, 1);
  ck_assert_uint_eq(stamp, 0);
  ck_assert_uint_eq(degree, 1);
  atomic_store(&b.node[0].locked, 0);
  ck_assert_int_eq(boruvka_merge(&b, &root, &stamp, &degree, &weight),
                   BORUVKA_MERGED);
  ck_assert_uint_eq(weight, 5);
  tear_down();
}
END_TEST

/* --- whole forests --- */

enum { THREADS = 4 };

struct worker {
  pthread_t thread;
  uint32_t first, end; /* nodes that it begins with */
  uint64_t weight, edges;
};

/* Goes on with each of its nodes for as long as that is the component's. */
static void *grow(void *arg) {
  struct worker *const w = arg;
  for (uint32_t v = w->first; v < w->end; v++) {
    uint32_t root = v, stamp = 0;
    uint64_t degree;
    enum boruvka_result result;
    do {
      result = boruvka_merge(&b, &root, &stamp, &degree, &w->weight);
      w->edges += result == BORUVKA_MERGED;
    } while (result == BORUVKA_MERGED || result == BORUVKA_BUSY);
  }
  return NULL;
}

static void make_edges(uint64_t *first, struct digraph_edge *edge,
                       uint32_t nodes, uint32_t degree, uint32_t range) {
  uint64_t x = 88172645463325252;
  for (uint64_t i = 0; i < (uint64_t)nodes * degree; i++) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    edge[i].to = (uint32_t)((x >> 32) % nodes);
    edge[i].weight = (uint32_t)x % range;
  }
  for (uint64_t v = 0; v <= nodes; v++) {
    first[v] = v * degree;
  }
}

START_TEST(forests_by_threads) {
  static const struct {
    uint32_t nodes, degree, range;
  } kind[] = {{1, 0, 1},        {1, 3, 1},       {3000, 1, 5},
              {3000, 4, 1},     {3000, 30, 9},   {20000, 2, 1 << 30},
              {200, 300, 1000}, {20000, 8, 1000}};
  const uint32_t nodes = kind[_i].nodes, degree = kind[_i].degree;
  uint64_t *const first = calloc(nodes + 1, sizeof(*first));
  struct digraph_edge *const edge =
      calloc((uint64_t)nodes * degree + 1, sizeof(*edge));
  make_edges(first, edge, nodes, degree, kind[_i].range);
  const struct digraph g = {.nodes = nodes,
                            .edges = (uint64_t)nodes * degree,
                            .first = first,
                            .edge = edge};
  uint64_t weight, edges;
  struct worker w[THREADS] = {0};
  ck_assert_int_eq(reference_forest(&g, &weight, &edges), 0);
  set_up(&g);
  for (uint32_t t = 0; t < THREADS; t++) {
    w[t].first = nodes * t / THREADS;
    w[t].end = nodes * (t + 1) / THREADS;
    ck_assert_int_eq(pthread_create(&w[t].thread, NULL, grow, &w[t]), 0);
  }
  for (uint32_t t = 0; t < THREADS; t++) {
    pthread_join(w[t].thread, NULL);
    weight -= w[t].weight;
    edges -= w[t].edges;
  }
  ck_assert_uint_eq(weight, 0);
  ck_assert_uint_eq(edges, 0);
  tear_down();
  free(first);
  free(edge);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("boruvka");
  TCase *const tests = tcase_create("boruvka");
  tcase_add_test(tests, results_of_attempts);
  tcase_add_test(tests, a_locked_neighbour_is_busy);
  tcase_add_loop_test(tests, forests_by_threads, 0, 8);
  tcase_set_timeout(tests, 60);
  suite_add_tcase(suite, tests);
  return check_run(suite);
}
