/* What there is on this machine, shared out. */
#include "em/core/defaults.h"

#include <check.h>
#include <stdlib.h>

#include "check_main.h"
#include "config/machine.h"

START_TEST(shares_of_the_machine) {
  struct machine m;
  ck_assert_int_eq(machine_find(&m, ""), 0);
  const uint64_t all = m.limit < m.memory ? m.limit : m.memory;
  ck_assert_uint_eq(defaults_memory(), all / 4);
  ck_assert_int_eq(defaults_threads(), m.cores);
  ck_assert_int_ge(defaults_threads(), 1);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("defaults");
  TCase *const c = tcase_create("defaults");
  tcase_add_test(c, shares_of_the_machine);
  suite_add_tcase(suite, c);
  return check_run(suite);
}
