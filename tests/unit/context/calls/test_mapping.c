/* What a program maps: pages of contexts that come and go. */
#define _GNU_SOURCE
#include "context/calls/mapping.h"

#include "context/calls/allocate.h"
#include "context/residency/residency.h"

#include "../store/store_contexts.h"
#include "check_main.h"

#include <check.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { RW = PROT_READ | PROT_WRITE };

static const char *const drivers[] = {"unix", "mmap"};
static struct context *c;

/* Two contexts, of which one fits into memory. */
static void begin(int i) {
  make_dir();
  create(drivers[i], 2, 8 * MIB, 8 * MIB);
  c = context_get(0);
  context_acquire(c);
}

static void end(void) {
  context_release(c);
  remove_all();
}

/* c leaves memory and comes back. */
static void leave(void) {
  context_release(c);
  struct context *const other = context_get(1);
  context_acquire(other);
  int error;
  const struct mapping_wish wish = {.n = 7 * MIB, .align = PAGE};
  char *p = mapping_new(other, &wish, &error);
  ck_assert_ptr_nonnull(p);
  memset(p, 1, 7 * MIB);
  ck_assert_int_eq(mapping_free(other, p, 7 * MIB), 0);
  context_release(other);
  context_acquire(c);
}

static char *map(size_t n) {
  int error;
  const struct mapping_wish wish = {.n = n, .align = PAGE};
  char *p = mapping_new(c, &wish, &error);
  ck_assert_ptr_nonnull(p);
  ck_assert_int_eq(error, 0);
  return p;
}

static void expect(const char *p, size_t n, char value) {
  for (size_t i = 0; i < n; i++) {
    if (p[i] != value) {
      ck_abort_msg("byte %zu is %d, not %d", i, p[i], value);
    }
  }
}

static bool readable(const char *p) {
  int fd[2];
  ck_assert_int_eq(pipe(fd), 0);
  const bool can = write(fd[1], p, 1) == 1;
  close(fd[0]);
  close(fd[1]);
  return can;
}

START_TEST(mapped_pages_are_zero_and_kept) {
  begin(_i);
  char *p = map(MIB);
  expect(p, MIB, 0);
  memset(p, 7, MIB);
  leave();
  expect(p, MIB, 7);
  ck_assert_int_eq(mapping_zero(c, p + PAGE, 2 * PAGE), 0);
  leave();
  expect(p, PAGE, 7);
  expect(p + PAGE, 2 * PAGE, 0);
  expect(p + 3 * PAGE, MIB - 3 * PAGE, 7);
  ck_assert_int_eq(mapping_free(c, p, MIB), 0);
  ck_assert_ptr_eq(map(MIB), p);
  expect(p, MIB, 0);
  end();
}
END_TEST

START_TEST(protection_survives_a_swap) {
  begin(_i);
  char *p = map(16 * PAGE);
  memset(p, 3, 16 * PAGE);
  ck_assert_int_eq(mapping_protect(c, p + PAGE, PAGE, PROT_NONE), 0);
  ck_assert_int_eq(mapping_protect(c, data[0], PAGE, PROT_NONE), 0);
  for (int i = 0; i < 2; i++) {
    ck_assert(readable(p) && !readable(p + PAGE) && readable(p + 2 * PAGE));
    ck_assert(!readable(data[0]) && readable(data[0] + PAGE));
    leave();
  }
  ck_assert_int_eq(mapping_zero(c, p + PAGE, PAGE), 0);
  ck_assert(!readable(p + PAGE));
  ck_assert_int_eq(mapping_protect(c, p, 16 * PAGE, RW), 0);
  ck_assert_int_eq(mapping_protect(c, data[0], PAGE, RW), 0);
  expect(data[0], data_len, 'a');
  expect(p + PAGE, PAGE, 0);
  expect(p + 2 * PAGE, 14 * PAGE, 3);
  ck_assert_int_eq(mapping_protect(c, p, PAGE, PROT_NONE), 0);
  ck_assert_int_eq(mapping_free(c, p, 16 * PAGE), 0);
  ck_assert(readable(map(16 * PAGE)));
  end();
}
END_TEST

START_TEST(fixed_addresses_replace_what_is_mapped_only) {
  begin(_i);
  int error;
  char *p = map(8 * PAGE);
  memset(p, 5, 8 * PAGE);
  ck_assert_int_eq(mapping_free(c, p + 2 * PAGE, PAGE), 0);
  struct mapping_wish wish = {.at = p + PAGE, .n = 3 * PAGE, .fixed = true};
  ck_assert_ptr_eq(mapping_new(c, &wish, &error), p + PAGE);
  expect(p, PAGE, 5);
  expect(p + PAGE, 3 * PAGE, 0);
  expect(p + 4 * PAGE, 4 * PAGE, 5);
  char *block = context_alloc(c, 4 * PAGE, PAGE);
  wish.at = block;
  wish.n = PAGE;
  ck_assert_ptr_null(mapping_new(c, &wish, &error));
  ck_assert_int_eq(error, ENOMEM);
  wish = (struct mapping_wish){.at = p, .n = PAGE, .no_replace = true};
  ck_assert_ptr_null(mapping_new(c, &wish, &error));
  ck_assert_int_eq(error, EEXIST);
  wish = (struct mapping_wish){.at = p, .n = PAGE, .align = PAGE};
  ck_assert_ptr_ne(mapping_new(c, &wish, &error), p);
  ck_assert(mapping_place(c, context_get(1)->range, PAGE) == MAPPING_ALIEN);
  ck_assert(mapping_place(c, c->range + c->range_len - PAGE, 2 * PAGE) ==
            MAPPING_ALIEN);
  ck_assert(mapping_place(c, data[0], PAGE) == MAPPING_DATA);
  ck_assert(mapping_place(c, dir, 1) == MAPPING_OUTSIDE);
  end();
}
END_TEST

START_TEST(mappings_change_their_size) {
  begin(_i);
  int error;
  char *p = map(4 * PAGE);
  memset(p, 6, 4 * PAGE);
  struct mapping_resize r = {.p = p, .n = 4 * PAGE, .to = 8 * PAGE};
  ck_assert_ptr_eq(mapping_resize(c, &r, &error), p);
  expect(p + 4 * PAGE, 4 * PAGE, 0);
  char *neighbour = map(PAGE);
  r = (struct mapping_resize){.p = p, .n = 8 * PAGE, .to = 16 * PAGE};
  ck_assert_ptr_null(mapping_resize(c, &r, &error));
  ck_assert_int_eq(error, ENOMEM);
  r.may_move = true;
  ck_assert_int_eq(mapping_protect(c, p, 8 * PAGE, PROT_READ), 0);
  char *q = mapping_resize(c, &r, &error);
  ck_assert(q && q != p);
  leave();
  expect(q, 4 * PAGE, 6);
  expect(q + 4 * PAGE, 12 * PAGE, 0);
  ck_assert_int_eq(mapping_protect(c, q, 16 * PAGE, RW), 0);
  r = (struct mapping_resize){
      .p = q, .n = 4 * PAGE, .to = 4 * PAGE, .may_move = true, .keep = true};
  char *copy = mapping_resize(c, &r, &error);
  ck_assert_ptr_nonnull(copy);
  expect(copy, 4 * PAGE, 6);
  expect(q, 4 * PAGE, 0);
  r = (struct mapping_resize){
      .p = neighbour + PAGE, .n = PAGE, .to = 2 * PAGE, .may_move = true};
  ck_assert_int_eq(mapping_free(c, neighbour, 2 * PAGE), 0);
  ck_assert_ptr_null(mapping_resize(c, &r, &error));
  ck_assert_int_eq(error, EFAULT);
  end();
}
END_TEST

START_TEST(there_is_no_more_than_the_context) {
  begin(_i);
  int error;
  const struct mapping_wish wish = {.n = 9 * MIB, .align = PAGE, .quiet = true};
  ck_assert_ptr_null(mapping_new(c, &wish, &error));
  ck_assert_int_eq(error, ENOMEM);
  ck_assert_ptr_null(mapping_break(c, 9 * MIB, &error));
  ck_assert_int_eq(error, ENOMEM);
  end();
}
END_TEST

START_TEST(the_break_moves) {
  begin(_i);
  int error;
  char *b = mapping_break(c, 0, &error);
  ck_assert_ptr_nonnull(b);
  ck_assert_ptr_eq(mapping_break(c, 10000, &error), b);
  memset(b, 4, 10000);
  leave();
  expect(b, 10000, 4);
  ck_assert_ptr_eq(mapping_break(c, -9000, &error), b + 10000);
  ck_assert_ptr_eq(mapping_break(c, (intptr_t)(2 * MIB), &error), b + 1000);
  expect(b, 1000, 4);
  expect(b + 1000, 2 * MIB, 0);
  ck_assert_ptr_null(mapping_break(c, -(intptr_t)(4 * MIB), &error));
  ck_assert_int_eq(error, ENOMEM);
  end();
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("mapping");
  TCase *const all = tcase_create("all");
  const int n = sizeof(drivers) / sizeof(*drivers);
  tcase_set_timeout(all, 60);
  tcase_add_loop_test(all, mapped_pages_are_zero_and_kept, 0, n);
  tcase_add_loop_test(all, protection_survives_a_swap, 0, n);
  tcase_add_loop_test(all, fixed_addresses_replace_what_is_mapped_only, 0, n);
  tcase_add_loop_test(all, mappings_change_their_size, 0, n);
  tcase_add_loop_test(all, there_is_no_more_than_the_context, 0, n);
  tcase_add_loop_test(all, the_break_moves, 0, n);
  suite_add_tcase(suite, all);
  return check_run(suite);
}
