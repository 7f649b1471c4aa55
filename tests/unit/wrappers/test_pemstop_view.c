#define _GNU_SOURCE
#include "wrappers/pemstop_view.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"

static struct job_status process(int number, const char *host) {
  struct job_status s = {.process = (uint64_t)number,
                         .of = 3,
                         .pid = 1000 + (uint64_t)number,
                         .ms = 5000,
                         .v = 12,
                         .n = 4,
                         .k = 2,
                         .computing = 1,
                         .slot = 1,
                         .others = 2,
                         .step = 7,
                         .ahead = 1,
                         .resident = 1 << 20,
                         .budget = 4 << 20,
                         .read = 10 << 20,
                         .written = 20 << 20,
                         .sent = 1 << 20};
  strcpy(s.host, host);
  strcpy(s.program, "sort");
  return s;
}

/* Three processes, the last two on one host; more is moved the second time. */
static struct view look(int second) {
  struct view v = {.n = 3, .process = calloc(3, sizeof(*v.process))};
  ck_assert_ptr_nonnull(v.process);
  for (int i = 0; i < 3; i++) {
    v.process[i] = process(i, i ? "nodeB" : "nodeA");
    v.process[i].ms += second ? 2000 : 0;
    v.process[i].read += second ? (uint64_t)(i + 1) << 21 : 0;
    v.process[i].sent += second ? 2 << 20 : 0;
  }
  return v;
}

static char page[8192];

/* Prints it into `page`, with `lines` at most, each of `columns`. */
static void print(const struct view *now, const struct view *before,
                  int columns, int lines) {
  struct view_step step = {0};
  FILE *const f = fmemopen(page, sizeof(page), "w");
  ck_assert_ptr_nonnull(f);
  view_print(f, now, before, &step, columns, lines, "\n");
  fclose(f);
}

static void says(const char *text) {
  ck_assert_msg(strstr(page, text), "does not say '%s':\n%s", text, page);
}

static void lacks(const char *text) {
  ck_assert_msg(!strstr(page, text), "says '%s':\n%s", text, page);
}

START_TEST(hosts_have_lines) {
  struct view before = look(0), now = look(1);
  print(&now, &before, 200, 0);
  says("sort: 12 ranks in 3 processes on 2 hosts, k=2, 7.0 s\n");
  says("superstep 7      [#####...............] 3 of 12 ranks through\n");
  says("computing 3, waiting: for a slot 3, for context 0, for others 6; done "
       "0\n");
  says("6.0 MiB/s read, 42.0 MiB in all"); /* 2 + 4 + 6 MiB in 2 s */
  says("  procs ranks");
  says("nodeA                  1     4     1     1       0      2     0    1.0 "
       "MiB    1.0 MiB        0 B    1.0 MiB\n");
  says("nodeB                  2     8     2     2       0      4     0    2.0 "
       "MiB    5.0 MiB        0 B    2.0 MiB\n");
  says(
      "      2 nodeB               1002     4     1     1       0      2     0 "
      "   1.0 MiB    3.0 MiB        0 B    1.0 MiB\n");
  view_free(&before);
  view_free(&now);
}
END_TEST

/* A line of a host would say what that of its only process says. */
START_TEST(one_process_each) {
  struct view before = {0}, now = look(0);
  strcpy(now.process[2].host, "nodeC");
  print(&now, &before, 200, 0);
  says("on 3 hosts");
  lacks("procs");
  lacks("/s read,");
  strcpy(now.process[1].host, "nodeA");
  strcpy(now.process[2].host, "nodeA");
  print(&now, &before, 200, 0);
  says("on 1 host,");
  lacks("procs");
  view_free(&now);
}
END_TEST

START_TEST(who_does_not_answer) {
  struct view before = look(0), now = look(1);
  struct job_status *const s = &now.process[0];
  *s = (struct job_status){.process = 0, .of = 3, .pid = 1000, .silent = 1};
  strcpy(s->host, "nodeA");
  print(&now, &before, 200, 0);
  says("sort: 12 ranks in 3 processes"); /* as another one has it */
  says("no answer from process 0 on nodeA, pid 1000\n");
  says("      0 nodeA               1000 does not answer\n");
  says("computing 2,");
  lacks("/s read,"); /* less than before would be no rate */
  says("   3.0 MiB        0 B    1.0 MiB\n"); /* process 2 has one */
  ck_assert_ptr_eq(view_speaker(&now), &now.process[1]);
  now.process[1].silent = now.process[2].silent = 1;
  ck_assert_ptr_eq(view_speaker(&now), &now.process[2]);
  print(&now, &before, 200, 0);
  says("no answer from process 2 on nodeB");
  view_free(&before);
  view_free(&now);
}
END_TEST

START_TEST(who_is_not_seen) {
  struct view before = {0}, now = look(0);
  now.n = 2;
  print(&now, &before, 200, 0);
  says("only 2 of 3 processes are seen from here\n");
  view_free(&now);
}
END_TEST

START_TEST(a_small_terminal) {
  struct view before = look(0), now = look(1);
  print(&now, &before, 20, 4);
  int lines = 0;
  for (const char *at = page; *at; lines++) {
    const size_t n = strcspn(at, "\n");
    ck_assert_uint_le(n, 20);
    at += n + 1;
  }
  ck_assert_int_eq(lines, 4);
  view_free(&before);
  view_free(&now);
}
END_TEST

START_TEST(lines_are_read) {
  char text[3 * JOB_STATUS_LINE] = "", line[JOB_STATUS_LINE];
  struct view v;
  for (int i = 2; i >= 0; i--) {
    const struct job_status s = process(i, "node");
    job_status_write(&s, line);
    strcat(text, line);
    strcat(text, "something else\n");
  }
  ck_assert_int_eq(view_read(&v, text), 0);
  ck_assert_int_eq(v.n, 3);
  for (int i = 0; i < 3; i++) {
    ck_assert_uint_eq(v.process[i].process, i);
  }
  view_free(&v);
  ck_assert_int_eq(v.n, 0);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {hosts_have_lines,
                                one_process_each,
                                who_does_not_answer,
                                who_is_not_seen,
                                a_small_terminal,
                                lines_are_read,
                                NULL};
  return check_main("pemstop_view", tests);
}
