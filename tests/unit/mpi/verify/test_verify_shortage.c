/* Reports of mistakes where memory is short: the job ends, with a line that
   says why. */
#include <check.h>
#include <string.h>

#include "../check_shortage.h"
#include "check_main.h"
#include "check_need.h"
#include "mpi/verify/check_leaks.h"
#include "mpi/verify/deadlock_report.h"

/* --- who waits for whom --- */

static struct deadlock_report_vp waiting(int rank, int peer) {
  struct deadlock_report_vp vp = {
      .rank = rank, .peer = peer, .text = "waits in MPI_Recv from"};
  return vp;
}

static void report_deadlock(void) {
  struct deadlock_report s = {0};
  char out[4096];
  for (int i = 0; i < 4; i++) {
    const struct deadlock_report_vp vp = waiting(i, 3 - i);
    const struct deadlock_report_member member = {.team = 1, .rank = i};
    deadlock_report_add_vps(&s, &vp, 1);
    deadlock_report_add_members(&s, &member, 1);
  }
  deadlock_report_report(&s, out, sizeof(out));
  if (!strstr(out, "deadlock: no rank can go on")) {
    _exit(NEED_LOST);
  }
  deadlock_report_free(&s);
}

START_TEST(a_deadlock_is_told_or_the_shortage) {
  ck_assert_int_ge(need_every(report_deadlock), 8 + 2);
}
END_TEST

/* --- what ranks leave --- */

/* More than there is room for at first: what is noted stays. */
enum { NOTES = 300 };

static long tables; /* that are not freed */

static void note_first(void) {
  const long before = atomic_load(&check_memory.live);
  shortage_rank.buffered = (struct buffered *)&shortage_rank;
  check_leaks_objects();
  tables = atomic_load(&check_memory.live) - before;
}

static void note_all(void) {
  for (int i = 0; i < NOTES; i++) {
    check_leaks_objects();
  }
}

START_TEST(what_is_left_is_noted_or_the_job_ends) {
  note_first();
  ck_assert_int_ge(need_every(note_all), 3);
}
END_TEST

static void report_leaks(void) {
  if (!check_leaks_report()) {
    _exit(NEED_LOST);
  }
}

/* It says what it has found, or why it cannot. */
START_TEST(what_is_left_is_told_or_the_shortage) {
  char said[4096];
  note_first();
  memory_for(0);
  ck_assert_int_eq(check_child_exit(report_leaks, said, sizeof(said)),
                   MSG_FAILED);
  memory_again();
  ck_assert_ptr_nonnull(strstr(said, "out of memory: a report"));
  ck_assert_int_eq(check_child_exit(report_leaks, said, sizeof(said)),
                   CHILD_RETURNED);
  ck_assert_ptr_nonnull(strstr(said, "MPI_Buffer_attach was not detached"));
}
END_TEST

static void end(void) {
  shortage_rank.buffered = NULL;
  shortage_kept += tables;
  tables = 0;
  shortage_end();
}

int main(void) {
  Suite *const suite = suite_create("shortage of memory for reports");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 120);
  tcase_add_checked_fixture(t, shortage_begin, end);
  tcase_add_test(t, a_deadlock_is_told_or_the_shortage);
  tcase_add_test(t, what_is_left_is_noted_or_the_job_ends);
  tcase_add_test(t, what_is_left_is_told_or_the_shortage);
  suite_add_tcase(suite, t);
  return check_run(suite);
}
