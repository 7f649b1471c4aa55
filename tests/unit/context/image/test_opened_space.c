/* Handles that are ld.so's own, each as often as it was opened. */
#define _GNU_SOURCE
#include "context/image/opened_space.h"

#include <check.h>
#include <errno.h>

#include "check_main.h"
#include "check_memory.h"
#include "context/image/opened_set.h"

static struct opened_set set[2];
static struct image img[2];
static int library[3];

static void begin(void) {
  for (int i = 0; i < 2; i++) {
    set[i].space = NULL;
    img[i].opened = &set[i];
  }
}

static void add(int i, int *handle) {
  ck_assert_int_eq(opened_space_add(&img[i], handle), 0);
}

static void end(void) {
  for (int i = 0; i < 2; i++) {
    opened_space_end(&img[i]);
  }
}

START_TEST(a_vp_knows_its_own) {
  add(0, &library[0]);
  add(0, &library[1]);
  add(1, &library[2]);
  ck_assert(opened_space_has(&img[0], &library[0]));
  ck_assert(opened_space_has(&img[0], &library[1]));
  ck_assert(!opened_space_has(&img[0], &library[2]));
  ck_assert(!opened_space_has(&img[1], &library[0]));
  ck_assert(!opened_space_has(&img[0], NULL));
}
END_TEST

START_TEST(it_is_closed_as_often_as_it_was_opened) {
  add(0, &library[0]);
  add(0, &library[1]);
  add(0, &library[0]);
  opened_space_drop(&img[0], &library[0]);
  ck_assert(opened_space_has(&img[0], &library[0]));
  opened_space_drop(&img[0], &library[0]);
  ck_assert(!opened_space_has(&img[0], &library[0]));
  opened_space_drop(&img[0], &library[0]);
  ck_assert(opened_space_has(&img[0], &library[1]));
}
END_TEST

START_TEST(all_are_forgotten_at_the_end) {
  add(0, &library[0]);
  add(0, &library[2]);
  add(0, &library[0]);
  add(1, &library[0]);
  opened_space_end(&img[0]);
  ck_assert(!opened_space_has(&img[0], &library[0]));
  ck_assert(!opened_space_has(&img[0], &library[2]));
  ck_assert(opened_space_has(&img[1], &library[0]));
}
END_TEST

START_TEST(memory_may_be_short) {
  const long live = atomic_load(&check_memory.live);
  add(0, &library[0]);
  memory_for(0);
  const int code = opened_space_add(&img[0], &library[1]);
  memory_again();
  ck_assert_int_eq(code, ENOMEM);
  ck_assert(!opened_space_has(&img[0], &library[1]));
  end();
  ck_assert_int_eq(atomic_load(&check_memory.live), live);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("opened_space");
  TCase *t = tcase_create("opened_space");
  tcase_add_checked_fixture(t, begin, end);
  tcase_add_test(t, a_vp_knows_its_own);
  tcase_add_test(t, it_is_closed_as_often_as_it_was_opened);
  tcase_add_test(t, all_are_forgotten_at_the_end);
  tcase_add_test(t, memory_may_be_short);
  suite_add_tcase(suite, t);
  return check_run(suite);
}
