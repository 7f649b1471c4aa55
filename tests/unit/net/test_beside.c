/* Parts of memory that processes of a host share. */
#include "net/beside.h"

#include "check_host.h"
#include "check_main.h"
#include "check_need.h"

#include <check.h>

static void fill(const struct beside *b, void *own) {
  memset(own, 'a' + b->me, 100 + 2 * 50);
}

static void check_parts(const struct beside *b, int i) {
  ck_assert_int_eq(b->n, 2);
  ck_assert_int_eq(b->me, i);
  ck_assert_int_eq(b->all[0], 0);
  ck_assert_int_eq(b->all[1], OTHER);
  ck_assert_int_eq(part, 100 + 2 * 50);
  ck_assert_ptr_eq(b->part[0], memory);
  ck_assert_ptr_eq(b->part[1], memory + part);
  ck_assert_int_eq(((char *)b->part[i])[part - 1], 'a' + i);
}

START_TEST(each_has_a_part) {
  struct beside first, second;
  beside_create(&first, MPI_COMM_WORLD, 100, 50, fill);
  check_parts(&first, 0);
  me = OTHER;
  beside_create(&second, MPI_COMM_WORLD, 100, 50, fill);
  check_parts(&second, 1);
  check_parts(&first, 0);
  beside_destroy(&first);
  beside_destroy(&second);
}
END_TEST

START_TEST(there_may_be_none) {
  struct beside b;
  shares = false;
  beside_create(&b, MPI_COMM_WORLD, 100, 50, fill);
  ck_assert_ptr_null(b.part);
  ck_assert_int_eq(b.n, 2);
  beside_destroy(&b);
}
END_TEST

static void create_and_destroy(void) {
  struct beside b;
  beside_create(&b, MPI_COMM_WORLD, 100, 50, fill);
  beside_destroy(&b);
}

START_TEST(there_is_memory_or_the_job_ends) {
  ck_assert_int_ge(need_every(create_and_destroy), 2);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {each_has_a_part, there_may_be_none,
                                there_is_memory_or_the_job_ends, NULL};
  return check_main_around("beside", tests, set_up, tear_down);
}
