/* Minimum spanning forests with edges in a file, beside Kruskal in memory. */
#include "digraph/compute/forest.h"

#include "digraph/compute/reference.h"
#include "semi_external.h"

static struct semi_external x;

static void set_up(void) {
  semi_external_begin(&x, 1);
}

static void tear_down(void) {
  semi_external_end(&x);
}

struct taken {
  uint32_t parent[NODES];
  uint64_t weight, edges;
  uint32_t last;
  uint64_t end; /* after so many, it has had enough */
};

/* Edges of a forest join what was apart, and come by weight. */
static int take(void *arg, const struct digraph_arc *arc) {
  struct taken *const t = arg;
  ck_assert_uint_ge(arc->weight, t->last);
  ck_assert_uint_ne(digraph_set_find(t->parent, arc->from),
                    digraph_set_find(t->parent, arc->to));
  digraph_set_join(t->parent, arc->from, arc->to);
  t->last = arc->weight;
  t->weight += arc->weight;
  t->edges++;
  return t->edges == t->end ? ECANCELED : 0;
}

static int find(struct taken *t, uint64_t end, uint64_t *weight,
                uint64_t *edges) {
  const char *const dir = directory;
  const struct pems_sort_options machine = {
      .memory = 32 << 20, .threads = 1, .scratch = {.path = &dir, .count = 1}};
  struct pems_error error;
  *t = (struct taken){.end = end};
  for (uint32_t v = 0; v < NODES; v++) {
    t->parent[v] = v;
  }
  return forest_of_rows(x.in_file, &x.outside, &machine, take, t, weight, edges,
                        &error);
}

START_TEST(forests_are_those_of_the_reference) {
  static struct taken t;
  uint64_t right, count, weight, edges;
  ck_assert_int_eq(reference_forest(&x.inside, &right, &count), 0);
  ck_assert_int_eq(find(&t, 0, &weight, &edges), 0);
  ck_assert_uint_eq(weight, right);
  ck_assert_uint_eq(edges, count);
  ck_assert_uint_eq(t.weight, right);
  ck_assert_uint_eq(t.edges, count);
  ck_assert_uint_ge(forest_memory(NODES), NODES * sizeof(uint32_t));
}
END_TEST

/* The forest of a graph in memory: weights are those of the reference,
   whichever edges are sorted first. */
static void check_weights(uint32_t (*weight_of)(uint64_t random), int seed) {
  enum { N = 500, ARCS = 20000 };
  static struct digraph_arc arcs[ARCS];
  const struct pems_sort_options machine = {.memory = 32 << 20, .threads = 1};
  struct pems_error error;
  struct digraph g;
  struct rows *rows;
  uint64_t right, count, weight, edges;
  for (uint64_t i = 0; i < ARCS; i++) {
    const uint64_t r = generate_mix(i * 3 + (uint64_t)seed);
    arcs[i] = (struct digraph_arc){(uint32_t)(r >> 40) % (N - 1),
                                   (uint32_t)(r >> 10) % (N - 1),
                                   weight_of(generate_mix(r))};
  }
  ck_assert_int_eq(digraph_from_edges(&g, N, arcs, ARCS, 0, &error), 0);
  ck_assert_int_eq(rows_open(&rows, &g, NULL, NULL, &error), 0);
  ck_assert_int_eq(reference_forest(&g, &right, &count), 0);
  ck_assert_int_eq(
      forest_of_rows(rows, &g, &machine, NULL, NULL, &weight, &edges, &error),
      0);
  ck_assert_uint_eq(weight, right);
  ck_assert_uint_eq(edges, count);
  rows_close(rows);
  digraph_free(&g);
}

static uint32_t of_all_lengths(uint64_t random) {
  return (uint32_t)random >> (random >> 32) % 32;
}
static uint32_t of_few(uint64_t random) {
  return UINT32_MAX - random % 3;
}
static uint32_t the_same(uint64_t random) {
  return (uint32_t)(random & 0) + 7;
}
static uint32_t of_one_length(uint64_t random) {
  return 0x80000000 + (uint32_t)random % 1000000000;
}

START_TEST(weights_of_all_kinds) {
  for (int seed = 0; seed < 5; seed++) {
    check_weights(of_all_lengths, seed);
    check_weights(of_few, seed);
    check_weights(the_same, seed);
    check_weights(of_one_length, seed);
  }
}
END_TEST

START_TEST(who_takes_edges_can_end_it) {
  static struct taken t;
  uint64_t weight, edges;
  ck_assert_int_eq(find(&t, 10, &weight, &edges), ECANCELED);
  ck_assert_uint_eq(t.edges, 10);
}
END_TEST

START_TEST(damaged_rows_end_it) {
  static struct taken t;
  uint64_t weight, edges;
  ck_assert_int_eq(truncate(path_of("g.csr"), (off_t)x.outside.edge_at + 9999),
                   0);
  ck_assert_int_ne(find(&t, 0, &weight, &edges), 0);
  ck_assert_uint_eq(t.edges, 0);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("forest");
  TCase *const t = tcase_create("forest");
  tcase_set_timeout(t, 120);
  tcase_add_checked_fixture(t, set_up, tear_down);
  tcase_add_test(t, forests_are_those_of_the_reference);
  tcase_add_test(t, weights_of_all_kinds);
  tcase_add_test(t, who_takes_edges_can_end_it);
  tcase_add_test(t, damaged_rows_end_it);
  suite_add_tcase(s, t);
  return run_suite(s);
}
