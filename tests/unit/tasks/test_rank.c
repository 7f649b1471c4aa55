/* Rank errors, beside a model that counts what is in for each pop. */
#define _GNU_SOURCE
#include "tasks/rank.h"

#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check_main.h"

enum { LOGS = 9, MOST = 3000 /* operations of a history */ };

static struct pems_error error;
static struct pems_sched_rank_error got;
static struct task_log *logs[LOGS];
static uint64_t state = 1;

static uint64_t below(uint64_t n) {
  state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
  return (state >> 33) % n;
}

static void open_logs(void) {
  for (int i = 0; i < LOGS; i++) {
    logs[i] = task_log_new();
    ck_assert_ptr_nonnull(logs[i]);
  }
}

static void close_logs(void) {
  for (int i = 0; i < LOGS; i++) {
    task_log_free(logs[i]);
  }
}

/* ck_assert writes to a file each time: too slow for every entry. */
static void push(int log, uint64_t cycle, uint64_t priority) {
  if (task_log_push(logs[log], cycle, priority) != 0) {
    ck_abort_msg("no memory");
  }
}

static void pop(int log, uint64_t cycle, uint64_t priority) {
  if (task_log_pop(logs[log], cycle, priority) != 0) {
    ck_abort_msg("no memory");
  }
}

static void rank_of(int n) {
  const int code = task_log_rank(logs, n, &got, &error);
  ck_assert_msg(code == 0, "%s", error.text);
}

/* --- the model --- */

/* Tasks that are in, in any order, and the ranks of the pops so far. */
static struct {
  uint64_t in[MOST], rank[MOST];
  size_t n, pops;
} model;

static void model_pop(size_t which) {
  const uint64_t priority = model.in[which];
  uint64_t rank = 0;
  for (size_t i = 0; i < model.n; i++) {
    rank += model.in[i] < priority;
  }
  model.rank[model.pops++] = rank;
  model.in[which] = model.in[--model.n];
}

/* Share of pops whose rank is not above. */
static double share(uint64_t rank) {
  size_t n = 0;
  for (size_t i = 0; i < model.pops; i++) {
    n += model.rank[i] <= rank;
  }
  return (double)n / (double)model.pops;
}

/* `rank` is one of the ranks, and the least that the share does not exceed. */
static void check_quantile(uint64_t rank, double least) {
  uint64_t before = 0;
  bool there = false;
  for (size_t i = 0; i < model.pops; i++) {
    there |= model.rank[i] == rank;
    if (model.rank[i] < rank && model.rank[i] >= before) {
      before = model.rank[i] + 1;
    }
  }
  ck_assert(there);
  ck_assert_double_ge(share(rank), least);
  if (before > 0) {
    ck_assert_double_lt(share(before - 1), least);
  }
}

static void compare(void) {
  uint64_t sum = 0, most = 0, inverted = 0;
  ck_assert_uint_eq(got.pops, model.pops);
  for (size_t i = 0; i < model.pops; i++) {
    sum += model.rank[i];
    inverted += model.rank[i] > 0;
    most = model.rank[i] > most ? model.rank[i] : most;
  }
  ck_assert_uint_eq(got.inverted, inverted);
  ck_assert_uint_eq(got.most, most);
  if (model.pops == 0) {
    ck_assert_double_eq(got.mean, 0);
    ck_assert_uint_eq(got.median + got.p99, 0);
    return;
  }
  ck_assert_double_eq(got.mean, (double)sum / (double)model.pops);
  check_quantile(got.median, .5);
  check_quantile(got.p99, .99);
}

/* --- random histories --- */

static const uint64_t ranges[] = {1, 2, 7, 60, 1000, UINT32_MAX};
enum { RANGES = sizeof(ranges) / sizeof(*ranges) };

/* In any range there are the ends of all priorities, too. */
static uint64_t some_priority(uint64_t range) {
  switch (below(20)) {
  case 0:
    return 0;
  case 1:
    return UINT64_MAX;
  default:
    return below(range) << below(32);
  }
}

/* One cycle: a few pushes by any threads, then perhaps a pop, which may stand
   in its log before a push of the same cycle. Returns how many operations. */
static size_t one_cycle(int n, uint64_t cycle, uint64_t range, size_t most) {
  const size_t pushes = below(3) < most ? (size_t)below(3) : 0;
  const int popper = (int)below((uint64_t)n), late = (int)below(2);
  uint64_t given[2];
  for (size_t i = 0; i < pushes; i++) {
    given[i] = some_priority(range);
    model.in[model.n++] = given[i];
    if (!late) {
      push((int)below((uint64_t)n), cycle, given[i]);
    }
  }
  const bool popped = model.n > 0 && most > pushes && below(10) < 6;
  if (popped) {
    const size_t which = (size_t)below(model.n);
    pop(popper, cycle, model.in[which]);
    model_pop(which);
  }
  for (size_t i = 0; late && i < pushes; i++) {
    push(i == 0 ? popper : (int)below((uint64_t)n), cycle, given[i]);
  }
  return pushes + (size_t)popped;
}

static void history(int n, size_t operations, uint64_t range) {
  uint64_t cycle = below(2) ? 0 : UINT64_C(1) << 62;
  open_logs();
  model.n = model.pops = 0;
  for (size_t i = 0; i < operations; cycle += 1 + below(3)) {
    i += one_cycle(n, cycle, range, operations - i) + (below(50) == 0);
  }
  rank_of(n);
  compare();
  close_logs();
}

START_TEST(random_histories) {
  const uint64_t range = ranges[_i];
  for (int i = 0; i < 400; i++) {
    history(1 + (int)below(LOGS), below(30), range);
  }
  for (int i = 0; i < 20; i++) {
    history(1 + (int)below(LOGS), below(MOST / 2), range);
  }
}
END_TEST

/* --- single cases --- */

START_TEST(nothing) {
  open_logs();
  rank_of(0);
  ck_assert_uint_eq(got.pops, 0);
  rank_of(LOGS);
  ck_assert_uint_eq(got.pops, 0);
  push(3, 5, 17); /* and nobody takes it */
  memset(&got, 0x55, sizeof(got));
  rank_of(LOGS);
  ck_assert_uint_eq(got.pops + got.inverted + got.median + got.p99 + got.most,
                    0);
  ck_assert_double_eq(got.mean, 0);
  close_logs();
  task_log_free(NULL);
}
END_TEST

/* Five are in, and the third one is taken; then the others in order. */
START_TEST(by_hand) {
  static const uint64_t x[] = {0, 1, 2, UINT64_MAX - 1, UINT64_MAX};
  open_logs();
  for (int i = 0; i < 5; i++) {
    push(i, (uint64_t)i, x[4 - i]);
  }
  pop(8, 10, 2);
  for (int i = 0; i < 5; i++) {
    if (i != 2) {
      pop(i, 20 + (uint64_t)i, x[i]);
    }
  }
  rank_of(LOGS);
  ck_assert_uint_eq(got.pops, 5);
  ck_assert_uint_eq(got.inverted, 1);
  ck_assert_uint_eq(got.most, 2);
  ck_assert_uint_eq(got.p99, 2);
  ck_assert_uint_eq(got.median, 0);
  ck_assert_double_eq(got.mean, .4);
  close_logs();
}
END_TEST

/* n are pushed and taken in order or, which has the greatest
   errors, backwards: the ranks are n - 1, n - 2, ... Several blocks each. */
START_TEST(many) {
  const uint64_t n = 30000;
  for (int backwards = 0; backwards < 2; backwards++) {
    open_logs();
    for (uint64_t i = 0; i < n; i++) {
      push((int)(i * i % 3), i, i * 3);
    }
    for (uint64_t i = 0; i < n; i++) {
      pop((int)(i % 4), n + i, (backwards ? n - 1 - i : i) * 3);
    }
    rank_of(LOGS);
    ck_assert_uint_eq(got.pops, n);
    ck_assert_uint_eq(got.inverted, backwards ? n - 1 : 0);
    ck_assert_uint_eq(got.most, backwards ? n - 1 : 0);
    ck_assert_uint_eq(got.median, backwards ? n / 2 - 1 : 0);
    ck_assert_uint_eq(got.p99, backwards ? n * 99 / 100 - 1 : 0);
    ck_assert_double_eq(got.mean, backwards ? (double)(n - 1) / 2 : 0);
    close_logs();
  }
}
END_TEST

/* At one cycle of a coarse clock a log may have as many pops as fill blocks,
   and then pushes, of which another log has the pops. */
START_TEST(coarse_clock) {
  const uint64_t n = 10000;
  open_logs();
  for (uint64_t i = 0; i < n; i++) {
    push(1, 1, 7);
  }
  for (uint64_t i = 0; i < n; i++) {
    pop(1, 2, 7);
  }
  push(1, 2, 5);
  push(1, 2, 9);
  push(0, 2, 1);
  pop(0, 2, 9);
  pop(0, 3, 5);
  rank_of(2);
  ck_assert_uint_eq(got.pops, n + 2);
  ck_assert_uint_ge(got.most, 1);
  close_logs();
}
END_TEST

static void refused(void) {
  memset(&error, 0, sizeof(error));
  ck_assert_int_eq(task_log_rank(logs, LOGS, &got, &error), EINVAL);
  ck_assert_int_eq(error.code, EINVAL);
  ck_assert_ptr_nonnull(strstr(error.text, "priority 18446744073709551615"));
  ck_assert_ptr_null(strchr(error.text, '\n'));
  ck_assert_int_eq(task_log_rank(logs, LOGS, &got, NULL), EINVAL);
}

/* A pop without a push; of a priority that nobody ever pushes, too, whether it
   lies above, between or at the end of the others. */
START_TEST(popped_before_pushed) {
  open_logs();
  pop(2, 9, UINT64_MAX);
  refused();
  push(0, 10, UINT64_MAX);
  refused();
  for (uint64_t i = 0; i < 100; i++) {
    push(1, i / 10, i * 2);
  }
  refused();
  close_logs();
  open_logs();
  for (uint64_t i = 0; i < 100; i++) {
    push(1, i / 10, i * 2);
  }
  pop(2, 99, UINT64_MAX);
  refused();
  close_logs();
}
END_TEST

START_TEST(popped_twice) {
  open_logs();
  push(0, 1, UINT64_MAX);
  push(0, 1, 8);
  pop(4, 2, UINT64_MAX);
  pop(5, 2, UINT64_MAX);
  refused();
  close_logs();
}
END_TEST

START_TEST(popped_unknown) {
  for (uint64_t x = 0; x < 300; x++) {
    open_logs();
    for (uint64_t i = 0; i < 100; i++) {
      push(1, i / 10, i * 3);
    }
    pop(0, 100, x);
    ck_assert_int_eq(task_log_rank(logs, LOGS, &got, &error),
                     x % 3 ? EINVAL : 0);
    close_logs();
  }
}
END_TEST

/* How long it takes: PEMS_TEST_LONG=1, 10^8 entries (4 GB). */
START_TEST(speed) {
  const uint64_t n = getenv("PEMS_TEST_LONG") ? 50000000 : 100000;
  struct timespec from, to;
  open_logs();
  for (uint64_t i = 0; i < n; i++) {
    push((int)(i % 2), 2 * i, i * UINT64_C(0x9e3779b97f4a7c15));
  }
  for (uint64_t i = 0; i < n; i++) {
    pop((int)(i % 2), 2 * (n + i), i * UINT64_C(0x9e3779b97f4a7c15));
  }
  clock_gettime(CLOCK_MONOTONIC, &from);
  rank_of(LOGS);
  clock_gettime(CLOCK_MONOTONIC, &to);
  if (getenv("PEMS_TEST_LONG")) {
    printf("%.1f s for %.0f entries\n",
           (double)(to.tv_sec - from.tv_sec) +
               1e-9 * (double)(to.tv_nsec - from.tv_nsec),
           2.0 * (double)n);
  }
  ck_assert_uint_eq(got.pops, n);
  close_logs();
}
END_TEST

int main(void) {
  Suite *const s = suite_create("task_rank");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 300);
  tcase_add_loop_test(t, random_histories, 0, RANGES);
  tcase_add_test(t, nothing);
  tcase_add_test(t, by_hand);
  tcase_add_test(t, many);
  tcase_add_test(t, coarse_clock);
  tcase_add_test(t, popped_before_pushed);
  tcase_add_test(t, popped_twice);
  tcase_add_test(t, popped_unknown);
  tcase_add_test(t, speed);
  suite_add_tcase(s, t);
  return check_run(s);
}
