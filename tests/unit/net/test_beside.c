/* Parts of memory that processes of a host share. */
#include "net/beside.h"

#include "check_host.h"
#include "check_main.h"
#include "check_need.h"

#include <check.h>

enum { PART = 100 + 2 * 50 };

static void fill(const struct beside *b, void *own) {
  memset(own, 'a' + b->me, PART);
}

static void check_parts(const struct beside *b, int i) {
  ck_assert_int_eq(b->n, 2);
  ck_assert_int_eq(b->me, i);
  ck_assert_int_eq(b->all[0], 0);
  ck_assert_int_eq(b->all[1], OTHER);
  ck_assert_int_eq(((char *)b->part[i])[0], 'a' + i);
  ck_assert_int_eq(((char *)b->part[i])[PART - 1], 'a' + i);
}

START_TEST(each_has_a_part) {
  struct beside first, second;
  ck_assert_int_eq(beside_create(&first, MPI_COMM_WORLD, 100, 50, fill), 0);
  check_parts(&first, 0);
  me = OTHER;
  ck_assert_int_eq(beside_create(&second, MPI_COMM_WORLD, 100, 50, fill), 0);
  check_parts(&second, 1);
  check_parts(&first, 0);
  ((char *)second.part[0])[1] = 'x'; /* each sees what the other writes */
  ck_assert_int_eq(((char *)first.part[0])[1], 'x');
  ck_assert_int_eq(((char *)first.part[1])[1], 'b');
  beside_destroy(&first);
  beside_destroy(&second);
}
END_TEST

START_TEST(there_may_be_none) {
  struct beside b;
  shares = false;
  ck_assert_int_eq(beside_create(&b, MPI_COMM_WORLD, 100, 50, fill), EPERM);
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
