/* Graphs in memory: made of arcs, turned round, their components. */
#include "graph_check.h"

static struct digraph g, turned;
static struct pems_error e;

static const struct digraph_arc five[] = {
    {2, 0, 7}, {0, 1, 3}, {2, 2, 9}, {0, 3, 4}, {0, 1, 5}};

static void end(void) {
  digraph_free(&g);
  digraph_free(&turned);
}

START_TEST(edges_are_by_node_in_the_order_of_arcs) {
  ck_assert_int_eq(digraph_from_edges(&g, 5, five, 5, 0, &e), 0);
  ck_assert_str_eq(words_of(&g), "5: 0>1*3 0>3*4 0>1*5 2>0*7 2>2*9");
  ck_assert_uint_eq(g.edges, 5);
  ck_assert_uint_eq(g.first[5], 5);
  ck_assert_ptr_null(g.place);
}
END_TEST

START_TEST(reverses_too_but_of_loops) {
  ck_assert_int_eq(digraph_from_edges(&g, 4, five, 5, 1, &e), 0);
  ck_assert_uint_eq(g.edges, 9);
  ck_assert_str_eq(words_of(&g), "4: 0>2*7 0>1*3 0>3*4 0>1*5 1>0*3 1>0*5 "
                                 "2>0*7 2>2*9 3>0*4");
}
END_TEST

START_TEST(small_ones) {
  ck_assert_int_eq(digraph_from_edges(&g, 1, NULL, 0, 0, &e), 0);
  ck_assert_str_eq(words_of(&g), "1:");
  ck_assert_int_eq(digraph_transpose(&g, &turned, &e), 0);
  same_graph(&g, &turned);
  digraph_free(&g);
  ck_assert_uint_eq(g.nodes, 0);
  ck_assert_ptr_null(g.memory[0]);
  const struct digraph_arc loop = {0, 0, 2};
  ck_assert_int_eq(digraph_from_edges(&g, 1, &loop, 1, 1, &e), 0);
  ck_assert_str_eq(words_of(&g), "1: 0>0*2");
}
END_TEST

START_TEST(transposes) {
  ck_assert_int_eq(digraph_from_edges(&g, 5, five, 5, 0, &e), 0);
  ck_assert_int_eq(digraph_transpose(&g, &turned, &e), 0);
  ck_assert_str_eq(words_of(&turned), "5: 0>2*7 1>0*3 1>0*5 2>2*9 3>0*4");
}
END_TEST

/* Turned round twice, a random graph has the edges of each node by target. */
START_TEST(transposed_twice) {
  const struct generate_uniform o = {.nodes = 1000, .arcs = 9000, .seed = 3};
  struct digraph again;
  ck_assert_int_eq(generate_uniform(&g, &o, &e), 0);
  ck_assert_int_eq(digraph_transpose(&g, &turned, &e), 0);
  ck_assert_int_eq(digraph_transpose(&turned, &again, &e), 0);
  ck_assert_mem_eq(g.first, again.first, 1001 * sizeof(*g.first));
  uint64_t sums[2] = {0, 0};
  for (uint64_t v = 0; v < 1000; v++) {
    for (uint64_t i = g.first[v]; i < g.first[v + 1]; i++) {
      ck_assert(i == g.first[v] || again.edge[i].to >= again.edge[i - 1].to);
      sums[0] += (v + 1) * g.edge[i].to * g.edge[i].weight;
      sums[1] += (v + 1) * again.edge[i].to * again.edge[i].weight;
    }
  }
  ck_assert_uint_eq(sums[0], sums[1]);
  digraph_free(&again);
}
END_TEST

START_TEST(components) {
  const struct digraph_arc arcs[] = {
      {5, 1, 1}, {1, 3, 1}, {2, 4, 1}, {6, 6, 1}};
  struct digraph_components found;
  ck_assert_int_eq(digraph_from_edges(&g, 8, arcs, 4, 0, &e), 0);
  ck_assert_int_eq(digraph_components(&g, &found, &e), 0);
  ck_assert_uint_eq(found.count, 5); /* 1 3 5, 2 4, 0, 6, 7 */
  ck_assert_uint_eq(found.largest, 3);
}
END_TEST

START_TEST(too_large) {
  ck_assert_int_eq(
      digraph_from_edges(&g, UINT32_MAX + UINT64_C(1), NULL, 0, 0, &e), EINVAL);
  ck_assert_ptr_nonnull(strstr(e.text, "too many nodes: 4294967296: "));
#ifndef __SANITIZE_ADDRESS__ /* which ends the program */
  ck_assert_int_eq(digraph_allocate(&g, 5, UINT64_C(1) << 50, 0, &e), ENOMEM);
  ck_assert_ptr_nonnull(strstr(e.text, "no memory for a graph: "));
#endif
  ck_assert_int_eq(digraph_allocate(&g, 5, UINT64_MAX / 4, 0, &e), ENOMEM);
  ck_assert_int_eq(digraph_allocate(&g, 5, UINT64_MAX / 4, 0, NULL), ENOMEM);
  ck_assert_ptr_null(g.memory[0]);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("graph");
  TCase *const t = tcase_create("graph");
  tcase_add_checked_fixture(t, NULL, end);
  tcase_add_test(t, edges_are_by_node_in_the_order_of_arcs);
  tcase_add_test(t, reverses_too_but_of_loops);
  tcase_add_test(t, small_ones);
  tcase_add_test(t, transposes);
  tcase_add_test(t, transposed_twice);
  tcase_add_test(t, components);
  tcase_add_test(t, too_large);
  suite_add_tcase(s, t);
  return run_suite(s);
}
