/* Graphs that are made up. */
#include <math.h>

#include "graph_check.h"

static struct digraph g, other;
static struct pems_error e;

static void end(void) {
  digraph_free(&g);
  digraph_free(&other);
}

static void road(struct digraph *to, uint64_t nodes, double degree,
                 uint64_t seed) {
  const struct generate_road o = {nodes, degree, seed};
  ck_assert_msg(generate_road(to, &o, &e) == 0, "%s", e.text);
}

static void range(const struct digraph *of, uint32_t *least, uint32_t *most) {
  *least = UINT32_MAX;
  *most = 0;
  for (uint64_t i = 0; i < of->edges; i++) {
    *least = of->edge[i].weight < *least ? of->edge[i].weight : *least;
    *most = of->edge[i].weight > *most ? of->edge[i].weight : *most;
  }
}

/* --- roads --- */

START_TEST(a_road_is_what_the_seed_says) {
  road(&g, 20000, 0, 5);
  road(&other, 20000, 0, 5);
  same_graph(&g, &other);
  digraph_free(&other);
  road(&other, 20000, 0, 6);
  ck_assert(g.edges != other.edges ||
            memcmp(g.edge, other.edge, g.edges * sizeof(*g.edge)) != 0);
}
END_TEST

START_TEST(a_road_has_nodes_and_a_degree_as_asked) {
  static const double degrees[] = {0, 2.2, 2.4, 2.8, 3.3, 3.9};
  for (int i = 0; i < 6; i++) {
    const double wanted = degrees[i] == 0 ? 2.4 : degrees[i];
    road(&g, 100000, degrees[i], 1);
    ck_assert_double_le(fabs((double)g.edges / (double)g.nodes - wanted), 0.04);
    ck_assert_double_le(fabs((double)g.nodes - 100000), 2000);
    digraph_free(&g);
  }
}
END_TEST

START_TEST(a_road_is_connected) {
  struct digraph_components found;
  for (uint64_t seed = 0; seed < 4; seed++) {
    road(&g, 30000, 2.4, seed);
    ck_assert_int_eq(digraph_components(&g, &found, &e), 0);
    ck_assert_uint_eq(found.count, 1);
    ck_assert_uint_eq(found.largest, g.nodes);
    digraph_free(&g);
  }
}
END_TEST

START_TEST(small_roads) {
  for (uint64_t nodes = 1; nodes < 40; nodes += 3) {
    struct digraph_components found;
    road(&g, nodes, 3, nodes);
    ck_assert_uint_ge(g.nodes, 4);
    ck_assert_int_eq(digraph_components(&g, &found, &e), 0);
    ck_assert_uint_eq(found.count, 1);
    digraph_free(&g);
  }
}
END_TEST

/* A road leads both ways, at least as long as the straight line, and at most
   1.3 times that; never from a crossing to itself. */
START_TEST(lengths_of_roads) {
  uint32_t least, most;
  road(&g, 50000, 0, 2);
  ck_assert_int_eq(digraph_transpose(&g, &other, &e), 0);
  for (uint64_t v = 0; v < g.nodes; v++) {
    ck_assert_uint_ge(g.first[v + 1] - g.first[v], 1);
    ck_assert_uint_le(g.first[v + 1] - g.first[v], 4);
    for (uint64_t i = g.first[v]; i < g.first[v + 1]; i++) {
      const uint32_t to = g.edge[i].to;
      const double straight = hypot((double)g.place[v].x - g.place[to].x,
                                    (double)g.place[v].y - g.place[to].y);
      ck_assert_uint_ne(to, v);
      ck_assert_double_ge(g.edge[i].weight, straight);
      ck_assert_double_le(g.edge[i].weight, 1.3 * straight + 2);
    }
  }
  /* Edges are in the order of where they go, in both. */
  ck_assert_mem_eq(g.first, other.first, (g.nodes + 1) * sizeof(*g.first));
  ck_assert_mem_eq(g.edge, other.edge, g.edges * sizeof(*g.edge));
  range(&g, &least, &most);
  ck_assert_uint_le(least, 50);
  ck_assert_uint_ge(most, 100000);
  ck_assert_uint_le(most, 300000);
}
END_TEST

START_TEST(roads_that_there_are_not) {
  struct generate_road o = {.degree = 2.1};
  ck_assert_int_eq(generate_road(&g, &o, &e), EINVAL);
  ck_assert_str_eq(e.text, "there is no such road: a mean degree of 2.1: give "
                           "2.2 to 3.9");
  o.degree = NAN;
  ck_assert_int_eq(generate_road(&g, &o, &e), EINVAL);
  o = (struct generate_road){.nodes = UINT64_C(1) << 40};
  ck_assert_int_eq(generate_road(&g, &o, &e), EINVAL);
  ck_assert_str_eq(e.text, "too many nodes: 1099511627776: at most 2^31");
}
END_TEST

/* --- power law --- */

static uint64_t greatest_degree(const struct digraph *of) {
  uint64_t most = 0;
  for (uint64_t v = 0; v < of->nodes; v++) {
    const uint64_t degree = of->first[v + 1] - of->first[v];
    most = degree > most ? degree : most;
  }
  return most;
}

START_TEST(rmat) {
  struct generate_rmat o = {
      .scale = 13, .factor = 8, .weights = {0, 100}, .seed = 4};
  uint32_t least, most;
  ck_assert_int_eq(generate_rmat(&g, &o, &e), 0);
  ck_assert_int_eq(generate_rmat(&other, &o, &e), 0);
  same_graph(&g, &other);
  ck_assert_uint_eq(g.nodes, 1 << 13);
  ck_assert_uint_eq(g.edges, 8 << 13);
  range(&g, &least, &most);
  ck_assert_uint_eq(least, 0);
  ck_assert_uint_eq(most, 100);
  /* Of node 0 there are (a + b)^13 of the edges. */
  const double wanted = pow(0.76, 13) * (double)g.edges;
  const double found = (double)g.first[1];
  ck_assert_double_le(fabs(found - wanted), 5 * sqrt(wanted));
  ck_assert_uint_eq(greatest_degree(&g), g.first[1]);
  /* And a share of a + c of the edges goes to the lower half. */
  uint64_t low = 0;
  for (uint64_t i = 0; i < g.edges; i++) {
    low += g.edge[i].to < g.nodes / 2;
  }
  ck_assert_double_le(fabs((double)low / (double)g.edges - 0.76), 0.01);
}
END_TEST

static int by_number(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static void sorted_degrees(const struct digraph *of, uint64_t *degree) {
  for (uint64_t v = 0; v < of->nodes; v++) {
    degree[v] = of->first[v + 1] - of->first[v];
  }
  qsort(degree, of->nodes, sizeof(*degree), by_number);
}

/* The permuted graph has the same degrees, elsewhere. */
START_TEST(rmat_permuted) {
  static uint64_t degree[2][1 << 11];
  for (int scale = 1; scale <= 11; scale++) {
    struct generate_rmat o = {.scale = scale, .factor = 5, .seed = 4};
    ck_assert_int_eq(generate_rmat(&g, &o, &e), 0);
    o.permute = 1;
    ck_assert_int_eq(generate_rmat(&other, &o, &e), 0);
    sorted_degrees(&g, degree[0]);
    sorted_degrees(&other, degree[1]);
    ck_assert_mem_eq(degree[0], degree[1], g.nodes * sizeof(*degree[0]));
    if (scale == 11) {
      ck_assert_uint_ne(other.first[1], g.first[1]);
    }
    end();
  }
}
END_TEST

START_TEST(both_ways) {
  const struct generate_rmat o = {.scale = 8, .factor = 4, .both = 1};
  ck_assert_int_eq(generate_rmat(&g, &o, &e), 0);
  ck_assert_uint_gt(g.edges, 7 << 8);
  ck_assert_int_eq(digraph_transpose(&g, &other, &e), 0);
  ck_assert_mem_eq(g.first, other.first, (g.nodes + 1) * sizeof(*g.first));
}
END_TEST

START_TEST(rmats_that_there_are_not) {
  struct generate_rmat o = {.scale = 32};
  ck_assert_int_eq(generate_rmat(&g, &o, &e), EINVAL);
  ck_assert_str_eq(e.text, "there is no such graph: scale 32: give 1 to 31");
  o = (struct generate_rmat){.scale = 4, .a = .6, .b = .5};
  ck_assert_int_eq(generate_rmat(&g, &o, &e), EINVAL);
  ck_assert_ptr_nonnull(strstr(e.text, "quarters: 0.6, 0.5, 0: "));
  o = (struct generate_rmat){.scale = 4, .weights = {9, 8}};
  ck_assert_int_eq(generate_rmat(&g, &o, &e), EINVAL);
  ck_assert_ptr_nonnull(strstr(e.text, "no such weights: 9:8: "));
  o = (struct generate_rmat){.scale = 4, .factor = UINT64_C(1) << 32};
  ck_assert_int_eq(generate_rmat(&g, &o, &e), EINVAL);
  o = (struct generate_rmat){.scale = 31, .factor = UINT32_MAX};
  ck_assert_int_eq(generate_rmat(&g, &o, &e), EINVAL);
  ck_assert_ptr_nonnull(strstr(e.text, "too many arcs: "));
  ck_assert_ptr_null(g.memory[0]);
}
END_TEST

/* --- uniform --- */

START_TEST(uniform) {
  struct generate_uniform o = {
      .nodes = 1000, .arcs = 50000, .weights = {5, 7}, .seed = 8};
  uint32_t least, most;
  ck_assert_int_eq(generate_uniform(&g, &o, &e), 0);
  ck_assert_int_eq(generate_uniform(&other, &o, &e), 0);
  same_graph(&g, &other);
  ck_assert_uint_eq(g.edges, 50000);
  range(&g, &least, &most);
  ck_assert_uint_eq(least, 5);
  ck_assert_uint_eq(most, 7);
  for (uint64_t v = 0; v < g.nodes; v++) {
    ck_assert_uint_ge(g.first[v + 1] - g.first[v], 10);
    ck_assert_uint_le(g.first[v + 1] - g.first[v], 100);
    for (uint64_t i = g.first[v]; i < g.first[v + 1]; i++) {
      ck_assert_uint_ne(g.edge[i].to, v);
    }
  }
}
END_TEST

START_TEST(uniforms_that_there_are_not) {
  struct generate_uniform o = {.nodes = 1};
  ck_assert_int_eq(generate_uniform(&g, &o, &e), EINVAL);
  o = (struct generate_uniform){.nodes = 4, .weights = {9, 8}};
  ck_assert_int_eq(generate_uniform(&g, &o, &e), EINVAL);
  o = (struct generate_uniform){.nodes = 4, .arcs = UINT64_C(1) << 50};
  ck_assert_int_eq(generate_uniform(&g, &o, &e), EINVAL);
}
END_TEST

START_TEST(weights_of_all_32_bits) {
  const struct generate_weights w = {0, UINT32_MAX};
  ck_assert_uint_eq(generate_weight(&w, 0), 0);
  ck_assert_uint_eq(generate_weight(&w, UINT64_MAX), UINT32_MAX);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("graph_generate");
  TCase *const t = tcase_create("graph_generate");
  tcase_set_timeout(t, 60);
  tcase_add_checked_fixture(t, NULL, end);
  tcase_add_test(t, a_road_is_what_the_seed_says);
  tcase_add_test(t, a_road_has_nodes_and_a_degree_as_asked);
  tcase_add_test(t, a_road_is_connected);
  tcase_add_test(t, small_roads);
  tcase_add_test(t, lengths_of_roads);
  tcase_add_test(t, roads_that_there_are_not);
  tcase_add_test(t, rmat);
  tcase_add_test(t, rmat_permuted);
  tcase_add_test(t, both_ways);
  tcase_add_test(t, rmats_that_there_are_not);
  tcase_add_test(t, uniform);
  tcase_add_test(t, uniforms_that_there_are_not);
  tcase_add_test(t, weights_of_all_32_bits);
  suite_add_tcase(s, t);
  return run_suite(s);
}
