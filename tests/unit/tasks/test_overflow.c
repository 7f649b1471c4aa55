/* pmod with a limit of memory: tasks on disk. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pems/sched.h>

#include "check_main.h"

#define MIB ((uint64_t)1 << 20)

static struct pems_sched *sched;
static struct pems_error error;

static int try_open(const char *kind, int threads, uint64_t memory,
                    const char *io) {
  static const char *const path[] = {"."};
  const struct pems_sched_options o = {
      .task = sizeof(uint64_t),
      .memory = memory,
      .scratch = {.path = path, .count = 1, .io = io, .strict = 1}};
  error = (struct pems_error){0};
  return pems_sched_new(&sched, kind, threads, &o, &error);
}

static void open_sched(int threads, uint64_t memory, const char *io) {
  ck_assert_msg(!try_open("pmod", threads, memory, io), "%s", error.text);
}

static void push(uint64_t task, uint64_t priority) {
  ck_assert_int_eq(
      pems_sched_push(pems_sched_handle(sched, 0), &task, priority), 0);
}

static struct pems_sched_counts counts(void) {
  struct pems_sched_counts c;
  pems_sched_counts(sched, &c);
  return c;
}

static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  return x ^ (x >> 27);
}

START_TEST(nothing_is_written_while_all_fits) {
  open_sched(1, 16 * MIB, "unix");
  for (uint64_t i = 0; i < 100000; i++) {
    push(i, i % 100);
  }
  uint64_t task;
  for (uint64_t i = 0; i < 100000; i++) {
    ck_assert(pems_sched_pop(pems_sched_handle(sched, 0), &task, NULL));
  }
  ck_assert_uint_eq(counts().spilled, 0);
  ck_assert_uint_eq(counts().io.writes, 0);
  ck_assert_uint_le(counts().memory_most, 16 * MIB);
  pems_sched_free(sched);
}
END_TEST

enum { MANY = 500000 };
static unsigned char seen[MANY];

/* Ten times the memory, in strict order of the bags: blocks come back before
   anything of a later bag. */
START_TEST(tasks_come_back_in_order) {
  static const char *const io[] = {"unix", "mem", "uring", "aio"};
  if (try_open("pmod", 1, 2 * MIB, io[_i]) == ENOSYS) {
    return;
  }
  for (uint64_t i = 0; i < MANY; i++) {
    push(i, mix(i) % 500);
  }
  ck_assert_uint_gt(counts().spilled, MANY / 2);
  ck_assert_uint_eq(counts().io.bytes_read, 0);
  memset(seen, 0, sizeof(seen));
  uint64_t task, priority, before = 0;
  for (uint64_t i = 0; i < MANY; i++) {
    ck_assert(pems_sched_pop(pems_sched_handle(sched, 0), &task, &priority));
    ck_assert_uint_eq(priority, mix(task) % 500);
    ck_assert_uint_ge(priority, before);
    ck_assert_uint_eq(seen[task]++, 0);
    before = priority;
  }
  ck_assert(!pems_sched_pop(pems_sched_handle(sched, 0), &task, NULL));
  ck_assert(pems_sched_finished(sched));
  const struct pems_sched_counts c = counts();
  ck_assert_uint_eq(c.fetched, c.spilled);
  ck_assert_uint_le(c.memory_most, 2 * MIB);
  /* A task is 16 bytes on disk; blocks are nearly full, and few tasks go more
     than once. */
  ck_assert_uint_le(c.io.bytes_written, c.spilled * 16 * 5 / 4);
  ck_assert_uint_le(c.spilled, MANY * 3 / 2);
  ck_assert_uint_le(c.io.bytes_read, c.io.bytes_written);
  pems_sched_free(sched);
}
END_TEST

/* Each task makes two until there are enough. */
static _Atomic uint64_t next_task;
static _Atomic unsigned char ran[MANY];

static enum pems_sched_work branch(void *arg, struct pems_sched_handle *h,
                                   const void *task, uint64_t priority) {
  const uint64_t range = *(const uint64_t *)arg;
  ran[*(const uint64_t *)task]++;
  for (int i = 0; i < 2; i++) {
    const uint64_t t = next_task++;
    if (t < MANY) {
      pems_sched_push(h, &t, priority + (range ? mix(t) % range : 0));
    }
  }
  return PEMS_SCHED_GOOD;
}

static int run_all(uint64_t range) {
  const struct pems_sched_run_options run = {.run = branch, .arg = &range};
  for (int i = 0; i < MANY; i++) {
    ran[i] = 0;
  }
  next_task = 1;
  push(0, 0);
  return pems_sched_run(sched, &run, &error);
}

/* One bag, some, very many. */
static const uint64_t ranges[] = {0, 100, 100000, UINT64_C(1) << 40};

START_TEST(nothing_is_lost_with_threads) {
  const int threads = _i % 2 ? 3 : 1;
  const uint64_t memory = (1 + (uint64_t)threads) * MIB;
  open_sched(threads, memory, "unix");
  ck_assert_msg(!run_all(ranges[_i / 2]), "%s", error.text);
  for (int i = 0; i < MANY; i++) {
    ck_assert_uint_eq(ran[i], 1);
  }
  const struct pems_sched_counts c = counts();
  ck_assert_uint_gt(c.spilled, 0);
  ck_assert_uint_eq(c.fetched, c.spilled);
  ck_assert_uint_eq(c.popped, MANY);
  ck_assert_uint_le(c.memory_most, memory + MIB);
  pems_sched_free(sched);
}
END_TEST

START_TEST(a_disk_that_fails) {
  static const struct {
    const char *io;
    int code;
    const char *text;
  } fault[] = {
      {"fault:unix,write=3:EIO", EIO, "scheduler: scratch disk: ."},
      {"fault:unix,read=2:EIO", EIO, "scheduler: scratch disk: ."},
      {"fault:unix,after=200000:ENOSPC", ENOSPC, "free some space"},
      {"fault:mem,write=1:EIO", EIO, "scheduler: scratch disk: "},
  };
  for (int threads = 1; threads <= 4; threads += 3) {
    open_sched(threads, 3 * MIB, fault[_i].io);
    ck_assert_int_eq(run_all(1000), fault[_i].code);
    ck_assert_msg(strstr(error.text, fault[_i].text), "%s", error.text);
    ck_assert(pems_sched_finished(sched));
    ck_assert_int_eq(pems_sched_failure(sched, NULL), fault[_i].code);
    pems_sched_free(sched);
  }
}
END_TEST

START_TEST(short_transfers) {
  open_sched(2, 2 * MIB, "fault:unix,short=3");
  ck_assert_msg(!run_all(1000), "%s", error.text);
  for (int i = 0; i < MANY; i++) {
    ck_assert_uint_eq(ran[i], 1);
  }
  pems_sched_free(sched);
}
END_TEST

START_TEST(disks_of_the_caller) {
  struct pems_disks *disks;
  ck_assert_int_eq(pems_disks_open(&disks, NULL, NULL), 0);
  for (int round = 0; round < 2; round++) {
    const struct pems_sched_options o = {
        .task = 8, .memory = 2 * MIB, .disks = disks};
    ck_assert_int_eq(pems_sched_new(&sched, "pmod", 1, &o, &error), 0);
    for (uint64_t i = 0; i < MANY / 4; i++) {
      push(i, i % 50);
    }
    ck_assert_uint_gt(counts().spilled, 0);
    pems_sched_free(sched); /* with tasks on disk */
  }
  pems_disks_close(disks);
}
END_TEST

/* Each task a priority of its own, far from all others, and nobody takes any
   before all are pushed: bags are merged all the same. With a bag for each, the
   memory would not be kept, and what goes to disk would pass them all. */
START_TEST(sparse_priorities) {
  enum { TASKS = 300000 };
  const struct pems_sched_options o = {.task = 8, .memory = 2 * MIB};
  ck_assert_int_eq(pems_sched_new(&sched, "pmod", 1, &o, &error), 0);
  struct pems_sched_handle *const handle = pems_sched_handle(sched, 0);
  uint64_t sum = 0, taken = 0;
  int failed = 0; /* an assertion for each would take longer than all else */
  for (uint64_t i = 0; i < TASKS; i++) {
    failed |= pems_sched_push(handle, &i, i * 0x9e3779b97f4a7c15u >> 20);
  }
  ck_assert_int_eq(failed, 0);
  ck_assert_uint_lt(counts().bags, TASKS / 50);
  ck_assert_uint_lt(counts().memory_most, 4 * MIB);
  for (uint64_t task; pems_sched_pop(handle, &task, NULL); taken++) {
    sum += task;
  }
  ck_assert_uint_eq(taken, TASKS);
  ck_assert_uint_eq(sum, (uint64_t)TASKS * (TASKS - 1) / 2);
  ck_assert_uint_lt(counts().bags, TASKS / 50);
  pems_sched_free(sched);
}
END_TEST

START_TEST(bad_options) {
  ck_assert_int_eq(try_open("obim", 1, MIB, "unix"), EINVAL);
  ck_assert_str_eq(error.text,
                   "scheduler: memory: obim has no limit of memory: use pmod");
  ck_assert_int_eq(try_open("pmod", 2, MIB, "unix"), ENOMEM);
  ck_assert_ptr_nonnull(strstr(error.text, "1048576 bytes: "));
  ck_assert_ptr_null(sched);
  ck_assert_int_eq(try_open("pmod", 1, 8 * MIB, "tape"), EINVAL);
  const char *const path[] = {"/nowhere/at/all"};
  const struct pems_sched_options o = {
      .task = 8, .memory = 8 * MIB, .scratch = {.path = path, .count = 1}};
  ck_assert_int_eq(pems_sched_new(&sched, NULL, 1, &o, &error), ENOENT);
  ck_assert_ptr_nonnull(strstr(error.text, "/nowhere/at/all"));
}
END_TEST

int main(void) {
  Suite *const s = suite_create("overflow");
  TCase *const t = tcase_create("overflow");
  tcase_set_timeout(t, 120);
  tcase_add_test(t, nothing_is_written_while_all_fits);
  tcase_add_loop_test(t, tasks_come_back_in_order, 0, 4);
  tcase_add_loop_test(t, nothing_is_lost_with_threads, 0, 8);
  tcase_add_loop_test(t, a_disk_that_fails, 0, 4);
  tcase_add_test(t, short_transfers);
  tcase_add_test(t, disks_of_the_caller);
  tcase_add_test(t, sparse_priorities);
  tcase_add_test(t, bad_options);
  suite_add_tcase(s, t);
  return check_run(s);
}
