#include "em/core/host.h"

#include "base/counters.h"
#include "base/message.h"
#include "check_main.h"

#include <check.h>
#include <string.h>

static char noticed[100];

static void note(const char *line) {
  strncpy(noticed, line, sizeof(noticed) - 1);
}

START_TEST(a_host_gets_notices_and_counters) {
  struct pems_em_host host = {sizeof(host), note, NULL};
  ck_assert_int_eq(pems_em_attach(&host), 0);
  ck_assert_ptr_eq(host.counters, &counters);
  msg_notice("%s: %d", "what", 3);
  ck_assert_str_eq(noticed, "what: 3");
}
END_TEST

START_TEST(counts_of_both_libraries_are_added) {
  static struct counters other;
  other.reads = 5;
  counters.reads = 2;
  ck_assert_uint_eq(counter_get(reads), 2);
  counters_joined = &other;
  ck_assert_uint_eq(counter_get(reads), 7);
}
END_TEST

START_TEST(another_version_is_refused) {
  struct pems_em_host host = {sizeof(host) + 8, note, NULL};
  ck_assert_int_eq(pems_em_attach(&host), -1);
  ck_assert_ptr_null(host.counters);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("host");
  TCase *cases = tcase_create("host");
  tcase_add_test(cases, a_host_gets_notices_and_counters);
  tcase_add_test(cases, counts_of_both_libraries_are_added);
  tcase_add_test(cases, another_version_is_refused);
  suite_add_tcase(suite, cases);
  return check_run(suite);
}
