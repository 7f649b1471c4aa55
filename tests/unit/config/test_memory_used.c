#include "config/memory_used.h"

#include <pthread.h>

#include "check_main.h"

START_TEST(the_most_stays) {
  memory_used_add(MEMORY_LETTERS, 10);
  memory_used_add(MEMORY_LETTERS, 20);
  ck_assert_uint_eq(memory_used_now(MEMORY_LETTERS), 30);
  memory_used_sub(MEMORY_LETTERS, 25);
  memory_used_add(MEMORY_LETTERS, 1);
  ck_assert_uint_eq(memory_used_now(MEMORY_LETTERS), 6);
  ck_assert_uint_eq(memory_used_most(MEMORY_LETTERS), 30);
  ck_assert_uint_eq(memory_used_most(MEMORY_PACKED), 0);
}
END_TEST

START_TEST(a_bound_is_kept) {
  ck_assert(memory_used_take(MEMORY_BOUNDARY, 6, 10));
  ck_assert(!memory_used_take(MEMORY_BOUNDARY, 5, 10));
  ck_assert(memory_used_take(MEMORY_BOUNDARY, 4, 10));
  ck_assert(!memory_used_take(MEMORY_BOUNDARY, UINT64_MAX, 10));
  memory_used_sub(MEMORY_BOUNDARY, 10);
  ck_assert(!memory_used_take(MEMORY_BOUNDARY, 11, 10));
  ck_assert_uint_eq(memory_used_most(MEMORY_BOUNDARY), 10);
}
END_TEST

static int wanted;

static void on_want(void) {
  wanted++;
}

START_TEST(what_is_lent_is_wanted_back) {
  memory_used_on_want(on_want);
  memory_used_lend(MEMORY_BOUNDARY, 100, 10);
  ck_assert_uint_eq(memory_used_bound(MEMORY_BOUNDARY, 100), 10);
  ck_assert_uint_eq(memory_used_bound(MEMORY_BOUNDARY, 5), 5);
  ck_assert(memory_used_take(MEMORY_BOUNDARY, 5, 100));
  ck_assert(!memory_used_wanted());
  ck_assert(!memory_used_take(MEMORY_BOUNDARY, 6, 100));
  ck_assert(memory_used_wants(MEMORY_BOUNDARY));
  ck_assert(!memory_used_wants(MEMORY_LETTERS));
  memory_used_add(MEMORY_BOUNDARY, 2); /* that is known already */
  ck_assert_int_eq(wanted, 1);
  memory_used_lend(MEMORY_BOUNDARY, 100, 40);
  ck_assert(!memory_used_wanted());
  memory_used_add(MEMORY_BOUNDARY, 14);
  ck_assert_int_eq(wanted, 2);
  memory_used_lend(MEMORY_BOUNDARY, 100, 100);
  memory_used_add(MEMORY_BOUNDARY, 90);
  ck_assert(!memory_used_wanted());
  memory_used_lend(MEMORY_BOUNDARY, 100, 10);
  memory_used_on_want(NULL);
  ck_assert_uint_eq(memory_used_bound(MEMORY_BOUNDARY, 100), 100);
  memory_used_sub(MEMORY_BOUNDARY, 111);
}
END_TEST

enum { TURNS = 10000, THREADS = 4 };

static void *use(void *arg) {
  for (int i = 0; i < TURNS; i++) {
    memory_used_add(MEMORY_INCOMING, 3);
    memory_used_sub(MEMORY_INCOMING, 3);
  }
  return arg;
}

START_TEST(threads_count_together) {
  pthread_t thread[THREADS];
  for (int i = 0; i < THREADS; i++) {
    ck_assert_int_eq(pthread_create(&thread[i], NULL, use, NULL), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(thread[i], NULL);
  }
  ck_assert_uint_eq(memory_used_now(MEMORY_INCOMING), 0);
  ck_assert_uint_ge(memory_used_most(MEMORY_INCOMING), 3);
  ck_assert_uint_le(memory_used_most(MEMORY_INCOMING), 3 * THREADS);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {the_most_stays, a_bound_is_kept,
                                what_is_lent_is_wanted_back,
                                threads_count_together, NULL};
  return check_main("memory_used", tests);
}
