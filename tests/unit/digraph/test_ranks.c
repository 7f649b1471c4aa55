/* PageRank with edges in a file, beside power iteration in memory. */
#include "digraph/ranks.h"

#include <math.h>

#include "digraph/reference.h"
#include "semi_external.h"

static const double damping = 0.85, epsilon = 1e-9;
static struct semi_external x;
static double rank[NODES], right[NODES];

static void set_up(void) {
  semi_external_begin(&x, 0);
}

static void tear_down(void) {
  semi_external_end(&x);
}

START_TEST(ranks_are_those_of_the_reference) {
  struct pems_error error;
  uint64_t rounds, more;
  ck_assert_int_eq(
      reference_ranks(&x.inside, damping, epsilon, false, right, &rounds), 0);
  ck_assert_int_eq(ranks_of_rows(x.in_file, &x.outside, damping, epsilon, rank,
                                 &rounds, &error),
                   0);
  for (int v = 0; v < NODES; v++) {
    ck_assert_msg(fabs(rank[v] - right[v]) <= 1e-6 * right[v], "%d: %g, not %g",
                  v, rank[v], right[v]);
  }
  ck_assert_int_eq(
      ranks_of_rows(x.in_memory, &x.inside, damping, 1e-3, rank, &more, &error),
      0);
  ck_assert_uint_lt(more, rounds);
  ck_assert_uint_ge(ranks_memory(NODES), NODES * sizeof(double));
}
END_TEST

START_TEST(damaged_rows_end_it) {
  struct pems_error error;
  uint64_t rounds;
  ck_assert_int_eq(truncate(path_of("g.csr"), (off_t)x.outside.edge_at + 9999),
                   0);
  ck_assert_int_ne(ranks_of_rows(x.in_file, &x.outside, damping, epsilon, rank,
                                 &rounds, &error),
                   0);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("ranks");
  TCase *const t = tcase_create("ranks");
  tcase_set_timeout(t, 120);
  tcase_add_checked_fixture(t, set_up, tear_down);
  tcase_add_test(t, ranks_are_those_of_the_reference);
  tcase_add_test(t, damaged_rows_end_it);
  suite_add_tcase(s, t);
  return run_suite(s);
}
