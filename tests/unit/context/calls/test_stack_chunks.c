/* A stack that grows as part of its context, which leaves memory and comes back
   with all of it. */
#define _GNU_SOURCE
#include "context/calls/stack_chunks.h"

#include "context/calls/allocate.h"
#include "context/delivery/access.h"
#include "context/residency/footprint.h"
#include "context/residency/residency.h"
#include "context/stack_part.h"

#include "../store/store_contexts.h"
#include "check_main.h"

#include <check.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { FIRST = 128 << 10, STEP = 192 << 10 };

enum { RANGE = 4 << 20 };
static struct context *c;
static char *low, *end, *frames; /* of c's stack, and of its program's frames */

/* Two contexts, of which one fits into memory. */
static void begin(void) {
  make_dir();
  stack_range_bytes = RANGE;
  create("unix", 2, 8 * MIB, 8 * MIB);
  c = context_get(0);
  context_acquire(c);
  ck_assert_uint_eq(context_stack_range(c, &low), RANGE);
  end = low + RANGE;
  frames = end - 2 * PAGE;
  ck_assert_ptr_ne(mmap(low, RANGE, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
                   MAP_FAILED);
  context_stack_begin(c, low, frames);
}

static void finish(void) {
  context_release(c);
  remove_all();
}

static char byte(uintptr_t at) {
  return (char)(at / PAGE * 31 + at % PAGE + 1);
}

static void fill(char *from) {
  for (char *p = from; p < frames; p++) {
    *p = byte((uintptr_t)p);
  }
}

static void expect(const char *from) {
  for (const char *p = from; p < frames; p++) {
    if (*p != byte((uintptr_t)p)) {
      ck_abort_msg("byte %zu from the end differs", (size_t)(end - p));
    }
  }
}

/* The program is in MPI from the frame at `from` on, and c has to go. */
static void leave(char *from) {
  ck_assert(context_stack_leave(c, from));
  context_release(c);
  struct context *const other = context_get(1);
  context_acquire(other);
  char *const p = context_alloc(other, 7 * MIB, 16);
  ck_assert_ptr_nonnull(p);
  memset(p, 1, 7 * MIB);
  context_free(other, p);
  context_release(other);
  ck_assert_int_eq(c->state, CONTEXT_OUT);
}

static void come_back(void) {
  context_acquire(c);
  context_stack_back(c);
}

static bool readable(const char *p) {
  int fd[2];
  ck_assert_int_eq(pipe(fd), 0);
  const bool can = write(fd[1], p, 1) == 1;
  close(fd[0]);
  close(fd[1]);
  return can;
}

static char *grow_to(size_t depth) {
  char *const to = end - depth;
  ck_assert(stack_chunks_add(c, to));
  return to;
}

START_TEST(chunks_leave_and_come_back) {
  char *to = NULL;
  for (size_t depth = FIRST; depth < RANGE - STEP; depth += STEP) {
    to = grow_to(depth + STEP);
  }
  fill(to);
  leave(to - 1);
  ck_assert(!readable(to));
  ck_assert(!readable(frames - 1));
  ck_assert(readable(to - 1));
  ck_assert(readable(frames));
  come_back();
  expect(to);
  leave(to + MIB);
  ck_assert(readable(to + MIB - 1));
  come_back();
  expect(to);
}
END_TEST

START_TEST(a_message_to_several_chunks_arrives) {
  enum { N = 2 * STEP + 5000 };
  static char message[N], back[N];
  char *const to = grow_to(FIRST + STEP);
  (void)grow_to(FIRST + 2 * STEP);
  fill(end - FIRST - 2 * STEP);
  memset(message, 99, N);
  leave(end - FIRST - 2 * STEP - 1);
  char *const at = end - FIRST - 2 * STEP + 3000;
  context_write(c, at, message, N);
  context_read(c, at, back, N);
  ck_assert_int_eq(memcmp(message, back, N), 0);
  come_back();
  ck_assert_int_eq(memcmp(message, at, N), 0);
  expect(at + N);
  ck_assert_int_eq(at[-1], byte((uintptr_t)at - 1));
  ck_assert(at < to);
}
END_TEST

START_TEST(they_count) {
  const uint64_t before = residency_need(c);
  const uint64_t touched = footprint(c);
  char *const to = grow_to(FIRST + 3 * MIB);
  ck_assert_uint_ge(residency_need(c), before + 3 * MIB);
  fill(to);
  ck_assert_uint_ge(footprint(c), touched + 3 * MIB);
  context_stack_end(c);
}
END_TEST

START_TEST(a_context_can_be_full) {
  char *const block = context_alloc(c, 6 * MIB, 16);
  ck_assert_ptr_nonnull(block);
  char *const to = grow_to(FIRST + STEP);
  ck_assert(!stack_chunks_add(c, end - RANGE + PAGE));
  ck_assert_ptr_eq(c->stack.counted, to);
  ck_assert_ptr_eq(stack_chunks_end(c), end - FIRST);
  context_free(c, block);
  ck_assert(stack_chunks_add(c, end - RANGE + PAGE));
}
END_TEST

START_TEST(what_is_dropped_counts_no_more) {
  ck_assert_ptr_null(stack_chunks_end(c));
  const uint64_t before = residency_need(c);
  (void)grow_to(FIRST + STEP);
  (void)grow_to(FIRST + 2 * STEP);
  ck_assert_ptr_eq(stack_chunks_end(c), end - FIRST - STEP);
  ck_assert(context_stack_uneven(c, frames - 1));
  ck_assert(!context_stack_uneven(c, end - FIRST - STEP));
  stack_chunks_drop(c);
  ck_assert_ptr_eq(stack_chunks_end(c), end - FIRST);
  stack_chunks_drop(c);
  ck_assert_ptr_null(stack_chunks_end(c));
  ck_assert(!context_stack_uneven(c, frames - 1));
  stack_chunks_drop(c); /* no effect */
  leave(frames - PAGE);
  come_back();
  ck_assert_uint_le(residency_need(c), before);
}
END_TEST

/* What a block held that was where the chunk has its place is not read. */
START_TEST(the_place_is_as_new) {
  char *const block = context_alloc(c, MIB, PAGE);
  memset(block, 5, MIB);
  leave(frames - PAGE);
  come_back();
  context_free(c, block);
  char *const to = grow_to(FIRST + MIB);
  leave(to - 1);
  come_back();
  int wrong = 0;
  for (const char *p = to; p < end - FIRST; p++) {
    wrong += *p != 0;
  }
  ck_assert_int_eq(wrong, 0);
}
END_TEST

int main(void) {
  Suite *s = suite_create("stack_chunks");
  TCase *t = tcase_create("stack_chunks");
  tcase_add_checked_fixture(t, begin, finish);
  tcase_add_test(t, chunks_leave_and_come_back);
  tcase_add_test(t, a_message_to_several_chunks_arrives);
  tcase_add_test(t, they_count);
  tcase_add_test(t, a_context_can_be_full);
  tcase_add_test(t, what_is_dropped_counts_no_more);
  tcase_add_test(t, the_place_is_as_new);
  suite_add_tcase(s, t);
  return check_run(s);
}
