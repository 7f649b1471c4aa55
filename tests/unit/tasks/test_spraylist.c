/* The skip list whose tasks are taken where a random walk ends. */
#include <errno.h>

#include "check_main.h"
#include "task_check.h"
#include "tasks/skiplist.h"

static uint64_t tasks_of_each(int threads) {
  return (uint64_t)((getenv("PEMS_TEST_LONG") ? 1000000 : 16000) / threads);
}

START_TEST(nothing_lost) {
  for (int i = 0; i < ORDERS; i++) {
    check_threads(&task_spraylist, _i, (size_t)(i % 4) * 8 + 8,
                  (enum check_order)i, tasks_of_each(_i));
  }
}
END_TEST

START_TEST(one_thread_is_strict) {
  const struct check_rank rank = check_rank(&task_spraylist, 1, 0, 1 << 13);
  ck_assert_uint_eq(rank.most, 0);
}
END_TEST

/* log p rounded up, cubed, times p. */
static double reach(int p) {
  const double log = 32 - __builtin_clz((unsigned)p - 1);
  return p * log * log * log;
}

/* Not the first always, but among the first. */
START_TEST(walks_end_near_the_beginning) {
  for (int p = 2; p <= CHECK_THREADS; p++) {
    const struct check_rank rank = check_rank(&task_spraylist, p, 0, 1 << 15);
    ck_assert_double_gt(rank.mean, 0.02 * reach(p));
    ck_assert_double_lt(rank.mean, 2 * reach(p));
    ck_assert_double_lt((double)rank.most, 8 * reach(p) + 100);
  }
}
END_TEST

/* A list that is shorter than a walk: all is found, by any thread. */
START_TEST(one_task_is_found) {
  struct check_sched c;
  ck_assert_int_eq(check_open(&c, &task_spraylist, 8, 8, 0), 0);
  ck_assert_ptr_null(c.sched.kind->take(&c.handle[0]));
  for (uint64_t i = 0; i < 3000; i++) {
    ck_assert_int_eq(check_push(&c.handle[i % 8], RANDOM, i), 0);
    const struct task_record *const r =
        c.sched.kind->take(&c.handle[i / 8 % 8]);
    ck_assert_ptr_nonnull(r);
    ck_assert_uint_eq(check_number(&c.handle[0], RANDOM, r), i);
    ck_assert_ptr_null(c.sched.kind->take(&c.handle[i % 8]));
  }
  check_close(&c);
}
END_TEST

START_TEST(a_task_stays) {
  struct check_sched c;
  ck_assert_int_eq(check_open(&c, &task_spraylist, 2, 32, 0), 0);
  ck_assert_int_eq(check_push(&c.handle[0], ALL_LEAST, 0), 0);
  const struct task_record *const r = c.sched.kind->take(&c.handle[0]);
  for (uint64_t i = 1; i < 3000; i++) {
    ck_assert_int_eq(check_push(&c.handle[0], ALL_LEAST, i), 0);
    ck_assert_ptr_nonnull(c.sched.kind->take(&c.handle[1]));
  }
  ck_assert_uint_eq(check_number(&c.handle[0], ALL_LEAST, r), 0);
  check_close(&c);
}
END_TEST

/* The best task comes again and again, smaller ones are pushed, and others lie
   behind: the dead are removed all the same. */
START_TEST(the_dead_do_not_stay) {
  struct check_sched c;
  ck_assert_int_eq(check_open(&c, &task_spraylist, 4, 8, 0), 0);
  union check_record r = {{0}};
  for (uint64_t i = 0; i < 60000; i++) {
    struct pems_sched_handle *const h = &c.handle[i % 4];
    r.record.priority = UINT64_MAX - i;
    must(!c.sched.kind->push(h, &r.record), "no memory");
    if (i >= 1000) {
      must(c.sched.kind->take(h) != NULL, "none was found");
    }
  }
  const struct task_skiplist *const list = c.sched.state;
  ck_assert_uint_lt(task_reclaim_bytes(list->reclaim), 60000 * TASK_LINE / 2);
  check_close(&c);
}
END_TEST

START_TEST(no_memory_to_open) {
  struct check_sched c;
  for (int n = 0; n < 3 + 4; n++) {
    memory_for(n);
    ck_assert_int_eq(check_open(&c, &task_spraylist, 4, 8, 0), ENOMEM);
    ck_assert_int_eq(c.sched.error.code, ENOMEM);
    ck_assert_ptr_nonnull(
        strstr(c.sched.error.text, n < 3 ? "skip list" : "a thread"));
    memory_again();
    check_close(&c);
  }
}
END_TEST

START_TEST(no_memory_to_push) {
  struct check_sched c;
  ck_assert_int_eq(check_open(&c, &task_spraylist, 1, 8, 0), 0);
  memory_for(1);
  uint64_t n = 0;
  while (!check_push(&c.handle[0], DISTINCT, n)) {
    n++;
  }
  memory_again();
  ck_assert_int_eq(atomic_load(&c.sched.failed), ENOMEM);
  ck_assert_ptr_nonnull(strstr(c.sched.error.text, "no memory"));
  for (uint64_t i = 0; i < n; i++) {
    ck_assert_ptr_nonnull(c.sched.kind->take(&c.handle[0]));
  }
  ck_assert_ptr_null(c.sched.kind->take(&c.handle[0]));
  check_close(&c);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("task_spraylist");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 300);
  tcase_add_loop_test(t, nothing_lost, 1, CHECK_THREADS + 1);
  tcase_add_test(t, one_thread_is_strict);
  tcase_add_test(t, walks_end_near_the_beginning);
  tcase_add_test(t, one_task_is_found);
  tcase_add_test(t, a_task_stays);
  tcase_add_test(t, the_dead_do_not_stay);
  tcase_add_test(t, no_memory_to_open);
  tcase_add_test(t, no_memory_to_push);
  suite_add_tcase(s, t);
  return check_run(s);
}
