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
  tcase_add_test(t, who_takes_edges_can_end_it);
  tcase_add_test(t, damaged_rows_end_it);
  suite_add_tcase(s, t);
  return run_suite(s);
}
