/* Edges seen from both ends, against graphs that have them already, and that do
   not. */
#include "digraph/compute/undirected.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"

static void expect_row(const struct undirected *u, uint32_t v,
                       const struct digraph_edge *row, uint64_t n) {
  ck_assert_uint_eq(u->first[v + 1] - u->first[v], n);
  if (n) {
    ck_assert_mem_eq(u->edge + u->first[v], row, n * sizeof(*row));
  }
}

START_TEST(what_has_both_stays) {
  /* 0 - 1 twice with weights 5 and 7, 1 - 2, and a loop at 2. */
  const uint64_t first[] = {0, 2, 5, 7};
  const struct digraph_edge edge[] = {{1, 7}, {1, 5}, {2, 1}, {0, 7},
                                      {0, 5}, {2, 3}, {1, 1}};
  const struct digraph g = {
      .nodes = 3, .edges = 7, .first = first, .edge = edge};
  struct undirected u;
  ck_assert_int_eq(undirected_copy(&u, &g), 0);
  expect_row(&u, 0, (struct digraph_edge[]){{1, 5}, {1, 7}}, 2);
  expect_row(&u, 1, (struct digraph_edge[]){{0, 5}, {0, 7}, {2, 1}}, 3);
  expect_row(&u, 2, (struct digraph_edge[]){{1, 1}, {2, 3}}, 2);
  undirected_free(&u);
  ck_assert_ptr_null(u.first);
}
END_TEST

START_TEST(what_has_one_is_doubled) {
  /* 0 -> 2, 2 -> 0 with another weight, 1 -> 0. */
  const uint64_t first[] = {0, 1, 2, 3};
  const struct digraph_edge edge[] = {{2, 4}, {0, 1}, {0, 6}};
  const struct digraph g = {
      .nodes = 3, .edges = 3, .first = first, .edge = edge};
  struct undirected u;
  ck_assert_int_eq(undirected_copy(&u, &g), 0);
  expect_row(&u, 0, (struct digraph_edge[]){{1, 1}, {2, 4}, {2, 6}}, 3);
  expect_row(&u, 1, (struct digraph_edge[]){{0, 1}}, 1);
  expect_row(&u, 2, (struct digraph_edge[]){{0, 4}, {0, 6}}, 2);
  undirected_free(&u);
}
END_TEST

/* One direction twice, the other once: as many edges come as leave at no node,
   or at each of a cycle. */
START_TEST(uneven_pairs_are_doubled) {
  const uint64_t first[] = {0, 1, 2, 3};
  const struct digraph_edge cycle[] = {{1, 1}, {2, 1}, {0, 1}};
  const struct digraph g = {
      .nodes = 3, .edges = 3, .first = first, .edge = cycle};
  const uint64_t begin[] = {0, 2, 3};
  const struct digraph_edge pair[] = {{1, 1}, {1, 1}, {0, 1}};
  const struct digraph h = {
      .nodes = 2, .edges = 3, .first = begin, .edge = pair};
  struct undirected u;
  ck_assert_int_eq(undirected_copy(&u, &g), 0);
  for (uint32_t v = 0; v < 3; v++) {
    ck_assert_uint_eq(u.first[v + 1] - u.first[v], 2);
  }
  undirected_free(&u);
  ck_assert_int_eq(undirected_copy(&u, &h), 0);
  for (uint32_t v = 0; v < 2; v++) {
    ck_assert_uint_eq(u.first[v + 1] - u.first[v], 3);
  }
  undirected_free(&u);
}
END_TEST

START_TEST(no_edges_at_all) {
  const uint64_t first[] = {0, 0};
  const struct digraph g = {.nodes = 1, .first = first};
  struct undirected u;
  ck_assert_int_eq(undirected_copy(&u, &g), 0);
  expect_row(&u, 0, NULL, 0);
  undirected_free(&u);
}
END_TEST

/* Short rows and long ones. */
START_TEST(rows_are_ordered_by_weight) {
  enum { MOST = 200 };
  struct digraph_edge edge[MOST];
  for (uint64_t n = 0; n <= MOST; n++) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
      edge[i] = (struct digraph_edge){i, i * 7919 % 101};
      sum += edge[i].weight;
    }
    undirected_order(edge, n);
    for (uint64_t i = 0; i < n; i++) {
      ck_assert(i == 0 || edge[i - 1].weight <= edge[i].weight);
      ck_assert_uint_eq(edge[i].weight, edge[i].to * 7919 % 101);
      sum -= edge[i].weight;
    }
    ck_assert_uint_eq(sum, 0);
  }
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("undirected");
  TCase *const tests = tcase_create("undirected");
  tcase_add_test(tests, what_has_both_stays);
  tcase_add_test(tests, what_has_one_is_doubled);
  tcase_add_test(tests, uneven_pairs_are_doubled);
  tcase_add_test(tests, no_edges_at_all);
  tcase_add_test(tests, rows_are_ordered_by_weight);
  suite_add_tcase(suite, tests);
  return check_run(suite);
}
