/* How a thread looks for tasks. */
#include "tasks/bag_search.h"

#include <check.h>

#include "check_main.h"
#include "task_check.h"
#include "tasks/bag_directory.h"

enum { THREADS = 2 };

static struct check_sched c;

static void begin(void) {
  ck_assert_int_eq(check_open(&c, &task_obim, THREADS, 8, 1), 0);
}

static void end(void) {
  check_close(&c);
}

static struct task_bags_worker *worker(int i) {
  return c.handle[i].state;
}

/* A full chunk that thread i adds to its bag. */
static struct task_chunk *publish(int i, uint64_t end) {
  struct task_bags_worker *const w = worker(i);
  struct task_chunk *const chunk = task_chunk_new(w->part, 1);
  ck_assert_ptr_nonnull(chunk);
  task_search_publish(w, task_directory_find(w, end), chunk);
  return chunk;
}

static struct task_chunk *search(int i) {
  struct task_chunk *chunk;
  ck_assert_int_eq(task_search_all(worker(i), &chunk), 0);
  return chunk;
}

START_TEST(nothing_is_found_where_nothing_is) {
  ck_assert_ptr_null(search(0));
  ck_assert_uint_eq(worker(0)->misses, 1);
  ck_assert_uint_eq(worker(0)->total_synchronizing, 1);
}
END_TEST

START_TEST(the_first_bag_comes_first) {
  struct task_chunk *const nine = publish(0, 9), *const two = publish(0, 2);
  ck_assert_uint_eq(task_search_start(worker(0)), 2);
  ck_assert_ptr_eq(search(0), two);
  ck_assert_uint_eq(worker(0)->bag->end, 2);
  ck_assert_ptr_eq(search(0), nine);
  ck_assert_uint_eq(task_search_start(worker(0)), 9);
  ck_assert_ptr_null(search(0));
  task_chunk_free(worker(0)->part, two);
  task_chunk_free(worker(0)->part, nine);
}
END_TEST

/* Though this one has never looked there. */
START_TEST(what_others_have_left_is_found) {
  struct task_bags_worker *const w = worker(1);
  task_search_set_start(w, 100);
  struct task_chunk *const two = publish(0, 2);
  ck_assert_ptr_eq(search(1), two);
  ck_assert_uint_eq(task_search_start(w), 2);
  task_chunk_free(w->part, two);
}
END_TEST

/* A chunk that a thread fills is its own. */
START_TEST(what_a_thread_fills_is_its_own) {
  struct task_bags_worker *const w = worker(0);
  struct task_bag *const bag = task_directory_find(w, 5);
  struct task_chunk *const chunk = task_chunk_new(w->part, 0);
  bag->filling[0] = chunk;
  ck_assert_int_eq(task_search_come_back(w, bag), 0);
  ck_assert_uint_eq(task_search_start(w), 5);
  ck_assert_ptr_null(search(1));
  ck_assert_ptr_null(task_search_grab(worker(1), bag));
  ck_assert_ptr_eq(search(0), chunk);
  ck_assert_ptr_null(bag->filling[0]);
  task_chunk_free(w->part, chunk);
}
END_TEST

/* A thread that was stopped has left its start behind: others pass the empty
   bags there once, and then not for a while. */
START_TEST(empty_bags_are_not_passed_each_time) {
  enum { EMPTY = 40 };
  struct task_bags_worker *const w = worker(1);
  for (uint64_t end = 0; end < EMPTY; end++) {
    task_directory_find(worker(0), end);
  }
  task_search_set_start(worker(0), 0);
  for (int i = 0; i < 2; i++) {
    task_search_set_start(w, 1000);
    struct task_chunk *const chunk = publish(1, 1000);
    ck_assert_ptr_eq(search(1), chunk);
    task_chunk_free(w->part, chunk);
    ck_assert_uint_eq(w->penalty, 1);
    ck_assert_uint_eq(w->skip, 1 - i);
  }
  /* What is there is found all the same, if nothing else is. */
  task_search_set_start(w, 1000);
  w->skip = 1;
  struct task_chunk *const three = publish(0, 3);
  ck_assert_ptr_eq(search(1), three);
  ck_assert_uint_eq(w->penalty, 0);
  task_chunk_free(w->part, three);
}
END_TEST

/* Whatever others say: a thread that finds nothing for long looks at all. */
START_TEST(all_bags_are_searched_now_and_then) {
  struct task_bags_worker *const w = worker(0);
  struct task_chunk *const two = publish(0, 2);
  task_search_set_start(w, UINT64_MAX);
  int searches = 0;
  struct task_chunk *found;
  while (!(found = search(0))) {
    ck_assert_int_lt(++searches, 1000);
  }
  ck_assert_ptr_eq(found, two);
  ck_assert_int_gt(searches, 1);
  ck_assert_uint_eq(w->misses, 0);
  task_chunk_free(w->part, two);
}
END_TEST

START_TEST(bags_of_another_lmf_are_retired) {
  struct task_bags_worker *const w = worker(0);
  struct task_bags *const bags = c.sched.state;
  task_directory_find(w, 5);
  task_directory_find(w, 6);
  w->lmf = 1;
  atomic_store(&bags->mode, 1 << 6 | 1);
  task_search_set_start(w, 0);
  ck_assert_ptr_null(search(0));
  ck_assert_uint_eq(w->map.bags, 0);
  ck_assert_uint_eq(w->retired.bags, 2);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("bag_search");
  TCase *const all = tcase_create("all");
  tcase_set_timeout(all, 60);
  tcase_add_checked_fixture(all, begin, end);
  tcase_add_test(all, nothing_is_found_where_nothing_is);
  tcase_add_test(all, the_first_bag_comes_first);
  tcase_add_test(all, what_others_have_left_is_found);
  tcase_add_test(all, what_a_thread_fills_is_its_own);
  tcase_add_test(all, empty_bags_are_not_passed_each_time);
  tcase_add_test(all, all_bags_are_searched_now_and_then);
  tcase_add_test(all, bags_of_another_lmf_are_retired);
  suite_add_tcase(suite, all);
  return check_run(suite);
}
