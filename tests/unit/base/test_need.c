#define _GNU_SOURCE
#include "base/need.h"

#include <check.h>
#include <stdint.h>
#include <string.h>

#include "base/message.h"
#include "check_child.h"
#include "check_main.h"
#include "os/native.h"

/* More than any address space holds, and no compiler may know it. */
static volatile size_t huge = (size_t)1 << 62;

START_TEST(zeroed_blocks_are_zero) {
  static const char zeros[3000];
  char *const dirty = need_alloc(3000, "test");
  memset(dirty, 1, 3000);
  native_free(dirty);
  char *const p = need_zalloc(1000, 3, "test");
  ck_assert_mem_eq(p, zeros, 3000);
  native_free(p);
}
END_TEST

START_TEST(a_block_grows) {
  char *p = need_realloc(NULL, 3, "test");
  memcpy(p, "ab", 3);
  p = need_realloc(p, 3 << 20, "test");
  ck_assert_str_eq(p, "ab");
  native_free(p);
}
END_TEST

START_TEST(needing_nothing_gives_something) {
  char *const p = need_alloc(0, "test");
  char *const q = need_zalloc(0, 0, "test");
  ck_assert_ptr_nonnull(p);
  ck_assert_ptr_nonnull(q);
  ck_assert_int_eq(q[0], 0);
  ck_assert_ptr_ne(p, q);
  native_free(p);
  native_free(q);
}
END_TEST

static char said[1000];

static int child(void (*f)(void)) {
  return check_child_exit(f, said, sizeof(said));
}

static void need_much(void) {
  need_alloc(huge, "message offsets");
}

static void zneed_much(void) {
  need_zalloc(huge / 8, 8, "rank table");
}

static void grow_much(void) {
  need_realloc(need_alloc(1, "list"), huge, "list");
}

START_TEST(a_shortage_is_told_and_ends_the_job) {
  ck_assert_int_eq(child(need_much), MSG_FAILED);
  ck_assert_str_eq(said, "pems: out of memory: message offsets: "
                         "4611686018427387904 bytes: give pems more with "
                         "--pems-memory\n");
  ck_assert_int_eq(child(grow_much), MSG_FAILED);
  ck_assert_str_eq(said,
                   "pems: out of memory: list: 4611686018427387904 bytes: "
                   "give pems more with --pems-memory\n");
  ck_assert_int_eq(child(zneed_much), MSG_FAILED);
  ck_assert_str_eq(said, "pems: out of memory: rank table: "
                         "4611686018427387904 bytes: give pems more with "
                         "--pems-memory\n");
}
END_TEST

int main(void) {
  Suite *const s = suite_create("need");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 30);
  tcase_add_test(t, zeroed_blocks_are_zero);
  tcase_add_test(t, a_block_grows);
  tcase_add_test(t, needing_nothing_gives_something);
  tcase_add_test(t, a_shortage_is_told_and_ends_the_job);
  suite_add_tcase(s, t);
  return check_run(s);
}
