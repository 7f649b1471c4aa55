#define _GNU_SOURCE
#include "wrappers/plan/dry_run.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check_main.h"

/* In the place of pemsrun a script, which keeps its words and leaves what a
   report has. */
static char place[] = "/tmp/pems-dry-run.XXXXXX";
static char script[PATH_MAX];

static void write_script(const char *text) {
  FILE *const f = fopen(script, "w");
  ck_assert_ptr_nonnull(f);
  fprintf(f, "#!/bin/sh\nplace=%s\n%s", place, text);
  ck_assert_int_eq(fclose(f), 0);
  ck_assert_int_eq(chmod(script, 0700), 0);
}

static const char good[] =
    "for word; do printf '%s\\n' \"$word\"; case $word in --pems-report=*)\n"
    "  dir=${word#*=};; esac; done >\"$place/words\"\n"
    "mkdir \"$dir\"\n"
    "cat >\"$dir/totals.dat\" <<'END'\n"
    "# superstep supersteps begin_s end_s ...\n"
    "0 1 0.0 1.0 1.5 0.25 9 9 9 9 9 7 7 1000 2000 30 40 50 60 start\n"
    "1 1 1.0 2.0 2.0 0.25 9 9 9 9 9 7 7 100 200 3 4 5 6 MPI_Alltoallv\n"
    "2 3 2.0 3.0 0.0 0.0 9 9 9 9 9 7 7 0 0 0 0 0 0 MPI_Barrier\n"
    "END\n"
    "printf '# x\\n0.5 3000\\n0.6 9000\\n0.7 100\\n' >\"$dir/resident.0.dat\"\n"
    "printf '# x\\n0.5 700\\n' >\"$dir/resident.1.dat\"\n"
    "printf '# x\\n' >\"$dir/swaps.0.dat\"\n"
    "echo half a line, RESULT pems v=4 P=2 k=3 mu=5 memory=6 resident=800 "
    "io=unix max_k=9 seconds=12.5 cpu_seconds=9.5 start_cpu_seconds=2\n";

static struct dry_run result;
static struct pems_error error;

static int run_it(void) {
  static char procs[] = "--pems-procs=2";
  static char *options[] = {procs, NULL};
  static char name[] = "./a@b", one[] = "--n=@", two[] = "x@y@";
  static char *program[] = {name, one, two, NULL};
  const struct dry_run_job job = {script, options, program};
  const struct dry_run_case asked = {4, 4096, 1 << 26};
  return dry_run(&job, &asked, &result, &error);
}

static int files_in(const char *dir) {
  DIR *const d = opendir(dir);
  int n = 0;
  ck_assert_ptr_nonnull(d);
  for (const struct dirent *e; (e = readdir(d));) {
    n += e->d_name[0] != '.';
  }
  closedir(d);
  return n;
}

/* What is left of dry runs, in a TMPDIR of their own. */
static int left(void) {
  return files_in(getenv("TMPDIR"));
}

START_TEST(a_report_is_read) {
  write_script(good);
  ck_assert_msg(run_it() == 0, "%s", error.text);
  ck_assert_int_eq(result.processes, 2);
  ck_assert_int_eq(result.k, 3);
  ck_assert(result.seconds == 12.5 && result.room == 1600);
  ck_assert(result.context == (9000 + 700) / 4.0);
  ck_assert(result.supersteps == 5 && result.computing == 4);
  ck_assert(result.processor == 7.5);
  ck_assert(result.read == 1000 + 50 + 100 + 5);
  ck_assert(result.written == 2000 + 40 + 200 + 4);
  ck_assert(result.messages == 30 + 40 + 50 + 3 + 4 + 5 && result.sent == 66);
  ck_assert_int_eq(result.exchanges, 1);
  ck_assert_int_eq(result.steps, 3);
  ck_assert_str_eq(result.step[1].call, "MPI_Alltoallv");
  ck_assert(result.step[1].read == 105 && result.step[1].written == 204);
  ck_assert_int_eq(left(), 0);
}
END_TEST

START_TEST(what_pemsrun_is_told) {
  char path[PATH_MAX], text[4096] = "";
  write_script(good);
  ck_assert_int_eq(run_it(), 0);
  snprintf(path, sizeof(path), "%s/words", place);
  FILE *const f = fopen(path, "r");
  ck_assert_ptr_nonnull(f);
  ck_assert_uint_gt(fread(text, 1, sizeof(text) - 1, f), 0);
  fclose(f);
  ck_assert_ptr_nonnull(
      strstr(text, "-n\n4\n--pems-procs=2\n--pems-memory=67108864\n"));
  ck_assert_ptr_nonnull(strstr(text, "--pems-stats\n--\n./a@b\n--n=4096\n"
                                     "x4096y4096\n"));
}
END_TEST

/* Where contexts were on disk, their largest transfers tell what they have. */
START_TEST(contexts_that_moved) {
  char text[sizeof(good) + 512];
  snprintf(text, sizeof(text),
           "%sprintf '# x\\n0 0.1 0.2 1 4000\\n0 0.1 0.2 0 9000\\n"
           "3 0.1 0.2 1 5000\\n' >\"$dir/swaps.1.dat\"\n",
           good);
  write_script(text);
  ck_assert_int_eq(run_it(), 0);
  ck_assert(result.context == (9000 + 5000) / 2.0);
}
END_TEST

START_TEST(many_supersteps) {
  char text[sizeof(good) + 512];
  snprintf(text, sizeof(text),
           "%si=3; while [ $i -lt 50 ]; do i=$((i + 1))\n"
           "echo \"$i 1 0 0 1 0 9 9 9 9 9 7 7 10 20 0 0 0 0 MPI_Barrier\"\n"
           "done >>\"$dir/totals.dat\"\n",
           good);
  write_script(text);
  ck_assert_int_eq(run_it(), 0);
  ck_assert_int_eq(result.steps, 0);
  ck_assert(result.supersteps == 51 && result.read == 1155 + 470);
}
END_TEST

/* The sentence says who and why. */
static void fails(const char *text, int code, const char *says) {
  write_script(text);
  ck_assert_int_eq(run_it(), code);
  ck_assert_msg(strstr(error.text, says), "%s", error.text);
  ck_assert_int_eq(left(), 0);
}

START_TEST(programs_that_fail) {
  fails("exit 5\n", ECANCELED,
        "./a@b with 4 ranks and size 4096: exit status 5");
  fails("kill -KILL $$\n", ECANCELED, "ended by signal 9");
  fails("exit 0\n", ENODATA, "it left no report");
  fails("echo RESULT pems P=1 k=1\n", ENODATA, "it left no report");
  fails("for word; do case $word in --pems-report=*) mkdir \"${word#*=}\"\n"
        "echo '0 1 0 0 1 0 9 9 9 9 9 7 7 0 0 0 0 0 0 start' "
        ">\"${word#*=}/totals.dat\"; esac; done\n"
        "echo RESULT pems P=1 k=1\n",
        ENODATA, "no collective call and no message");
  fails("for word; do case $word in --pems-report=*) mkdir \"${word#*=}\"\n"
        "echo '0 1 0 0 1 0 9 9 9 9 9 7 7 10 20 0 0 0 0 x' "
        ">\"${word#*=}/totals.dat\"; esac; done\n",
        ENODATA, "it left no report");
}
END_TEST

START_TEST(no_pemsrun) {
  unlink(script);
  ck_assert_int_eq(run_it(), ENOEXEC);
  ck_assert_ptr_nonnull(strstr(error.text, "pemsrun: cannot be started"));
  ck_assert_int_eq(left(), 0);
}
END_TEST

START_TEST(no_place) {
  write_script(good);
  setenv("TMPDIR", "/no/such", 1);
  ck_assert_int_eq(run_it(), ENOENT);
  ck_assert_ptr_nonnull(strstr(error.text, "/no/such"));
}
END_TEST

/* Who is asked to end asks the program first, waits for it, and removes all. */
START_TEST(a_signal_ends_both) {
  char path[PATH_MAX];
  int status;
  write_script("trap 'echo >\"$place/asked\"; exit 1' TERM\n"
               "echo >\"$place/runs\"\nwhile :; do sleep 0.1; done\n");
  const pid_t pid = fork();
  if (pid == 0) {
    signal(SIGTERM, SIG_DFL); /* Check has a handler */
    run_it();
    _exit(0);
  }
  snprintf(path, sizeof(path), "%s/runs", place);
  while (access(path, F_OK)) {
    usleep(10000);
  }
  kill(pid, SIGTERM);
  ck_assert_int_eq(waitpid(pid, &status, 0), pid);
  ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
  snprintf(path, sizeof(path), "%s/asked", place);
  ck_assert_int_eq(access(path, F_OK), 0);
  ck_assert_int_eq(left(), 0);
}
END_TEST

static void make_place(void) {
  char folder[PATH_MAX];
  strcpy(place + strlen(place) - 6, "XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(place));
  snprintf(script, sizeof(script), "%s/pemsrun", place);
  snprintf(folder, sizeof(folder), "%s/tmp", place);
  ck_assert_int_eq(mkdir(folder, 0700), 0);
  setenv("TMPDIR", folder, 1);
}

static void remove_place(void) {
  char command[PATH_MAX + 16];
  snprintf(command, sizeof(command), "rm -rf '%s'", place);
  ck_assert_int_eq(system(command), 0);
}

int main(void) {
  const TTest *const tests[] = {
      a_report_is_read, what_pemsrun_is_told, contexts_that_moved,
      many_supersteps,  programs_that_fail,   no_pemsrun,
      no_place,         a_signal_ends_both,   NULL};
  Suite *const suite = suite_create("dry_run");
  TCase *const all = tcase_create("all");
  tcase_set_timeout(all, 60);
  tcase_add_checked_fixture(all, make_place, remove_place);
  for (int i = 0; tests[i]; i++) {
    tcase_add_test(all, tests[i]);
  }
  suite_add_tcase(suite, all);
  return check_run(suite);
}
