#include "config/slurm.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"

static void clear(void) {
  static const char *const names[] = {
      "SLURM_JOB_ID",       "SLURM_JOB_NODELIST",    "SLURM_TASKS_PER_NODE",
      "SLURM_NTASKS",       "SLURM_NTASKS_PER_NODE", "SLURM_JOB_CPUS_PER_NODE",
      "SLURM_MEM_PER_NODE", "SLURM_MEM_PER_CPU"};
  for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
    unsetenv(names[i]);
  }
}

static char seen[4096];

static int note(const struct slurm_host *host, void *data) {
  const size_t n = strlen(seen);
  snprintf(seen + n, sizeof(seen) - n, "%s%s:%d:%d", n ? " " : "", host->name,
           host->tasks, host->cpus);
  return *(int *)data && strcmp(host->name, "stop") == 0 ? 7 : 0;
}

/* What is seen of this list. */
static const char *walk(const char *list) {
  const char *wrong;
  int stop = 0;
  setenv("SLURM_JOB_NODELIST", list, 1);
  seen[0] = '\0';
  const int status = slurm_each_host(note, &stop, &wrong);
  ck_assert_int_eq(status != 0, wrong != NULL);
  return wrong ? wrong : seen;
}

START_TEST(test_lists) {
  static const struct {
    const char *list, *names;
  } rows[] = {
      {"a", "a:1:0"},
      {"a,b", "a:1:0 b:1:0"},
      {"n[1-3]", "n1:1:0 n2:1:0 n3:1:0"},
      {"n[08-10,3],x", "n08:1:0 n09:1:0 n10:1:0 n3:1:0 x:1:0"},
      {"r[1-2]n[3,5]s", "r1n3s:1:0 r1n5s:1:0 r2n3s:1:0 r2n5s:1:0"},
      {"n[001]-ib.x", "n001-ib.x:1:0"},
  };
  clear();
  for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
    ck_assert_str_eq(walk(rows[i].list), rows[i].names);
  }
}
END_TEST

START_TEST(test_bad_lists) {
  static const char *const lists[] = {
      "",       ",",     "a,",    "a,,b",   "n[",
      "n[1",    "n[1-",  "n[1-]", "n[]",    "n[x]",
      "n[3-1]", "n[1,]", "n[-1]", "n[1;2]", "n[1-99999999]"};
  clear();
  for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
    ck_assert_msg(strcmp(walk(lists[i]), "SLURM_JOB_NODELIST") == 0, "%s",
                  lists[i]);
  }
  char longest[600];
  memset(longest, 'a', sizeof(longest));
  longest[sizeof(longest) - 1] = '\0';
  ck_assert_str_eq(walk(longest), "SLURM_JOB_NODELIST");
}
END_TEST

START_TEST(test_tasks_and_cpus) {
  clear();
  setenv("SLURM_TASKS_PER_NODE", "2(x2),1", 1);
  setenv("SLURM_JOB_CPUS_PER_NODE", "4,8(x2)", 1);
  ck_assert_str_eq(walk("n[1-3]"), "n1:1:4 n2:1:8 n3:1:8");
  setenv("SLURM_NTASKS", "5", 1);
  ck_assert_str_eq(walk("n[1-3]"), "n1:2:4 n2:2:8 n3:1:8");
  ck_assert_str_eq(walk("n[1-4]"), "SLURM_JOB_CPUS_PER_NODE");
  setenv("SLURM_TASKS_PER_NODE", "2(x", 1);
  ck_assert_str_eq(walk("n[1-3]"), "SLURM_TASKS_PER_NODE");
}
END_TEST

START_TEST(test_walk_stops) {
  const char *wrong;
  int stop = 1;
  clear();
  setenv("SLURM_JOB_NODELIST", "a,stop,b", 1);
  seen[0] = '\0';
  ck_assert_int_eq(slurm_each_host(note, &stop, &wrong), 7);
  ck_assert_ptr_null(wrong);
  ck_assert_str_eq(seen, "a:1:0 stop:1:0");
}
END_TEST

START_TEST(test_limits) {
  int cpus;
  uint64_t memory;
  clear();
  setenv("SLURM_JOB_NODELIST", "n[1-2]", 1);
  setenv("SLURM_JOB_CPUS_PER_NODE", "4,8", 1);
  setenv("SLURM_MEM_PER_CPU", "500", 1);
  slurm_limits("n2", &cpus, &memory);
  ck_assert_int_eq(cpus, 0); /* no job */
  ck_assert(memory == UINT64_MAX);
  setenv("SLURM_JOB_ID", "1", 1);
  slurm_limits("n2.example.org", &cpus, &memory);
  ck_assert_int_eq(cpus, 8);
  ck_assert_uint_eq(memory, UINT64_C(4000) << 20);
  setenv("SLURM_MEM_PER_NODE", "3000", 1);
  slurm_limits("n1", &cpus, &memory);
  ck_assert_int_eq(cpus, 4);
  ck_assert_uint_eq(memory, UINT64_C(3000) << 20);
  slurm_limits("n", &cpus, &memory);
  ck_assert_int_eq(cpus, 0);
  slurm_limits("n11", &cpus, &memory);
  ck_assert_int_eq(cpus, 0);
  setenv("SLURM_MEM_PER_NODE", "0", 1); /* all of it */
  unsetenv("SLURM_MEM_PER_CPU");
  slurm_limits("n1", &cpus, &memory);
  ck_assert(memory == UINT64_MAX);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("slurm");
  TCase *const c = tcase_create("slurm");
  tcase_add_test(c, test_lists);
  tcase_add_test(c, test_bad_lists);
  tcase_add_test(c, test_tasks_and_cpus);
  tcase_add_test(c, test_walk_stops);
  tcase_add_test(c, test_limits);
  suite_add_tcase(suite, c);
  return check_run(suite);
}
