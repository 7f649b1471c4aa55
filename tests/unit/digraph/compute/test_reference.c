/* The sequential algorithms that graph programs are compared with, on graphs
   whose answers are known by hand. */
#include "digraph/compute/reference.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "check_main.h"

/* 0 -> 1 (4), 0 -> 2 (1), 2 -> 1 (2), 1 -> 3 (5), 2 -> 3 (9), 3 -> 3 (1), twice
   0 -> 2; 4 alone. */
static const uint64_t first[] = {0, 3, 4, 6, 7, 7};
static const struct digraph_edge edge[] = {{1, 4}, {2, 1}, {2, 3}, {3, 5},
                                           {1, 2}, {3, 9}, {3, 1}};
static const struct digraph small = {
    .nodes = 5, .edges = 7, .first = first, .edge = edge};

/* One node, and no edge. */
static const uint64_t nothing[] = {0, 0};
static const struct digraph lonely = {.nodes = 1, .first = nothing};

START_TEST(distances_are_the_shortest) {
  const uint64_t right[] = {0, 3, 1, 8, REFERENCE_FAR};
  uint64_t dist[5], settled;
  ck_assert_int_eq(reference_distances(&small, 0, dist, &settled), 0);
  for (int v = 0; v < 5; v++) {
    ck_assert_uint_eq(dist[v], right[v]);
  }
  ck_assert_uint_eq(settled, 4);
  ck_assert_int_eq(reference_distances(&small, 3, dist, &settled), 0);
  ck_assert_uint_eq(dist[3], 0);
  ck_assert_uint_eq(dist[0], REFERENCE_FAR);
  ck_assert_uint_eq(settled, 1);
  ck_assert_int_eq(reference_distances(&lonely, 0, dist, &settled), 0);
  ck_assert_uint_eq(dist[0], 0);
  ck_assert_uint_eq(settled, 1);
}
END_TEST

START_TEST(levels_count_edges) {
  const uint32_t right[] = {0, 1, 1, 2, REFERENCE_FAR_LEVEL};
  uint32_t level[5];
  uint64_t reached;
  ck_assert_int_eq(reference_levels(&small, 0, level, &reached), 0);
  for (int v = 0; v < 5; v++) {
    ck_assert_uint_eq(level[v], right[v]);
  }
  ck_assert_uint_eq(reached, 4);
  ck_assert_int_eq(reference_levels(&lonely, 0, level, &reached), 0);
  ck_assert_uint_eq(reached, 1);
}
END_TEST

/* What is left to node 3, exactly. */
static uint64_t exact(const void *arg, uint32_t node) {
  const uint64_t *const rest = arg;
  return rest[node];
}

START_TEST(routes_end_at_the_target) {
  const uint64_t rest[] = {8, 5, 7, 0, 1000};
  uint64_t dist, settled;
  ck_assert_int_eq(reference_route(&small, 0, 3, NULL, NULL, &dist, &settled),
                   0);
  ck_assert_uint_eq(dist, 8);
  ck_assert_uint_eq(settled, 3);
  ck_assert_int_eq(reference_route(&small, 0, 3, exact, rest, &dist, &settled),
                   0);
  ck_assert_uint_eq(dist, 8);
  ck_assert_uint_eq(settled, 3);
  ck_assert_int_eq(reference_route(&small, 0, 1, NULL, NULL, &dist, &settled),
                   0);
  ck_assert_uint_eq(dist, 3);
  ck_assert_uint_eq(settled, 2);
  ck_assert_int_eq(reference_route(&small, 2, 2, NULL, NULL, &dist, &settled),
                   0);
  ck_assert_uint_eq(dist, 0);
  ck_assert_uint_eq(settled, 0);
  ck_assert_int_eq(reference_route(&small, 0, 4, NULL, NULL, &dist, &settled),
                   0);
  ck_assert_uint_eq(dist, REFERENCE_FAR);
  ck_assert_uint_eq(settled, 4);
}
END_TEST

/* A path of many nodes in each of many directions: the heap has thousands of
   entries at once, and the distance of each node is known. */
START_TEST(a_star_of_many_rays) {
  enum { RAYS = 3000, LONG = 5, NODES = 1 + RAYS * LONG };
  uint64_t *const begin = calloc(NODES + 1, sizeof(*begin));
  uint64_t *const dist = calloc(NODES, sizeof(*dist));
  struct digraph_edge *const ray = calloc(NODES, sizeof(*ray));
  uint64_t n = 0, settled;
  for (uint32_t r = 0; r < RAYS; r++) {
    ray[n++] = (struct digraph_edge){1 + r * LONG, r * 7919 % RAYS};
  }
  for (uint32_t v = 1; v < NODES; v++) {
    begin[v] = n;
    if (v % LONG) {
      ray[n++] = (struct digraph_edge){v + 1, (v / LONG) * 7919 % RAYS};
    }
  }
  begin[NODES] = n;
  const struct digraph g = {
      .nodes = NODES, .edges = n, .first = begin, .edge = ray};
  ck_assert_int_eq(reference_distances(&g, 0, dist, &settled), 0);
  ck_assert_uint_eq(settled, NODES);
  for (uint32_t v = 1; v < NODES; v++) {
    ck_assert_uint_eq(dist[v],
                      ((v - 1) / LONG) * 7919 % RAYS * ((v - 1) % LONG + 1));
  }
  free(begin);
  free(dist);
  free(ray);
}
END_TEST

/* 0 and 1 lead to each other, 2 to both; nothing leads to 2: x(2) = 1 - d, and
   x(0) = x(1) = 1 - d + d x(2) / 2 + d x(0). */
START_TEST(ranks_are_the_fixed_point) {
  const uint64_t begin[] = {0, 1, 2, 4};
  const struct digraph_edge to[] = {{1, 1}, {0, 1}, {0, 1}, {1, 1}};
  const struct digraph g = {.nodes = 3, .edges = 4, .first = begin, .edge = to};
  const double d = 0.85;
  double rank[3];
  uint64_t rounds, more;
  ck_assert_int_eq(reference_ranks(&g, d, 1e-9, false, rank, &rounds), 0);
  ck_assert_double_eq_tol(rank[2], 1 - d, 1e-11);
  ck_assert_double_eq_tol(rank[0], (1 - d + d * (1 - d) / 2) / (1 - d), 1e-10);
  ck_assert_double_eq_tol(rank[1], rank[0], 1e-11);
  /* The change is that of the first round times d in each. */
  more = (uint64_t)ceil(log(1e-9 / (d * (1 - d) * 1.5)) / log(d)) + 1;
  ck_assert_uint_eq(rounds, more);
  ck_assert_int_eq(reference_ranks(&lonely, d, 1e-3, false, rank, &rounds), 0);
  ck_assert_double_eq_tol(rank[0], 1 - d, 1e-15);
  ck_assert_uint_eq(rounds, 1);
}
END_TEST

/* 0 leads to 1 and, twice, to 2, 1 to 2; nodes 2 and 3 lead nowhere. Numbers of
   networkx 3.6: pagerank(MultiDiGraph(...), tol=1e-15). */
START_TEST(normalized_ranks) {
  static const double right[] = {0.16832655351381698, 0.2160190770093983,
                                 0.44732781596296767, 0.16832655351381698};
  const uint64_t begin[] = {0, 3, 4, 4, 4};
  const struct digraph_edge to[] = {{1, 1}, {2, 1}, {2, 1}, {2, 1}};
  const struct digraph g = {.nodes = 4, .edges = 4, .first = begin, .edge = to};
  double rank[4], sum = 0;
  uint64_t rounds;
  ck_assert_int_eq(reference_ranks(&g, 0.85, 1e-9, true, rank, &rounds), 0);
  for (int i = 0; i < 4; i++) {
    ck_assert_double_eq_tol(rank[i], right[i], 1e-11);
    sum += rank[i];
  }
  ck_assert_double_eq_tol(sum, 1, 1e-12);
  ck_assert_int_eq(reference_ranks(&lonely, 0.85, 1e-3, true, rank, &rounds),
                   0);
  ck_assert_double_eq_tol(rank[0], 1, 1e-15);
}
END_TEST

START_TEST(forests_are_the_lightest) {
  uint64_t weight, edges;
  ck_assert_int_eq(reference_forest(&small, &weight, &edges), 0);
  ck_assert_uint_eq(weight, 1 + 2 + 5);
  ck_assert_uint_eq(edges, 3);
  ck_assert_int_eq(reference_forest(&lonely, &weight, &edges), 0);
  ck_assert_uint_eq(weight, 0);
  ck_assert_uint_eq(edges, 0);
}
END_TEST

/* Weights that differ in both halves of their bits. */
START_TEST(forests_look_at_all_bits) {
  const uint64_t begin[] = {0, 6, 6, 6};
  const struct digraph_edge to[] = {{1, 0x20001},    {1, 0x10003},
                                    {1, 0x10002},    {2, 0xffffffff},
                                    {2, 0xfffffffe}, {2, 0xffff0000}};
  const struct digraph g = {.nodes = 3, .edges = 6, .first = begin, .edge = to};
  uint64_t weight, edges;
  ck_assert_int_eq(reference_forest(&g, &weight, &edges), 0);
  ck_assert_uint_eq(weight, 0x10002 + (uint64_t)0xffff0000);
  ck_assert_uint_eq(edges, 2);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("graph reference");
  TCase *const tests = tcase_create("graph reference");
  tcase_add_test(tests, distances_are_the_shortest);
  tcase_add_test(tests, levels_count_edges);
  tcase_add_test(tests, routes_end_at_the_target);
  tcase_add_test(tests, a_star_of_many_rays);
  tcase_add_test(tests, ranks_are_the_fixed_point);
  tcase_add_test(tests, normalized_ranks);
  tcase_add_test(tests, forests_are_the_lightest);
  tcase_add_test(tests, forests_look_at_all_bits);
  suite_add_tcase(suite, tests);
  return check_run(suite);
}
