/* The functions of schedulers one by one, for every kind: what they tell, and
   what they refuse. Under load: test_cps_run.c. */
#define _GNU_SOURCE
#include <pems/sched.h>
#include <stdbool.h>

#include <check.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"

static struct pems_error error;

static const char *kind_of(int i) {
  return pems_sched_kinds()[i];
}

static struct pems_sched_options of_u64(void) {
  return (struct pems_sched_options){.task = 8};
}

static struct pems_sched *new_sched(const char *kind, int threads,
                                    const struct pems_sched_options *o) {
  struct pems_sched *s = NULL;
  const int code = pems_sched_new(&s, kind, threads, o, &error);
  ck_assert_msg(code == 0, "%s: %s", kind, error.text);
  ck_assert_ptr_nonnull(s);
  return s;
}

static void push(struct pems_sched *s, bool thread, uint64_t task,
                 uint64_t priority) {
  ck_assert_int_eq(
      pems_sched_push(pems_sched_handle(s, thread), &task, priority), 0);
}

static struct pems_sched_counts counts_of(const struct pems_sched *s) {
  struct pems_sched_counts c;
  memset(&c, 0x55, sizeof(c));
  pems_sched_counts(s, &c);
  return c;
}

/* --- making --- */

START_TEST(names) {
  const struct pems_sched_options o = of_u64();
  const char *const want[] = {"pmod", "obim", "multiqueue", "reld",
                              "spraylist"};
  struct pems_sched *s = new_sched(NULL, 1, &o);
  ck_assert_str_eq(pems_sched_kind(s), "pmod");
  pems_sched_free(s);
  pems_sched_free(NULL);
  for (int i = 0; i < 5; i++) {
    ck_assert_ptr_nonnull(kind_of(i));
    ck_assert_str_eq(kind_of(i), want[i]);
    s = new_sched(want[i], 2, &o);
    ck_assert_str_eq(pems_sched_kind(s), want[i]);
    pems_sched_free(s);
  }
  ck_assert_ptr_null(kind_of(5));
}
END_TEST

START_TEST(number_of_threads) {
  const struct pems_sched_options o = of_u64();
  struct pems_sched *s = new_sched(kind_of(_i), 0, &o);
  ck_assert_int_ge(pems_sched_threads(s), 1);
  ck_assert_int_le(pems_sched_threads(s), PEMS_SCHED_THREADS_MOST);
  pems_sched_free(s);
  static const int some[] = {1, 3, 64, PEMS_SCHED_THREADS_MOST};
  for (int i = 0; i < 4; i++) {
    s = new_sched(kind_of(_i), some[i], &o);
    ck_assert_int_eq(pems_sched_threads(s), some[i]);
    for (int t = 0; t < some[i]; t++) {
      if (pems_sched_thread(pems_sched_handle(s, t)) != t) {
        ck_abort_msg("thread %d", t);
      }
    }
    pems_sched_free(s);
  }
}
END_TEST

/* Fails with that code and a text of one line that has `word`. */
static void refused(int code, const char *kind, int threads,
                    const struct pems_sched_options *o, const char *word) {
  struct pems_sched *s = (struct pems_sched *)&error;
  memset(&error, 0, sizeof(error));
  ck_assert_int_eq(pems_sched_new(&s, kind, threads, o, &error), code);
  ck_assert_ptr_null(s);
  ck_assert_int_eq(error.code, code);
  ck_assert_msg(strstr(error.text, word) != NULL, "%s: no '%s'", error.text,
                word);
  ck_assert_msg(!strchr(error.text, '\n'), "%s", error.text);
  s = (struct pems_sched *)&error;
  ck_assert_int_eq(pems_sched_new(&s, kind, threads, o, NULL), code);
  ck_assert_ptr_null(s);
}

START_TEST(wrong_kinds_and_threads) {
  const struct pems_sched_options o = of_u64();
  refused(EINVAL, "", 1, &o, "kind");
  refused(EINVAL, "pmo", 1, &o, "pmo: no such kind");
  refused(EINVAL, "pmod ", 1, &o, "use pmod, obim, multiqueue, reld");
  refused(EINVAL, "PMOD", 1, &o, "kind");
  for (int i = 0; i < 5; i++) {
    refused(EINVAL, kind_of(i), -1, &o, "threads: -1");
    refused(EINVAL, kind_of(i), INT_MIN, &o, "threads");
    refused(EINVAL, kind_of(i), 1025, &o, "threads: 1025");
    refused(EINVAL, kind_of(i), INT_MAX, &o, "threads");
  }
}
END_TEST

/* Each number is refused in its place, whatever the kind is. */
START_TEST(wrong_options) {
  static const struct {
    struct pems_sched_options o;
    const char *word;
  } wrong[] = {
      {{.task = 0}, "bytes of a task: 0"},
      {{.task = 33}, "bytes of a task: 33"},
      {{.task = SIZE_MAX}, "bytes of a task"},
      {{.task = SIZE_MAX - UINT32_MAX + 8}, "bytes of a task"},
      {{.task = 8, .chunk = -1}, "chunk: -1"},
      {{.task = 8, .chunk = 4097}, "chunk: 4097"},
      {{.task = 8, .domains = -1}, "domains: -1"},
      {{.task = 8, .domains = INT_MAX}, "domains"},
      {{.task = 8, .delta = -1}, "delta: -1"},
      {{.task = 8, .delta = 64}, "delta: 64"},
      {{.task = 8, .global_frequency = -1e-9}, "global_frequency"},
      {{.task = 8, .global_frequency = 1.1}, "global_frequency: 1.1"},
      {{.task = 8, .global_frequency = NAN}, "global_frequency"},
      {{.task = 8, .max_pops = -1}, "max_pops: -1"},
      {{.task = 8, .min_density = -1}, "min_density: -1"},
      {{.task = 8, .min_queues = INT_MIN}, "min_queues"},
      {{.task = 8, .queues = -1}, "queues: -1"},
      {{.task = 8, .queues = INT_MAX}, "queues"},
  };
  for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
    refused(EINVAL, kind_of(_i), 2, &wrong[i].o, wrong[i].word);
  }
  refused(EINVAL, kind_of(_i), 2, NULL, "task");
}
END_TEST

/* The greatest and least values that are allowed. */
START_TEST(extreme_options) {
  static const struct pems_sched_options some[] = {
      {.task = 1, .chunk = 1, .domains = 1, .queues = 1},
      {.task = 32, .chunk = 4096, .delta = 63, .domains = 3, .queues = 64},
      {.task = 5,
       .max_pops = 1,
       .min_density = 1,
       .min_queues = 1,
       .global_frequency = 1,
       .seed = UINT64_MAX},
      {.task = 5,
       .max_pops = 1 << 30,
       .min_density = 1 << 30,
       .min_queues = 1 << 30,
       .global_frequency = 1e-300},
  };
  unsigned char task[32] = {17};
  uint64_t priority = 1;
  for (int i = 0; i < 4; i++) {
    struct pems_sched *const s = new_sched(kind_of(_i), 1, &some[i]);
    struct pems_sched_handle *const h = pems_sched_handle(s, 0);
    ck_assert_int_eq(pems_sched_push(h, task, UINT64_MAX), 0);
    ck_assert_int_eq(pems_sched_pop(h, task, &priority), 1);
    ck_assert_uint_eq(priority, UINT64_MAX);
    ck_assert_int_eq(pems_sched_pop(h, task, &priority), 0);
    ck_assert_int_eq(pems_sched_finished(s), 1);
    pems_sched_free(s);
  }
}
END_TEST

START_TEST(limits_of_memory) {
  struct pems_sched_options o = of_u64();
  o.scratch.io = "mem";
  o.memory = 1;
  refused(ENOMEM, "pmod", 2, &o, "memory");
  /* The text says how much is needed: so much will do. */
  const char *const more = strstr(error.text, "1 bytes: ");
  ck_assert_ptr_nonnull(more);
  o.memory = strtoull(more + 9, NULL, 10);
  pems_sched_free(new_sched("pmod", 2, &o));
  o.memory--;
  refused(ENOMEM, "pmod", 2, &o, "memory");
  for (int i = 1; i < 5; i++) {
    refused(EINVAL, kind_of(i), 2, &o, "use pmod");
  }
  o.memory = 1 << 26;
  o.scratch.io = "none";
  refused(EINVAL, "pmod", 2, &o, "none");
  o.scratch.io = NULL;
  o.scratch.path = (const char *const[]){"/nowhere/at/all"};
  o.scratch.count = 1;
  refused(ENOENT, "pmod", 2, &o, "/nowhere/at/all");
}
END_TEST

/* --- pushing and popping --- */

START_TEST(empty) {
  const struct pems_sched_options o = of_u64();
  struct pems_sched *const s = new_sched(kind_of(_i), 2, &o);
  uint64_t task = 5, priority = 6;
  ck_assert_int_eq(pems_sched_finished(s), 1);
  for (int i = 0; i < 100; i++) {
    ck_assert_int_eq(pems_sched_pop(pems_sched_handle(s, i % 2), &task, NULL),
                     0);
  }
  ck_assert_int_eq(pems_sched_pop(pems_sched_handle(s, 1), &task, &priority),
                   0);
  ck_assert_uint_eq(task, 5);
  ck_assert_int_eq(pems_sched_finished(s), 1);
  ck_assert_int_eq(pems_sched_failure(s, &error), 0);
  ck_assert_int_eq(pems_sched_failure(s, NULL), 0);
  const struct pems_sched_counts c = counts_of(s);
  ck_assert_uint_eq(c.pushed + c.popped + c.useless, 0);
  ck_assert_uint_eq(c.failed, 101);
  pems_sched_free(s);
}
END_TEST

/* A task is finished by the next pop of its handle, whether that finds another
   one or not; what it pushed before counts. */
START_TEST(when_a_task_is_finished) {
  const struct pems_sched_options o = of_u64();
  struct pems_sched *const s = new_sched(kind_of(_i), 1, &o);
  struct pems_sched_handle *const h = pems_sched_handle(s, 0);
  uint64_t task = 0, priority = 0;
  push(s, false, 7, 70);
  ck_assert_int_eq(pems_sched_finished(s), 0);
  ck_assert_int_eq(pems_sched_pop(h, &task, &priority), 1);
  ck_assert_uint_eq(task, 7);
  ck_assert_uint_eq(priority, 70);
  ck_assert_int_eq(pems_sched_finished(s), 0);
  push(s, false, 8, 80);
  ck_assert_int_eq(pems_sched_pop(h, &task, NULL), 1);
  ck_assert_uint_eq(task, 8);
  ck_assert_int_eq(pems_sched_finished(s), 0);
  ck_assert_int_eq(pems_sched_pop(h, &task, NULL), 0);
  ck_assert_int_eq(pems_sched_finished(s), 1);
  push(s, false, 9, 0);
  ck_assert_int_eq(pems_sched_finished(s), 0);
  ck_assert_int_eq(pems_sched_pop(h, &task, NULL), 1);
  ck_assert_int_eq(pems_sched_pop(h, &task, NULL), 0);
  ck_assert_int_eq(pems_sched_finished(s), 1);
  pems_sched_free(s);
}
END_TEST

/* --- running --- */

enum { RUNS = 4000 };

static _Atomic uint64_t ran, spent;

/* Some work; each task makes two others, up to a number. */
static enum pems_sched_work run_task(void *arg, struct pems_sched_handle *h,
                                     const void *task, uint64_t priority) {
  uint64_t i, sum = priority;
  memcpy(&i, task, sizeof(i));
  for (uint64_t j = 0; j < 2; j++) {
    const uint64_t child = 2 * i + 1 + j;
    if (child < *(const uint64_t *)arg) {
      pems_sched_push(h, &child, child * UINT64_C(0x9e3779b97f4a7c15) >> 20);
    }
  }
  for (uint64_t j = 0; j < 100; j++) {
    sum = sum * 5 + j;
  }
  atomic_fetch_add(&spent, sum);
  atomic_fetch_add(&ran, 1);
  return i % 4 == 0 ? PEMS_SCHED_USELESS : PEMS_SCHED_GOOD;
}

static void run(struct pems_sched *s, uint64_t n) {
  ck_assert_int_eq(
      pems_sched_run(
          s, &(struct pems_sched_run_options){.run = run_task, .arg = &n},
          &error),
      0);
}

START_TEST(nothing_to_run) {
  const struct pems_sched_options o = of_u64();
  struct pems_sched *const s = new_sched(kind_of(_i), 3, &o);
  ran = 0;
  run(s, 0);
  run(s, 0);
  ck_assert_uint_eq(ran, 0);
  ck_assert_uint_eq(counts_of(s).popped, 0);
  pems_sched_free(s);
}
END_TEST

/* A task that was popped by hand before is finished by the run. */
START_TEST(run_after_pop) {
  const struct pems_sched_options o = of_u64();
  struct pems_sched *const s = new_sched(kind_of(_i), 1, &o);
  uint64_t task;
  ran = 0;
  push(s, false, 10, 1);
  push(s, false, 11, 1);
  ck_assert_int_eq(pems_sched_pop(pems_sched_handle(s, 0), &task, NULL), 1);
  run(s, 0);
  ck_assert_uint_eq(ran, 1);
  ck_assert_int_eq(pems_sched_finished(s), 1);
  pems_sched_free(s);
}
END_TEST

/* --- counts --- */

static void check_changes(const struct pems_sched_counts *c) {
  uint64_t popped = 0, cycles = 0;
  int lmf = 0;
  for (size_t i = 0; i < c->change_count; i++) {
    ck_assert_uint_ge(c->changes[i].popped, popped);
    ck_assert_uint_ge(c->changes[i].cycles, cycles);
    ck_assert_int_ne(c->changes[i].lmf, lmf);
    lmf = c->changes[i].lmf;
    ck_assert(lmf >= 0 && lmf < 64);
    popped = c->changes[i].popped;
    cycles = c->changes[i].cycles;
  }
  ck_assert_uint_le(popped, c->popped);
  ck_assert_int_eq(lmf, c->lmf);
}

START_TEST(cycles_are_counted) {
  struct pems_sched_options o = of_u64();
  o.measure = 1;
  o.chunk = 4;
  o.global_frequency = 1e-9;
  for (int p = 1; p <= 4; p++) {
    struct pems_sched *const s = new_sched(kind_of(_i), p, &o);
    push(s, false, 0, 0);
    run(s, RUNS);
    const struct pems_sched_counts c = counts_of(s);
    ck_assert_uint_eq(c.pushed, RUNS);
    ck_assert_uint_eq(c.popped, RUNS);
    ck_assert_uint_eq(c.useless, RUNS / 4);
    ck_assert_uint_gt(c.good_work, 0);
    ck_assert_uint_gt(c.useless_work, 0);
    ck_assert_uint_gt(c.enqueue, 0);
    ck_assert_uint_gt(c.dequeue, 0);
    ck_assert_uint_gt(c.failed_dequeue, 0); /* the last one, at least */
    ck_assert_double_gt(c.cycles_per_second, 1e6);
    check_changes(&c);
    if (!strcmp(kind_of(_i), "pmod")) {
      ck_assert_uint_gt(c.change_count, 0);
      ck_assert_uint_gt(c.synchronizing, 0);
      ck_assert_uint_gt(c.bags, 1);
    }
    pems_sched_free(s);
  }
}
END_TEST

START_TEST(cycles_are_not_counted_unless_asked_for) {
  struct pems_sched_options o = of_u64();
  o.log = _i % 2;
  struct pems_sched *const s = new_sched(kind_of(_i), 2, &o);
  push(s, true, 0, 0);
  run(s, RUNS);
  const struct pems_sched_counts c = counts_of(s);
  ck_assert_uint_eq(c.popped, RUNS);
  ck_assert_uint_eq(c.useless, RUNS / 4);
  ck_assert_uint_eq(c.good_work + c.useless_work + c.enqueue + c.dequeue +
                        c.failed_dequeue + c.other,
                    0);
  ck_assert_uint_eq(c.change_count, 0);
  pems_sched_free(s);
}
END_TEST

/* --- rank errors --- */

static struct pems_sched_rank_error rank_of(struct pems_sched *s) {
  struct pems_sched_rank_error rank;
  memset(&rank, 0x55, sizeof(rank));
  ck_assert_msg(pems_sched_rank_error(s, &rank, &error) == 0, "%s", error.text);
  return rank;
}

START_TEST(no_rank_error_without_a_log) {
  struct pems_sched_options o = of_u64();
  struct pems_sched_rank_error rank;
  o.measure = 1;
  struct pems_sched *s = new_sched(kind_of(_i), 2, &o);
  memset(&error, 0, sizeof(error));
  ck_assert_int_eq(pems_sched_rank_error(s, &rank, &error), EINVAL);
  ck_assert_int_eq(error.code, EINVAL);
  ck_assert_ptr_nonnull(strstr(error.text, "log"));
  ck_assert_int_eq(pems_sched_rank_error(s, &rank, NULL), EINVAL);
  pems_sched_free(s);
  o.log = 1;
  s = new_sched(kind_of(_i), 2, &o);
  ck_assert_uint_eq(rank_of(s).pops, 0);
  pems_sched_free(s);
}
END_TEST

/* With one thread, one queue, and a bag for each priority there is order. */
START_TEST(strict_order) {
  static const char *const strict[] = {"obim", "multiqueue", "reld"};
  struct pems_sched_options o = of_u64();
  o.log = 1;
  o.queues = 1;
  o.chunk = 1;
  struct pems_sched *const s = new_sched(strict[_i], 1, &o);
  push(s, false, 0, 0);
  run(s, RUNS);
  const struct pems_sched_rank_error rank = rank_of(s);
  ck_assert_uint_eq(rank.pops, RUNS);
  ck_assert_uint_eq(rank.inverted, 0);
  ck_assert_uint_eq(rank.most, 0);
  pems_sched_free(s);
}
END_TEST

/* One bag for all priorities: a bag has no order. */
START_TEST(no_order) {
  struct pems_sched_options o = of_u64();
  o.log = 1;
  o.delta = 63;
  struct pems_sched *const s = new_sched("obim", 1, &o);
  for (uint64_t i = 0; i < 1000; i++) {
    push(s, false, RUNS, 1000 - i);
  }
  run(s, 0);
  const struct pems_sched_rank_error rank = rank_of(s);
  ck_assert_uint_eq(rank.pops, 1000);
  ck_assert_uint_gt(rank.inverted, 900);
  ck_assert_uint_gt(rank.most, 900);
  ck_assert_double_gt(rank.mean, 300);
  pems_sched_free(s);
}
END_TEST

static void add_for_each_kind(TCase *t) {
  const TTest *const tests[] = {
      number_of_threads,
      wrong_options,
      extreme_options,
      empty,
      when_a_task_is_finished,
      nothing_to_run,
      run_after_pop,
      cycles_are_counted,
      cycles_are_not_counted_unless_asked_for,
      no_rank_error_without_a_log,
  };
  for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
    tcase_add_loop_test(t, tests[i], 0, 5);
  }
}

int main(void) {
  Suite *const s = suite_create("task_sched");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 60);
  tcase_add_test(t, names);
  tcase_add_test(t, wrong_kinds_and_threads);
  tcase_add_test(t, limits_of_memory);
  tcase_add_loop_test(t, strict_order, 0, 3);
  tcase_add_test(t, no_order);
  add_for_each_kind(t);
  suite_add_tcase(s, t);
  return check_run(s);
}
