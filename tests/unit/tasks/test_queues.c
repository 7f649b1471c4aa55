/* Many heaps with locks: multiqueue and reld. */
#include "tasks/queues.h"

#include <errno.h>

#include "check_main.h"
#include "task_check.h"

static uint64_t tasks_of_each(int threads) {
  return (uint64_t)((getenv("PEMS_TEST_LONG") ? 1000000 : 16000) / threads);
}

static void check_orders(const struct task_kind *kind, int threads) {
  for (int i = 0; i < ORDERS; i++) {
    check_threads(kind, threads, (size_t)(i % 4) * 8 + 8, (enum check_order)i,
                  tasks_of_each(threads));
  }
}

START_TEST(nothing_lost_in_multiqueue) {
  check_orders(&task_multiqueue, _i);
}
END_TEST

START_TEST(nothing_lost_in_reld) {
  check_orders(&task_reld, _i);
}
END_TEST

/* One queue of one thread: strict order. */
static void check_strict(const struct task_kind *kind, enum check_order order) {
  struct check_sched c;
  ck_assert_int_eq(check_open(&c, kind, 1, 8, 1), 0);
  ck_assert_ptr_null(kind->take(&c.handle[0]));
  for (uint64_t i = 0; i < 1000; i++) {
    ck_assert_int_eq(check_push(&c.handle[0], order, i), 0);
  }
  uint64_t before = 0;
  for (uint64_t i = 0; i < 1000; i++) {
    const struct task_record *const r = kind->take(&c.handle[0]);
    ck_assert_ptr_nonnull(r);
    ck_assert_uint_ge(r->priority, before);
    before = r->priority;
  }
  ck_assert_ptr_null(kind->take(&c.handle[0]));
  check_close(&c);
}

START_TEST(one_queue_is_strict) {
  const enum check_order order = (enum check_order)(_i % ORDERS);
  check_strict(_i < ORDERS ? &task_multiqueue : &task_reld, order);
}
END_TEST

/* A thread finds a single task, in whichever of many queues it is. */
START_TEST(one_task_is_found) {
  struct check_sched c;
  ck_assert_int_eq(check_open(&c, &task_multiqueue, 8, 8, 16), 0);
  for (uint64_t i = 0; i < 500; i++) {
    const enum check_order order = i % 2 ? ALL_MOST : RANDOM;
    ck_assert_int_eq(check_push(&c.handle[i % 8], order, i), 0);
    const struct task_record *const r =
        c.sched.kind->take(&c.handle[i / 8 % 8]);
    ck_assert_ptr_nonnull(r);
    ck_assert_uint_eq(check_number(&c.handle[0], order, r), i);
    ck_assert_ptr_null(c.sched.kind->take(&c.handle[i % 8]));
  }
  check_close(&c);
}
END_TEST

/* What was taken stays where it is while the thread pushes. */
START_TEST(a_task_stays) {
  const struct task_kind *const kind = _i ? &task_reld : &task_multiqueue;
  struct check_sched c;
  ck_assert_int_eq(check_open(&c, kind, 1, 32, 1), 0);
  ck_assert_int_eq(check_push(&c.handle[0], ALL_LEAST, 0), 0);
  const struct task_record *const r = kind->take(&c.handle[0]);
  for (uint64_t i = 1; i < 1000; i++) {
    ck_assert_int_eq(check_push(&c.handle[0], ALL_LEAST, i), 0);
  }
  ck_assert_uint_eq(check_number(&c.handle[0], ALL_LEAST, r), 0);
  check_close(&c);
}
END_TEST

/* --- how good what comes is --- */

/* About the number of queues; of two, the better of both is the best. */
START_TEST(ranks_of_multiqueue) {
  static const int p[] = {1, 2, 4, 8};
  for (int i = 0; i < 4; i++) {
    for (int c = 2; c <= 8; c *= 2) {
      const double rank = check_rank(&task_multiqueue, p[i], c, 1 << 15).mean;
      ck_assert_double_ge(rank, p[i] * c == 2 ? 0 : 0.3 * p[i] * c);
      ck_assert_double_lt(rank, 1.5 * p[i] * c);
    }
  }
}
END_TEST

/* The queues drift apart, but as a random walk does: far less than the tasks
   that there are. */
START_TEST(ranks_of_reld) {
  ck_assert_double_eq(check_rank(&task_reld, 1, 0, 1 << 15).mean, 0);
  const double rank = check_rank(&task_reld, 8, 0, 1 << 15).mean;
  ck_assert_double_gt(rank, 3);
  ck_assert_double_lt(rank, 1000);
}
END_TEST

/* --- errors --- */

START_TEST(no_memory_to_open) {
  const struct task_kind *const kind = _i ? &task_reld : &task_multiqueue;
  struct check_sched c;
  for (int n = 0; n < 1 + 4; n++) {
    memory_for(n);
    ck_assert_int_eq(check_open(&c, kind, 4, 8, 4), ENOMEM);
    ck_assert_int_eq(c.sched.error.code, ENOMEM);
    ck_assert_ptr_nonnull(strstr(c.sched.error.text, n ? "thread" : "queues"));
    memory_again();
    check_close(&c);
  }
  ck_assert_int_eq(check_open(&c, kind, 4, 8, 4), 0);
  check_close(&c);
}
END_TEST

START_TEST(no_memory_to_push) {
  const struct task_kind *const kind = _i ? &task_reld : &task_multiqueue;
  struct check_sched c;
  ck_assert_int_eq(check_open(&c, kind, 1, 8, 1), 0);
  memory_for(1);
  uint64_t n = 0;
  while (!check_push(&c.handle[0], DISTINCT, n)) {
    n++;
  }
  memory_again();
  ck_assert_uint_gt(n, 0);
  ck_assert_int_eq(atomic_load(&c.sched.failed), ENOMEM);
  ck_assert_ptr_nonnull(strstr(c.sched.error.text, "no memory"));
  /* What was there is still there. */
  for (uint64_t i = 0; i < n; i++) {
    ck_assert_ptr_nonnull(kind->take(&c.handle[0]));
  }
  ck_assert_ptr_null(kind->take(&c.handle[0]));
  check_close(&c);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("task_queues");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 300);
  tcase_add_loop_test(t, nothing_lost_in_multiqueue, 1, CHECK_THREADS + 1);
  tcase_add_loop_test(t, nothing_lost_in_reld, 1, CHECK_THREADS + 1);
  tcase_add_loop_test(t, one_queue_is_strict, 0, 2 * ORDERS);
  tcase_add_test(t, one_task_is_found);
  tcase_add_loop_test(t, a_task_stays, 0, 2);
  tcase_add_test(t, ranks_of_multiqueue);
  tcase_add_test(t, ranks_of_reld);
  tcase_add_loop_test(t, no_memory_to_open, 0, 2);
  tcase_add_loop_test(t, no_memory_to_push, 0, 2);
  suite_add_tcase(s, t);
  return check_run(s);
}
