/* Bells of three processes; the other one of this host is a child. */
#define _GNU_SOURCE
#include "net/wakeup.h"

#include <check.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check_host.h"
#include "check_main.h"
#include "check_need.h"

#define FOREVER INT64_MAX

/* --- tests --- */

/* Sleeps until its bell rings: libcheck's limit ends a sleep in vain. */
static void sleep_once(int said) {
  const uint32_t heard = wakeup_sleeps();
  ck_assert_int_eq(write(said, "", 1), 1);
  while (wakeup_sleeps() == heard) {
    wakeup_wait(heard, FOREVER);
  }
  wakeup_wakes();
}

START_TEST(another_process_is_woken) {
  int said[2], status;
  char byte;
  ck_assert_int_eq(pipe(said), 0);
  wakeup_create_all(MPI_COMM_WORLD);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    wakeup_destroy_all();
    me = OTHER;
    wakeup_create_all(MPI_COMM_WORLD);
    sleep_once(said[1]);
    wakeup_destroy_all();
    _exit(0);
  }
  ck_assert_int_eq(read(said[0], &byte, 1), 1);
  wakeup_ring(FAR);
  wakeup_ring(OTHER);
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_int_eq(status, 0);
  wakeup_destroy_all();
}
END_TEST

/* It rings between the last look and the sleep; with and without memory that is
   shared. */
START_TEST(a_bell_before_the_sleep_is_heard) {
  shares = _i;
  wakeup_create_all(MPI_COMM_WORLD);
  const uint32_t heard = wakeup_sleeps();
  wakeup_ring(0);
  wakeup_wait(heard, FOREVER);
  wakeup_wakes();
  wakeup_ring(OTHER);
  wakeup_destroy_all();
}
END_TEST

START_TEST(who_is_awake_hears_no_bell) {
  wakeup_create_all(MPI_COMM_WORLD);
  const uint32_t heard = wakeup_sleeps();
  wakeup_wakes();
  wakeup_ring(0);
  ck_assert_uint_eq(wakeup_sleeps(), heard);
  wakeup_wait(heard, 1000000); /* ends by itself */
  wakeup_destroy_all();
}
END_TEST

static void create_and_destroy(void) {
  wakeup_create_all(MPI_COMM_WORLD);
  wakeup_ring(OTHER);
  wakeup_destroy_all();
}

/* Another thread looks instead. */
START_TEST(who_rests_hears_only_a_call) {
  wakeup_create_all(MPI_COMM_WORLD);
  wakeup_sleeps();
  wakeup_stands_in();
  const uint32_t heard = wakeup_rests();
  wakeup_ring(0);
  ck_assert_uint_eq(wakeup_rests(), heard);
  wakeup_call();
  wakeup_wait(heard, FOREVER);
  ck_assert_uint_ne(wakeup_rests(), heard);
  wakeup_destroy_all();
}
END_TEST

START_TEST(there_is_a_bell_or_the_job_ends) {
  ck_assert_int_ge(need_every(create_and_destroy), 1);
}
END_TEST

START_TEST(an_error_of_the_real_mpi_ends_the_job) {
  char said[4096];
  refusing = MPI_ERR_NO_MEM;
  ck_assert_int_eq(check_child_exit(create_and_destroy, said, sizeof(said)),
                   MSG_FAILED);
  ck_assert_ptr_nonnull(strstr(said, "no memory"));
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("wakeup");
  TCase *const all = tcase_create("all");
  tcase_set_timeout(all, 120);
  tcase_add_checked_fixture(all, set_up, tear_down);
  tcase_add_test(all, another_process_is_woken);
  tcase_add_loop_test(all, a_bell_before_the_sleep_is_heard, 0, 2);
  tcase_add_test(all, who_is_awake_hears_no_bell);
  tcase_add_test(all, who_rests_hears_only_a_call);
  tcase_add_test(all, there_is_a_bell_or_the_job_ends);
  tcase_add_test(all, an_error_of_the_real_mpi_ends_the_job);
  suite_add_tcase(suite, all);
  return check_run(suite);
}
