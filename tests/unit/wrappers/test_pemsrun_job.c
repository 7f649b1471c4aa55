#include "wrappers/pemsrun_job.h"

#include <check.h>

#include "check_main.h"

static struct pemsrun_job job;

/* Slots of hosts a, b, c; what the user says of processes. */
static void make(const char *list, int procs) {
  struct pems_error error;
  job = (struct pemsrun_job){.options = {.procs = procs}};
  if (list) {
    ck_assert_int_eq(hosts_add_list(&job.hosts, list, &error), 0);
    hosts_deal(&job.hosts, pemsrun_job_processes(&job));
  }
}

START_TEST(there_is_one_process_if_nothing_is_said) {
  make(NULL, 0);
  ck_assert_int_eq(pemsrun_job_processes(&job), 1);
  ck_assert_int_eq(pemsrun_job_most_on_host(&job), 1);
}
END_TEST

START_TEST(there_are_as_many_as_the_user_says) {
  make(NULL, 5);
  ck_assert_int_eq(pemsrun_job_processes(&job), 5);
  ck_assert_int_eq(pemsrun_job_most_on_host(&job), 5); /* all here */
  make("a:2,b:3", 4);
  ck_assert_int_eq(pemsrun_job_processes(&job), 4);
}
END_TEST

START_TEST(there_is_one_for_each_slot) {
  make("a:2,b:3,c", 0);
  ck_assert_int_eq(pemsrun_job_processes(&job), 6);
  ck_assert_int_eq(pemsrun_job_most_on_host(&job), 3);
}
END_TEST

START_TEST(the_host_with_most_counts) {
  make("a,b:3,c:2", 5); /* dealt: 1, 2, 2 */
  ck_assert_int_eq(pemsrun_job_most_on_host(&job), 2);
  make("a,b", 5); /* more than there are slots */
  ck_assert_int_eq(pemsrun_job_most_on_host(&job), 3);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      there_is_one_process_if_nothing_is_said,
      there_are_as_many_as_the_user_says,
      there_is_one_for_each_slot,
      the_host_with_most_counts,
      NULL,
  };
  return check_main("pemsrun_job", tests);
}
