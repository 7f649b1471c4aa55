/* The bags that a thread knows. */
#include "tasks/bag_directory.h"

#include <check.h>

#include "check_main.h"
#include "task_check.h"
#include "tasks/bags.h"

enum { THREADS = 2 };

static struct check_sched c;
static struct task_bags *bags;

static void begin(void) {
  ck_assert_int_eq(check_open(&c, &task_obim, THREADS, 8, 1), 0);
  bags = c.sched.state;
}

static void end(void) {
  check_close(&c);
}

static struct task_bags_worker *worker(int i) {
  return c.handle[i].state;
}

/* Bags that the thread searches, which are in order. */
static int searched(const struct task_bags_worker *w) {
  struct task_map_place at = task_map_seek(&w->map, 0);
  uint64_t before = 0;
  int n = 0;
  for (struct task_bag *bag; (bag = task_map_next(&w->map, &at)); n++) {
    ck_assert_uint_ge(bag->end, before);
    before = bag->end;
  }
  return n;
}

static void retire(struct task_bags_worker *w, struct task_bag *bag) {
  struct task_map_place at = task_map_seek(&w->map, bag->end);
  ck_assert_ptr_eq(task_map_next(&w->map, &at), bag);
  task_directory_retire(w, bag, &at);
}

START_TEST(a_bag_is_made_once) {
  struct task_bag *const five = task_directory_find(worker(0), 5);
  ck_assert_uint_eq(five->end, 5);
  ck_assert_ptr_eq(task_directory_find(worker(0), 5), five);
  ck_assert_ptr_eq(task_directory_find(worker(1), 5), five);
  ck_assert_ptr_ne(task_directory_find(worker(1), 3), five);
  ck_assert_uint_eq(bags->made, 2);
}
END_TEST

START_TEST(bags_of_others_are_learnt) {
  for (uint64_t end = 10; end > 0; end--) {
    task_directory_find(worker(0), end);
  }
  ck_assert_int_eq(searched(worker(0)), 10);
  ck_assert_int_eq(searched(worker(1)), 0);
  ck_assert_int_eq(task_directory_catch_up(worker(1)), 0);
  ck_assert_int_eq(searched(worker(1)), 10);
  ck_assert_int_eq(task_directory_catch_up(worker(1)), 0);
  ck_assert_int_eq(searched(worker(1)), 10);
}
END_TEST

START_TEST(a_retired_bag_is_not_searched) {
  struct task_bags_worker *const w = worker(0);
  struct task_bag *const five = task_directory_find(w, 5);
  struct task_bag *const six = task_directory_find(w, 6);
  w->bag = five;
  retire(w, five);
  ck_assert_int_eq(searched(w), 1);
  ck_assert_ptr_null(w->bag); /* what is left of a chunk cannot go there */
  ck_assert_int_eq(task_directory_relist(w, six), 0);
  ck_assert_int_eq(searched(w), 1);
  ck_assert_int_eq(task_directory_relist(w, five), 0);
  ck_assert_int_eq(searched(w), 2);
}
END_TEST

/* It is not made again. */
START_TEST(a_retired_bag_comes_back_with_a_task) {
  struct task_bags_worker *const w = worker(0);
  struct task_bag *const five = task_directory_find(w, 5);
  retire(w, five);
  ck_assert_ptr_eq(task_directory_find(w, 5), five);
  ck_assert_int_eq(searched(w), 1);
  ck_assert_uint_eq(bags->made, 1);
}
END_TEST

START_TEST(bags_of_an_lmf_come_back_with_it) {
  struct task_bags_worker *const w = worker(0);
  retire(w, task_directory_find(w, 5));
  w->lmf = 2;
  retire(w, task_directory_find(w, 7));
  w->retired_mode = 2;
  atomic_store(&bags->mode, 2);
  ck_assert_int_eq(task_directory_reinstate(w, false), 0); /* as it was */
  ck_assert_int_eq(searched(w), 0);
  atomic_store(&bags->mode, 1 << 6 | 2);
  ck_assert_int_eq(task_directory_reinstate(w, false), 0);
  ck_assert_int_eq(searched(w), 1);
  ck_assert_int_eq(task_directory_reinstate(w, true), 0);
  ck_assert_int_eq(searched(w), 2);
}
END_TEST

/* Each allocation fails in its turn: there is the bag, or nothing of it. */
static int open_and_find(void *arg) {
  (void)arg;
  int code = check_open(&c, &task_obim, THREADS, 8, 1);
  for (uint64_t end = 0; end < 200 && !code; end++) {
    struct task_bags_worker *const w = worker(0);
    struct task_bag *const bag = task_directory_find(w, end);
    code = bag ? 0 : ENOMEM;
    if (bag) {
      struct task_map_place at = task_map_seek(&w->map, end);
      ck_assert_ptr_eq(task_map_next(&w->map, &at), bag);
      task_directory_retire(w, bag, &at); /* or it stays */
      code = task_directory_find(w, end) == bag ? 0 : ENOMEM;
    }
  }
  check_close(&c);
  return code;
}

START_TEST(bags_are_found_or_not) {
  memory_every(open_and_find, NULL, ENOMEM, MEMORY_SPARED);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("bag_directory");
  TCase *const one = tcase_create("one"), *const none = tcase_create("memory");
  tcase_add_checked_fixture(one, begin, end);
  tcase_add_test(one, a_bag_is_made_once);
  tcase_add_test(one, bags_of_others_are_learnt);
  tcase_add_test(one, a_retired_bag_is_not_searched);
  tcase_add_test(one, a_retired_bag_comes_back_with_a_task);
  tcase_add_test(one, bags_of_an_lmf_come_back_with_it);
  tcase_set_timeout(none, 120);
  tcase_add_test(none, bags_are_found_or_not);
  suite_add_tcase(suite, one);
  suite_add_tcase(suite, none);
  return check_run(suite);
}
