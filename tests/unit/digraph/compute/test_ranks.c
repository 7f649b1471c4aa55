/* PageRank in memory and with edges in a file, beside power iteration. */
#include "digraph/compute/ranks.h"

#include <math.h>

#include "digraph/compute/reference.h"
#include "semi_external.h"

static struct semi_external x;
static double rank[NODES], right[NODES];

static void set_up(void) {
  semi_external_begin(&x, 0);
}

static void tear_down(void) {
  semi_external_end(&x);
}

static struct ranks_options within(double error) {
  return (struct ranks_options){.damping = 0.85, .error = error, .threads = 3};
}

static void ask_reference(const struct digraph *g) {
  uint64_t rounds;
  ck_assert_int_eq(reference_ranks(g, 0.85, 1e-11, true, right, &rounds), 0);
}

/* All differences are within what was promised, and that within what was asked
   for. */
static void check_found(const struct digraph *g, double error,
                        const struct ranks_found *found) {
  double sum = 0, difference = 0;
  for (uint64_t v = 0; v < g->nodes; v++) {
    sum += rank[v];
    difference += fabs(rank[v] - right[v]);
  }
  ck_assert_double_eq_tol(sum, 1, 1e-12);
  ck_assert_double_le(found->error, error);
  ck_assert_double_le(difference, found->error + 1e-12);
  ck_assert_uint_ge(found->sweeps, 1);
}

START_TEST(ranks_are_within_the_error) {
  struct pems_error error;
  struct ranks_found found;
  uint64_t before = 0;
  ask_reference(&x.inside);
  for (double most = 10; most > 1e-11; most /= 100) {
    const struct ranks_options o = within(most);
    ck_assert_int_eq(ranks_of_graph(&x.inside, &o, rank, &found, &error), 0);
    check_found(&x.inside, most, &found);
    ck_assert_int_eq(
        ranks_of_rows(x.in_memory, &x.inside, &o, rank, &found, &error), 0);
    check_found(&x.inside, most, &found);
    const uint64_t sweeps = found.sweeps;
    ck_assert_uint_ge(sweeps, before);
    before = sweeps;
    ck_assert_int_eq(
        ranks_of_rows(x.in_file, &x.outside, &o, rank, &found, &error), 0);
    check_found(&x.outside, most, &found);
    ck_assert_uint_eq(found.sweeps, sweeps);
  }
  ck_assert_uint_gt(before, 5);
}
END_TEST

/* Parts that know nothing of each other converge slowly, and a circle does;
   nodes 8 and 9 have no edge. */
START_TEST(parts_circles_and_loops) {
  const struct digraph_arc arcs[] = {{0, 1, 1}, {1, 0, 1}, {2, 3, 1},
                                     {3, 4, 1}, {4, 5, 1}, {5, 2, 1},
                                     {6, 6, 1}, {6, 7, 1}, {6, 7, 1}};
  struct digraph g;
  struct rows *rows;
  struct pems_error error;
  struct ranks_found found;
  const struct ranks_options o = within(1e-11);
  ck_assert_int_eq(digraph_from_edges(&g, 10, arcs, 9, 0, &error), 0);
  ck_assert_int_eq(rows_open(&rows, &g, NULL, NULL, &error), 0);
  ask_reference(&g);
  ck_assert_int_eq(ranks_of_graph(&g, &o, rank, &found, &error), 0);
  check_found(&g, 1e-11, &found);
  ck_assert_int_eq(ranks_of_rows(rows, &g, &o, rank, &found, &error), 0);
  check_found(&g, 1e-11, &found);
  rows_close(rows);
  digraph_free(&g);
}
END_TEST

START_TEST(graphs_without_edges) {
  struct pems_error error;
  struct ranks_found found;
  const struct ranks_options o = within(1e-12);
  for (uint64_t nodes = 1; nodes < 400; nodes += 133) {
    struct digraph g;
    struct rows *rows;
    ck_assert_int_eq(digraph_from_edges(&g, nodes, NULL, 0, 0, &error), 0);
    ck_assert_int_eq(rows_open(&rows, &g, NULL, NULL, &error), 0);
    ask_reference(&g);
    ck_assert_int_eq(ranks_of_graph(&g, &o, rank, &found, &error), 0);
    check_found(&g, 1e-12, &found);
    ck_assert_int_eq(ranks_of_rows(rows, &g, &o, rank, &found, &error), 0);
    check_found(&g, 1e-12, &found);
    rows_close(rows);
    digraph_free(&g);
  }
}
END_TEST

/* It ends where rounding does not let it come nearer. */
START_TEST(too_small_an_error_is_told) {
  struct pems_error error;
  struct ranks_found found;
  const struct ranks_options o = within(1e-30);
  ck_assert_int_eq(ranks_of_graph(&x.inside, &o, rank, &found, &error), EDOM);
  ck_assert_ptr_nonnull(strstr(error.text, "1e-30: rounding leaves"));
  ck_assert_int_eq(
      ranks_of_rows(x.in_memory, &x.inside, &o, rank, &found, &error), EDOM);
}
END_TEST

START_TEST(damaged_rows_end_it) {
  struct pems_error error;
  struct ranks_found found;
  const struct ranks_options o = within(1e-4);
  ck_assert_int_eq(truncate(path_of("g.csr"), (off_t)x.outside.edge_at + 9999),
                   0);
  ck_assert_int_ne(
      ranks_of_rows(x.in_file, &x.outside, &o, rank, &found, &error), 0);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("ranks");
  TCase *const t = tcase_create("ranks");
  tcase_set_timeout(t, 120);
  tcase_add_checked_fixture(t, set_up, tear_down);
  tcase_add_test(t, ranks_are_within_the_error);
  tcase_add_test(t, parts_circles_and_loops);
  tcase_add_test(t, graphs_without_edges);
  tcase_add_test(t, too_small_an_error_is_told);
  tcase_add_test(t, damaged_rows_end_it);
  suite_add_tcase(s, t);
  return run_suite(s);
}
