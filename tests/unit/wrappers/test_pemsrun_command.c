/* Commands for jobs that are given here; options of mpirun's differ, and are
   asked of the launcher. */
#define _GNU_SOURCE
#include "wrappers/pemsrun_command.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check_main.h"
#include "mpi_below/launcher.h"

static char *program[] = {"app", "--pems-v=4", "a b", NULL};
static struct pemsrun_job job;
static struct args command;

static void make(void) {
  static char *none[] = {NULL};
  environ = none;
  job = (struct pemsrun_job){.program = program, .path = "/opt/app"};
  job.options.v = 4;
  command = (struct args){0};
}

/* Where a word is, or -1. */
static int find(const char *word) {
  for (int i = 0; i < command.n; i++) {
    if (strcmp(command.at[i], word) == 0) {
      return i;
    }
  }
  return -1;
}

static bool has_all(const char *const *words) {
  bool all = true;
  for (; words && *words; words++) {
    all = all && find(*words) >= 0;
  }
  return all;
}

static void expect_end(const char *const *words, int n) {
  ck_assert_int_ge(command.n, n);
  for (int i = 0; i < n; i++) {
    ck_assert_str_eq(command.at[command.n - n + i], words[i]);
  }
  ck_assert_ptr_null(command.at[command.n]);
}

START_TEST(the_program_comes_by_its_path) {
  const char *const want[] = {"/opt/app", "--pems-v=4", "a b"};
  make();
  pemsrun_command_program(&job, &command);
  ck_assert_int_eq(command.n, 3);
  expect_end(want, 3);
}
END_TEST

START_TEST(a_wrapper_comes_before_it) {
  char *words[] = {"gdb", "--args", NULL};
  const char *const want[] = {"gdb", "--args", "/opt/app", "--pems-v=4", "a b"};
  make();
  job.wrapper = words;
  job.starter = "gdb";
  pemsrun_command_direct(&job, &command);
  ck_assert_int_eq(command.n, 5);
  expect_end(want, 5);
}
END_TEST

START_TEST(what_runs_directly_has_the_name_that_the_user_gave) {
  const char *const want[] = {"app", "--pems-v=4", "a b"};
  make();
  pemsrun_command_direct(&job, &command);
  ck_assert_int_eq(command.n, 3);
  expect_end(want, 3);
}
END_TEST

START_TEST(mpirun_starts_processes_and_not_ranks) {
  const char *const want[] = {"-x-of-user", "1", "/opt/app", "--pems-v=4",
                              "a b"};
  make();
  job.options.procs = 2;
  args_add(&job.mpirun, "-x-of-user");
  args_add(&job.mpirun, "1");
  pemsrun_command_mpirun(&job, &command);
  ck_assert_str_eq(command.at[0], launcher.command);
  ck_assert_int_gt(find("-n"), 0);
  ck_assert_str_eq(command.at[find("-n") + 1], "2");
  ck_assert(has_all(launcher.quiet));
  ck_assert(has_all(launcher.oversubscribe));
  ck_assert(has_all(launcher.unbound));
  expect_end(want, 5);
}
END_TEST

START_TEST(what_the_user_decides_is_left_to_mpirun) {
  make();
  job.options.procs = 2;
  job.slots = job.binds = job.maps = true;
  args_add(&job.places, "--host-of-user");
  pemsrun_command_mpirun(&job, &command);
  ck_assert(!launcher.oversubscribe[0] || !has_all(launcher.oversubscribe));
  ck_assert(!launcher.unbound[0] || !has_all(launcher.unbound));
  ck_assert_int_gt(find("--host-of-user"), 0);
}
END_TEST

START_TEST(each_process_has_its_host) {
  struct pems_error error;
  make();
  ck_assert_int_eq(hosts_add_list(&job.hosts, "a:2,b", &error), 0);
  hosts_deal(&job.hosts, 3);
  pemsrun_command_mpirun(&job, &command);
  const int at = find(launcher.host_list);
  ck_assert_int_gt(at, 0);
  ck_assert_str_eq(command.at[at + 1], "a,a,b");
  ck_assert_str_eq(command.at[find("-n") + 1], "3");
}
END_TEST

START_TEST(variables_go_to_other_hosts) {
  make();
  setenv("PEMS_MEMORY", "1G", 1);
  setenv("OMP_NUM_THREADS", "3", 1);
  setenv("HOME", "/root", 1);
  if (launcher.forward) {
    args_add(&job.mpirun, launcher.forward);
    args_add(&job.mpirun, "PEMS_MEMORY=2G");
  }
  pemsrun_command_mpirun(&job, &command);
  ck_assert_int_eq(find("OMP_NUM_THREADS") > 0, launcher.forward != NULL);
  ck_assert_int_eq(find("HOME"), -1);
  ck_assert_int_eq(find("PEMS_MEMORY"), -1); /* the user forwards his own */
  if (launcher.forward) {
    ck_assert_str_eq(command.at[find("OMP_NUM_THREADS") - 1], launcher.forward);
  }
}
END_TEST

/* What it prints, up to the newline. */
static const char *show(void) {
  static char line[4096];
  char *text = NULL;
  size_t n = 0;
  FILE *const before = stdout;
  stdout = open_memstream(&text, &n);
  ck_assert_int_eq(pemsrun_command_show(&command), 0);
  fclose(stdout);
  stdout = before;
  snprintf(line, sizeof(line), "%s", text);
  free(text);
  return line;
}

START_TEST(what_is_shown_is_for_a_shell) {
  make();
  setenv("PEMS_DISK", "/a b", 1);
  setenv("OTHER", "1", 1);
  args_add(&command, "mpirun");
  args_add(&command, "it's");
  args_add(&command, "");
  args_add(&command, "$HOME");
  ck_assert_str_eq(show(), "'PEMS_DISK=/a b' mpirun 'it'\\''s' '' '$HOME'\n");
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      the_program_comes_by_its_path,
      a_wrapper_comes_before_it,
      what_runs_directly_has_the_name_that_the_user_gave,
      mpirun_starts_processes_and_not_ranks,
      what_the_user_decides_is_left_to_mpirun,
      each_process_has_its_host,
      variables_go_to_other_hosts,
      what_is_shown_is_for_a_shell,
      NULL,
  };
  return check_main("pemsrun_command", tests);
}
