/* Command lines and what is wrong with them. Names of mpirun's options are
   asked of the launcher. */
#define _GNU_SOURCE
#include "wrappers/pemsrun_options.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "check_child.h"
#include "check_main.h"
#include "mpi_below/launcher.h"

enum { MOST = 16 };

static char *argv[MOST + 2];
static struct pemsrun_job job;

/* Words apart by spaces; "+" is a space within one. */
static void set_line(const char *line) {
  static char text[512];
  int n = 0;
  snprintf(text, sizeof(text), "pemsrun %s", line);
  for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
    for (char *p = word; (p = strchr(p, '+'));) {
      *p = ' ';
    }
    ck_assert_int_lt(n, MOST);
    argv[n++] = word;
  }
  argv[n] = NULL;
}

static void read_it(void) {
  job = (struct pemsrun_job){0};
  pemsrun_options_read(&job, argv);
}

static void read_line(const char *line) {
  clearenv();
  set_line(line);
  read_it();
}

/* An option of mpirun's with that use and so many operands, with its dash. */
static const char *option_for(enum launcher_use use, int operands) {
  static char name[64];
  for (const struct launcher_option *o = launcher.options; o->name; o++) {
    if (o->use == use && o->operands == operands) {
      snprintf(name, sizeof(name), "%s%s", o->name[1] ? "--" : "-", o->name);
      return name;
    }
  }
  return NULL;
}

START_TEST(pems_options_are_taken) {
  read_line("-n 8 --pems-memory=1G --pems-k 2 ./app x -n 3");
  ck_assert_int_eq(job.options.v, 8);
  ck_assert_uint_eq(job.options.memory, UINT64_C(1) << 30);
  ck_assert_int_eq(job.options.k, 2);
  ck_assert_str_eq(job.program[0], "./app");
  ck_assert_str_eq(job.program[3], "3"); /* the program's own */
  ck_assert_ptr_null(job.program[4]);
  ck_assert_int_eq(job.mpirun.n, 0);
  ck_assert(!job.show);
}
END_TEST

START_TEST(the_prefix_may_be_omitted) {
  read_line("-n 8 --memory=1G --k 2 ./app");
  ck_assert_uint_eq(job.options.memory, UINT64_C(1) << 30);
  ck_assert_int_eq(job.options.k, 2);
}
END_TEST

START_TEST(later_ones_win) {
  clearenv();
  setenv("PEMS_K", "2", 1);
  setenv("PEMS_MEMORY", "1G", 1);
  setenv("PEMS_CONTEXT", "1M", 1);
  set_line("-n 8 --pems-k=3 --pems-memory=2G ./app --pems-k=4");
  read_it();
  ck_assert_int_eq(job.options.k, 4);
  ck_assert_uint_eq(job.options.memory, UINT64_C(2) << 30);
  ck_assert_uint_eq(job.options.context, 1 << 20);
}
END_TEST

START_TEST(two_dashes_end_the_options) {
  read_line("-n 8 --pems-show -- --app");
  ck_assert_str_eq(job.program[0], "--app");
  ck_assert(job.show);
}
END_TEST

START_TEST(a_wrapper_is_divided_into_words) {
  read_line("-n 2 --wrapper=gdb+--args ./app");
  ck_assert_str_eq(job.wrapper[0], "gdb");
  ck_assert_str_eq(job.wrapper[1], "--args");
  ck_assert_ptr_null(job.wrapper[2]);
  read_line("-n 2 --pems-wrapper valgrind ./app");
  ck_assert_str_eq(job.wrapper[0], "valgrind");
  ck_assert_str_eq(job.program[0], "./app");
}
END_TEST

START_TEST(hosts_are_for_both) {
  char line[128];
  const char *const name = option_for(LAUNCHER_HOSTS, 1);
  ck_assert_ptr_nonnull(name);
  snprintf(line, sizeof(line), "-n 8 %s a:2,b ./app", name);
  read_line(line);
  ck_assert_int_eq(hosts_slots(&job.hosts), 3);
  ck_assert_int_eq(job.places.n, 2);
  ck_assert_str_eq(job.places.at[0], name);
  ck_assert_str_eq(job.places.at[1], "a:2,b");
  ck_assert_int_eq(job.mpirun.n, 0);
}
END_TEST

START_TEST(others_are_mpiruns_with_their_operands) {
  for (int operands = 0; operands < 2; operands++) {
    char line[128];
    const char *const name = option_for(LAUNCHER_OTHER, operands);
    ck_assert_ptr_nonnull(name);
    snprintf(line, sizeof(line), "-n 8 %s %s ./app", name, operands ? "x" : "");
    read_line(line);
    ck_assert_str_eq(job.program[0], "./app");
    ck_assert_int_eq(job.mpirun.n, 1 + operands);
    ck_assert_str_eq(job.mpirun.at[0], name);
  }
}
END_TEST

START_TEST(a_limit_is_read_from_where_mpirun_does) {
  clearenv();
  setenv("MPIEXEC_TIMEOUT", "7", 1);
  set_line("-n 2 ./app");
  read_it();
  ck_assert_int_eq(job.timeout, 7);
}
END_TEST

/* --- what is wrong --- */

/* It ends the process with one line that has the text. */
static void expect_refused(const char *line, const char *text) {
  char said[1024];
  set_line(line);
  ck_assert_int_eq(check_child_exit(read_it, said, sizeof(said)), MSG_USAGE);
  ck_assert_msg(strncmp(said, "pems", 4) == 0 && strstr(said, text), "%s: %s",
                line, said);
  ck_assert_ptr_eq(strchr(said, '\n'), said + strlen(said) - 1);
}

START_TEST(mistakes_are_told) {
  clearenv();
  expect_refused("-n 0 ./app", "-n: 0: give the number of ranks");
  expect_refused("-n", "-n: no value");
  expect_refused("-n 8 --pems-memory", "--pems-memory: no value");
  expect_refused("-n 8 --pems-memory=much ./app", "much");
  expect_refused("-n 8 --pems-memroy=1G ./app", "memroy");
  expect_refused("-n 8 --memroy=1G ./app", "did you mean --pems-memory?");
  expect_refused("-n 8 --wrapper", "--wrapper: no value");
  expect_refused("-n 8 --report --progress=4096", "--report: no value");
  expect_refused("-n 8 ./app : ./other", "./other: pemsrun runs one program");
  setenv("MPIEXEC_TIMEOUT", "soon", 1);
  expect_refused("-n 8 ./app", "MPIEXEC_TIMEOUT: soon");
}
END_TEST

/* --- what asks for something else --- */

static void expect_printed(const char *line, const char *text) {
  char said[16384];
  clearenv();
  set_line(line);
  FILE *const before = stdout;
  stdout = stderr; /* which the child gives to us */
  ck_assert_int_eq(check_child_exit(read_it, said, sizeof(said)), 0);
  stdout = before;
  ck_assert_msg(strstr(said, text) != NULL, "%s: %s", line, said);
}

START_TEST(help_names_each_option) {
  for (const struct option_spec *s = option_specs; s->name; s++) {
    char name[64];
    snprintf(name, sizeof(name), "--pems-%s", s->name);
    expect_printed("--help", name);
  }
  expect_printed("-V", "pemsrun (pems) ");
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      pems_options_are_taken,
      the_prefix_may_be_omitted,
      later_ones_win,
      two_dashes_end_the_options,
      a_wrapper_is_divided_into_words,
      hosts_are_for_both,
      others_are_mpiruns_with_their_operands,
      a_limit_is_read_from_where_mpirun_does,
      mistakes_are_told,
      help_names_each_option,
      NULL,
  };
  return check_main("pemsrun_options", tests);
}
