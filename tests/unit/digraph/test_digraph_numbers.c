/* Node numbers and their ranks. */
#include "digraph/digraph_numbers.h"

#include "graph_check.h"

static struct pems_error e;

START_TEST(ranks_are_in_the_order_of_numbers) {
  static const uint64_t numbers[] = {UINT64_MAX - 1, 0, 7, 1ull << 40, 7};
  static const uint32_t ranks[] = {3, 0, 1, 2, 1};
  struct digraph_numbers s;
  uint32_t rank;
  ck_assert_int_eq(digraph_numbers_begin(&s, &e), 0);
  for (int i = 0; i < 5; i++) {
    bool added;
    ck_assert_int_eq(digraph_numbers_add(&s, numbers[i], &added, &e), 0);
    ck_assert_int_eq(added, i < 4);
  }
  ck_assert_uint_eq(s.n, 4);
  ck_assert_int_eq(digraph_numbers_rank(&s, "x", &e), 0);
  for (int i = 0; i < 5; i++) {
    ck_assert(digraph_numbers_find(&s, numbers[i], &rank));
    ck_assert_uint_eq(rank, ranks[i]);
  }
  ck_assert(!digraph_numbers_find(&s, 8, &rank));
  digraph_numbers_free(&s);
}
END_TEST

START_TEST(the_table_grows) {
  enum { MANY = 200000 };
  struct digraph_numbers s;
  uint32_t rank;
  ck_assert_int_eq(digraph_numbers_begin(&s, &e), 0);
  for (uint64_t i = MANY; i-- > 0;) {
    ck_assert_int_eq(digraph_numbers_add(&s, i << 33, NULL, &e), 0);
  }
  ck_assert_uint_eq(s.n, MANY);
  ck_assert_int_eq(digraph_numbers_rank(&s, "x", &e), 0);
  for (uint64_t i = 0; i < MANY; i += 9999) {
    ck_assert(digraph_numbers_find(&s, i << 33, &rank));
    ck_assert_uint_eq(rank, i);
  }
  digraph_numbers_free(&s);
}
END_TEST

START_TEST(too_many) {
  struct digraph_numbers s = {.n = 1ull << 32};
  ck_assert_int_eq(digraph_numbers_rank(&s, "x", &e), EINVAL);
  ck_assert_ptr_nonnull(strstr(e.text, "x: too many nodes: 4294967296: "));
}
END_TEST

int main(void) {
  const TTest *const tests[] = {ranks_are_in_the_order_of_numbers,
                                the_table_grows, too_many, NULL};
  return check_main("digraph_numbers", tests);
}
