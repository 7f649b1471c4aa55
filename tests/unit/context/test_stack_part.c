/* What of a stack leaves memory with its context. */
#include "context/stack_part.h"

#include <check.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "check_main.h"

/* A stack of 64 pages, of which the upper 32 are a part of a context. The
   program's frames begin at page 60. */
enum { PAGES = 64, PART = 32, END = 60 };

static struct context c;
static char *stack;

static char *page(int i) {
  return stack + (size_t)i * PAGE;
}

static void setup(void) {
  stack = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ck_assert_ptr_ne(stack, MAP_FAILED);
  c = (struct context){0};
  c.image.stack = (struct image_part){page(PART), PART * PAGE, NULL};
  context_stack_begin(&c, stack, page(END) - 40);
}

static void teardown(void) {
  munmap(stack, PAGES * PAGE);
}

static void expect_live(int from, int end) {
  const struct image_part live = context_stack_live(&c);
  ck_assert_uint_eq(live.len, (size_t)(end - from) * PAGE);
  if (live.len) {
    ck_assert_ptr_eq(live.data, page(from));
  }
}

START_TEST(nothing_leaves_unless_the_program_is_in_mpi) {
  expect_live(0, 0);
  ck_assert(!context_owns(&c, page(50)));
  ck_assert(context_covers(&c, page(50)));
}
END_TEST

START_TEST(frames_above_the_call_leave) {
  ck_assert(context_stack_leave(&c, page(50) - 40));
  expect_live(50, END);
  ck_assert(context_owns(&c, page(50)));
  ck_assert(context_owns(&c, page(END) - 1));
  ck_assert(!context_owns(&c, page(50) - 1));
  ck_assert(!context_owns(&c, page(END)));
  context_stack_back(&c);
  expect_live(0, 0);
}
END_TEST

START_TEST(of_a_deep_stack_the_part_leaves) {
  ck_assert(context_stack_leave(&c, page(10)));
  expect_live(PART, END);
  ck_assert_uint_eq(context_stack_alike(&c, page(31), 3 * PAGE), PAGE);
  ck_assert_uint_eq(context_stack_alike(&c, page(31), 10), 10);
  ck_assert_uint_eq(context_stack_alike(&c, page(32), 3 * PAGE), 3 * PAGE);
  ck_assert_uint_eq(context_stack_alike(&c, page(31), PAGE), PAGE);
}
END_TEST

/* As it is where the stack has grown: pages 20 to 31 are a part, too. */
START_TEST(parts_below_leave_as_well) {
  struct image_part part = {page(20), 12 * PAGE, NULL};
  c.image.stack_low = stack;
  c.image.later = &part;
  c.image.nlater = 1;
  c.stack.counted = page(20);
  ck_assert(context_stack_leave(&c, page(25)));
  expect_live(25, END);
  const struct image_part first = context_live_part(&c, 1);
  const struct image_part second = context_live_part(&c, 2);
  ck_assert_ptr_eq(first.data, page(PART));
  ck_assert_uint_eq(first.len, (END - PART) * PAGE);
  ck_assert_ptr_eq(second.data, page(25));
  ck_assert_uint_eq(second.len, (PART - 25) * PAGE);
  ck_assert(context_owns(&c, page(25)));
  ck_assert(!context_owns(&c, page(25) - 1));
  context_stack_back(&c);
  ck_assert_uint_eq(context_live_part(&c, 2).len, 0);
  ck_assert(context_stack_leave(&c, page(40)));
  ck_assert_uint_eq(context_live_part(&c, 2).len, 0);
}
END_TEST

START_TEST(a_callbacks_call_changes_nothing) {
  ck_assert(context_stack_leave(&c, page(50)));
  ck_assert(!context_stack_leave(&c, page(45)));
  expect_live(50, END);
}
END_TEST

START_TEST(who_was_left_by_longjmp_counts_no_more) {
  ck_assert(context_stack_leave(&c, page(40)));
  ck_assert(context_stack_leave(&c, page(50)));
  expect_live(50, END);
}
END_TEST

START_TEST(other_stacks_are_not_looked_at) {
  char other[CONTEXT_STACK_APART];
  ck_assert(!context_stack_leave(&c, other));
  expect_live(0, 0);
  ck_assert(!context_stack_leave(&c, page(END)));
  expect_live(0, 0);
}
END_TEST

/* The calling thread's frames are elsewhere. */
START_TEST(all_stays_if_another_thread_waits) {
  context_stack_settle(&c);
  expect_live(0, 0);
  ck_assert(context_stack_leave(&c, page(50)));
  context_stack_settle(&c);
  expect_live(0, 0);
  ck_assert(!context_stack_leave(&c, page(45)));
  expect_live(0, 0);
  context_stack_back(&c);
  ck_assert(context_stack_leave(&c, page(45)));
  expect_live(45, END);
}
END_TEST

START_TEST(nothing_leaves_when_the_program_has_ended) {
  ck_assert(context_stack_leave(&c, page(50)));
  context_stack_end(&c);
  expect_live(0, 0);
  ck_assert(!context_stack_leave(&c, page(50)));
}
END_TEST

START_TEST(nothing_leaves_where_thread_local_data_fill_the_part) {
  context_stack_end(&c);
  context_stack_begin(&c, stack, page(20));
  ck_assert(!context_stack_leave(&c, page(15)));
  expect_live(0, 0);
}
END_TEST

START_TEST(contexts_without_stacks_have_no_such_part) {
  c.image.stack = (struct image_part){0};
  context_stack_end(&c);
  context_stack_begin(&c, stack, page(END));
  ck_assert(!context_stack_leave(&c, page(50)));
  expect_live(0, 0);
  ck_assert(!context_covers(&c, page(50)));
}
END_TEST

START_TEST(only_the_calling_threads_own_stack_is_trimmed) {
  memset(stack, 1, PAGES * PAGE);
  context_stack_trim(&c);
  for (int i = 0; i < PAGES; i++) {
    ck_assert_int_eq(*page(i), 1);
  }
}
END_TEST

int main(void) {
  Suite *s = suite_create("stack_part");
  TCase *t = tcase_create("stack_part");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_add_test(t, nothing_leaves_unless_the_program_is_in_mpi);
  tcase_add_test(t, frames_above_the_call_leave);
  tcase_add_test(t, of_a_deep_stack_the_part_leaves);
  tcase_add_test(t, parts_below_leave_as_well);
  tcase_add_test(t, a_callbacks_call_changes_nothing);
  tcase_add_test(t, who_was_left_by_longjmp_counts_no_more);
  tcase_add_test(t, other_stacks_are_not_looked_at);
  tcase_add_test(t, all_stays_if_another_thread_waits);
  tcase_add_test(t, nothing_leaves_when_the_program_has_ended);
  tcase_add_test(t, nothing_leaves_where_thread_local_data_fill_the_part);
  tcase_add_test(t, contexts_without_stacks_have_no_such_part);
  tcase_add_test(t, only_the_calling_threads_own_stack_is_trimmed);
  suite_add_tcase(s, t);
  return check_run(s);
}
