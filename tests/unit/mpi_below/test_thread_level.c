#include "mpi_below/thread_level.h"

#include <errno.h>
#include <mpi.h>
#include <string.h>

#include "check_main.h"

static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED,
                             MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};

START_TEST(each_level_has_a_name_of_its_own) {
  for (int i = 0; i < 4; i++) {
    ck_assert_int_eq(thread_level_named(thread_level_name(levels[i])),
                     levels[i]);
  }
  ck_assert_str_eq(thread_level_name(MPI_THREAD_SERIALIZED),
                   "MPI_THREAD_SERIALIZED");
}
END_TEST

START_TEST(other_names_are_no_level) {
  ck_assert_int_eq(thread_level_named("MPI_THREAD_"), -1);
  ck_assert_int_eq(thread_level_named(""), -1);
  ck_assert_str_eq(thread_level_name(-7), "no level of threads");
}
END_TEST

START_TEST(multiple_carries_any_job) {
  struct pems_error error;
  ck_assert_int_eq(thread_level_check(MPI_THREAD_MULTIPLE, 3, 4, &error), 0);
}
END_TEST

START_TEST(serialized_carries_one_process_whose_ranks_run_by_turns) {
  struct pems_error error;
  const int level = MPI_THREAD_SERIALIZED;
  ck_assert_int_eq(thread_level_check(level, 1, 1, &error), 0);
  ck_assert_int_eq(thread_level_check(level, 1, 2, &error), ENOTSUP);
  ck_assert_ptr_nonnull(strstr(error.text, "--pems-procs=1 --pems-k=1"));
  ck_assert_int_eq(thread_level_check(level, 2, 1, &error), ENOTSUP);
  ck_assert_ptr_nonnull(strstr(error.text, "MPI_THREAD_SERIALIZED"));
}
END_TEST

START_TEST(less_carries_none) {
  struct pems_error error;
  for (int i = 0; i < 2; i++) {
    ck_assert_int_eq(thread_level_check(levels[i], 1, 1, &error), ENOTSUP);
    ck_assert_ptr_nonnull(strstr(error.text, thread_level_name(levels[i])));
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      each_level_has_a_name_of_its_own,
      other_names_are_no_level,
      multiple_carries_any_job,
      serialized_carries_one_process_whose_ranks_run_by_turns,
      less_carries_none,
      NULL,
  };
  return check_main("thread_level", tests);
}
