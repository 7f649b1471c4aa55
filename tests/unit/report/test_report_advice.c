#include "report/report_detail.h"

#include <check.h>
#include <string.h>

#include "check_main.h"

static struct report_job job;
static struct report_detail d;
static char text[REPORT_ADVICE][REPORT_SENTENCE];
static int n;

/* A run of 16 ranks, 100 s of all ranks together, that swapped 1 GiB. */
static void set_up(void) {
  const struct trace_facts facts = {.k = 2, .resident = UINT64_C(1) << 30};
  job = (struct report_job){.processes = 1, .seen = 1, .ranks = 16};
  job.sums.time[TRACE_COMPUTE] = UINT64_C(100) * 1000000000;
  job.sums.bytes[TRACE_IN] = job.sums.bytes[TRACE_OUT] = UINT64_C(1) << 30;
  memset(&d, 0, sizeof(d));
  d.job = &job;
  d.largest = UINT64_C(64) << 20;
  trace_set_facts(&facts);
}

static bool says(const char *words) {
  bool found = false;
  n = report_advice(&d, text);
  for (int i = 0; i < n; i++) {
    found = found || strstr(text[i], words);
  }
  return found;
}

static void spend(enum trace_state state, unsigned percent) {
  job.sums.time[TRACE_COMPUTE] = (100 - percent) * UINT64_C(1000000000);
  job.sums.time[state] = percent * UINT64_C(1000000000);
}

START_TEST(nothing_stands_out) {
  ck_assert(says("Nothing stands out"));
  ck_assert_int_eq(n, 1);
}
END_TEST

START_TEST(all_in_memory) {
  job.sums.bytes[TRACE_IN] = job.sums.bytes[TRACE_OUT] = 0;
  ck_assert(says("All contexts stayed in memory"));
}
END_TEST

START_TEST(a_little_memory_lacked) {
  trace_set_lacked(UINT64_C(40) << 20);
  ck_assert(says("With 40.0 MiB more memory for contexts in each process"));
  job.sums.bytes[TRACE_IN] = job.sums.bytes[TRACE_OUT] = 0;
  ck_assert(!says("more memory"));
}
END_TEST

/* 4 contexts of 512 MiB in 1 GiB: with twice as many ranks they fit. */
START_TEST(contexts_that_do_not_fit) {
  d.largest = UINT64_C(512) << 20;
  ck_assert(says("k + 2 = 4 contexts do not fit"));
  ck_assert(says("-n 32)"));
  d.largest = UINT64_C(256) << 20;
  ck_assert(!says("do not fit"));
}
END_TEST

START_TEST(the_disk_is_the_bottleneck) {
  spend(TRACE_SWAP, 19);
  ck_assert(!says("waiting for contexts"));
  spend(TRACE_SWAP, 40);
  ck_assert(says("40 % of the time of all ranks was waiting for contexts"));
}
END_TEST

START_TEST(disks_against_what_was_measured) {
  struct trace_facts facts = {.k = 2, .disk_rate = 1000000000};
  spend(TRACE_SWAP, 40);
  job.rate[0] = 900000000;
  ck_assert(!says("pemsinfo")); /* not known */
  trace_set_facts(&facts);
  ck_assert(says("saturated"));
  job.rate[0] = 300000000;
  ck_assert(says("--pems-io=uring"));
  job.rate[0] = 600000000;
  ck_assert(!says("pemsinfo"));
}
END_TEST

START_TEST(the_processor_is_the_bottleneck) {
  spend(TRACE_SLOT, 60);
  ck_assert(says("while 2 ran in each process"));
}
END_TEST

START_TEST(one_rank_for_which_all_wait) {
  spend(TRACE_OTHERS, 50);
  for (int i = 0; i < 15; i++) {
    d.wait[d.waits++] =
        (struct report_wait){i, i < 10 ? 15 : i, 1, UINT64_C(3000000000)};
  }
  ck_assert(says("for rank 15"));
  for (int i = 0; i < 15; i++) {
    d.wait[i].by = i; /* each for another one */
  }
  ck_assert(!says("for rank"));
}
END_TEST

START_TEST(little_is_changed) {
  struct trace_facts facts = {.k = 2, .lazy = true};
  job.sums.bytes[TRACE_OUT] /= 4;
  ck_assert(says("75 % of what was read was unchanged afterwards"));
  trace_set_facts(&facts);
  ck_assert(!says("unchanged"));
}
END_TEST

int main(void) {
  Suite *s = suite_create("report_advice");
  TCase *t = tcase_create("report_advice");
  tcase_add_checked_fixture(t, set_up, NULL);
  tcase_add_test(t, nothing_stands_out);
  tcase_add_test(t, all_in_memory);
  tcase_add_test(t, a_little_memory_lacked);
  tcase_add_test(t, contexts_that_do_not_fit);
  tcase_add_test(t, the_disk_is_the_bottleneck);
  tcase_add_test(t, disks_against_what_was_measured);
  tcase_add_test(t, the_processor_is_the_bottleneck);
  tcase_add_test(t, one_rank_for_which_all_wait);
  tcase_add_test(t, little_is_changed);
  suite_add_tcase(s, t);
  return check_run(s);
}
