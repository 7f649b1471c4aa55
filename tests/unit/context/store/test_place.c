#define _GNU_SOURCE
#include "context/store/place.h"

#include "check_main.h"
#include "store_contexts.h"

#include <check.h>

static const size_t mu = 8 * MIB;
static struct context *c;
static struct image_part later; /* opened at run time */

/* Its place is that of the heap's pages 10 to 12. */
static void start(void) {
  make_dir();
  create("unix", 2, mu, 2 * mu);
  c = context_get(1);
  later.data = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  later.len = 3 * PAGE;
  later.home = c->range + 10 * PAGE;
  c->image.later = &later;
  c->image.nlater = 1;
}

static void end(void) {
  c->image.nlater = 0;
  c->image.later = NULL;
  munmap(later.data, later.len);
  remove_all();
}

START_TEST(data_come_first_and_then_the_heap) {
  ck_assert_uint_eq(place_offset(c, data[1]), 0);
  ck_assert_uint_eq(place_offset(c, data[1] + 5000), 5000);
  ck_assert_uint_eq(place_offset(c, c->range), data_len);
  ck_assert_uint_eq(place_offset(c, c->range + 77), data_len + 77);
  ck_assert_uint_eq(place_offset(c, c->range + c->range_len),
                    data_len + c->range_len);
  ck_assert_uint_eq(place_offset(c, later.data + 9), data_len + 10 * PAGE + 9);
}
END_TEST

START_TEST(what_lies_in_a_row_is_known) {
  const uintptr_t heap = (uintptr_t)c->range, part = (uintptr_t)later.data;
  ck_assert_uint_eq(place_piece(c, heap, heap + 5 * PAGE), 5 * PAGE);
  ck_assert_uint_eq(place_piece(c, part, part + 2 * PAGE), 2 * PAGE);
  ck_assert_uint_eq(place_piece(c, part + PAGE, part + 9 * PAGE), 2 * PAGE);
  ck_assert_uint_eq(
      place_piece(c, (uintptr_t)data[1], (uintptr_t)data[1] + data_len + PAGE),
      data_len);
}
END_TEST

static void expect_address(uint64_t offset, const char *address, size_t left) {
  size_t n = MIB;
  ck_assert_ptr_eq(place_address(c, offset, &n), address);
  ck_assert_uint_eq(n, left);
  ck_assert(left == MIB || place_offset(c, address) == offset);
  n = 1;
  ck_assert_ptr_eq(place_address(c, offset, &n), address);
  ck_assert_uint_eq(n, 1);
}

START_TEST(each_offset_has_its_address) {
  expect_address(0, data[1], data_len);
  expect_address(data_len - 1, data[1] + data_len - 1, 1);
  expect_address(data_len, c->range, 10 * PAGE);
  expect_address(data_len + 9 * PAGE, c->range + 9 * PAGE, PAGE);
  expect_address(data_len + 10 * PAGE, later.data, 3 * PAGE);
  expect_address(data_len + 12 * PAGE, later.data + 2 * PAGE, PAGE);
  expect_address(data_len + 13 * PAGE, c->range + 13 * PAGE, MIB);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("place");
  TCase *const t = tcase_create("all");
  tcase_add_checked_fixture(t, start, end);
  tcase_add_test(t, data_come_first_and_then_the_heap);
  tcase_add_test(t, what_lies_in_a_row_is_known);
  tcase_add_test(t, each_offset_has_its_address);
  suite_add_tcase(suite, t);
  return check_run(suite);
}
