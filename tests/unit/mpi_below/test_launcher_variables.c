#define _GNU_SOURCE
#include "mpi_below/launcher_variables.h"

#include "mpi_below/launcher.h"
#include "os/native.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check_main.h"

static const int number[LAUNCHER_NUMBERS] = {
    [LAUNCHER_RANK] = 7,       [LAUNCHER_SIZE] = 12,
    [LAUNCHER_LOCAL_RANK] = 3, [LAUNCHER_LOCAL_SIZE] = 6,
    [LAUNCHER_UNIVERSE] = 16,
};

static int count(char **words, const char *word) {
  int n = 0;
  for (; *words; words++) {
    n += strcmp(*words, word) == 0;
  }
  return n;
}

static const char *text_of(const struct launcher_variable *v) {
  static char text[128];
  snprintf(text, sizeof(text), "%s=%d", v->name, number[v->is]);
  return text;
}

static int length(char **words) {
  int n = 0;
  while (words[n]) {
    n++;
  }
  return n;
}

START_TEST(a_whole_job_has_all_of_them) {
  char *from[] = {"A=1", "SLURM_PROCID=0", "OMPI_COMM_WORLD_RANKS=5", NULL};
  char **const is = launcher_variables_of(from, true, number);
  int n = 3;
  ck_assert_ptr_nonnull(is);
  for (const struct launcher_variable *v = launcher_variables; v->name; v++) {
    ck_assert_int_eq(count(is, text_of(v)), 1);
    n++;
  }
  ck_assert_int_eq(length(is), n);
  for (int i = 0; i < 3; i++) {
    ck_assert_ptr_eq(is[i], from[i]); /* as with mpirun in an allocation */
  }
  native_free((void *)is);
}
END_TEST

START_TEST(those_of_a_process_are_replaced_in_place) {
  char first[64];
  snprintf(first, sizeof(first), "%s=0", launcher_variables[0].name);
  char *from[] = {"A=1", first, "SLURM_PROCID=0", NULL};
  char **const is = launcher_variables_of(from, false, number);
  ck_assert_int_eq(length(is), 3);
  ck_assert_str_eq(is[1], text_of(&launcher_variables[0]));
  ck_assert_str_eq(is[2], "SLURM_PROCID=0");
  native_free((void *)is);
}
END_TEST

START_TEST(other_starters_are_replaced_where_they_are) {
  char *from[] = {"SLURM_PROCID=1", "SLURM_NTASKS=2", "SLURM_LOCALID=1", NULL};
  char **const is = launcher_variables_of(from, false, number);
  ck_assert_int_eq(length(is), 3);
  ck_assert_int_eq(count(is, "SLURM_PROCID=7"), 1);
  ck_assert_int_eq(count(is, "SLURM_NTASKS=12"), 1);
  ck_assert_int_eq(count(is, "SLURM_LOCALID=3"), 1);
  native_free((void *)is);
}
END_TEST

START_TEST(a_process_that_nobody_started_has_none) {
  char *from[] = {"A=1", "PMI_RANKS=3", NULL};
  char **const is = launcher_variables_of(from, false, number);
  ck_assert_int_eq(length(is), 2);
  native_free((void *)is);
}
END_TEST

/* It has the numbers of the rank, but no launcher. */
START_TEST(a_child_of_a_rank_is_a_job_of_its_own) {
  char *from[] = {NULL};
  struct launcher_process p;
  environ = launcher_variables_of(from, true, number);
  ck_assert(!launcher_process(&p));
  ck_assert_int_eq(p.rank, 0);
  ck_assert_int_eq(p.size, 1);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {a_whole_job_has_all_of_them,
                                those_of_a_process_are_replaced_in_place,
                                other_starters_are_replaced_where_they_are,
                                a_process_that_nobody_started_has_none,
                                a_child_of_a_rank_is_a_job_of_its_own,
                                NULL};
  return check_main("launcher_variables", tests);
}
