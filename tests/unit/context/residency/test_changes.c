/* Which pages of a context are worth writing. */
#define _GNU_SOURCE
#include "context/residency/changes.h"

#include "../store/store_contexts.h"
#include "check_main.h"
#include "context/calls/allocate.h"
#include "context/internal.h"
#include "context/residency/residency.h"
#include "os/bits.h"
#include "os/lock.h"

enum { SIZE = 4 << 20 };

static struct context *c;
static char *block;
static struct changes found;

/* Bytes to be written. All that is kept is among them: nothing is on disk. */
static size_t written(void) {
  ranges_free(&found.keep);
  ranges_free(&found.write);
  found = (struct changes){0};
  lock_take(&c->io_lock);
  changes_find(c, &found);
  lock_give(&c->io_lock);
  ck_assert_uint_eq(ranges_total(&found.keep), ranges_total(&found.write));
  ck_assert_uint_eq(found.clean, 0);
  return ranges_total(&found.write);
}

static size_t others; /* of the program's data and the heap itself */

/* Of the block. */
static size_t changed(void) {
  return written() - others;
}

static void start(void) {
  make_dir();
  create("unix", 1, 8 * MIB, 64 * MIB);
  c = context_get(0);
  context_acquire(c);
  block = context_alloc(c, SIZE, PAGE);
  ck_assert_ptr_nonnull(block);
  others = written();
  ck_assert_uint_ge(others, data_len);
  ck_assert_uint_lt(others, data_len + 64 * KIB);
}

static void end(void) {
  ranges_free(&found.keep);
  ranges_free(&found.write);
  context_release(c);
  remove_all();
}

static bool is_written(const char *p) {
  bool inside;
  (void)ranges_piece(&found.write, (uintptr_t)p, (uintptr_t)p + 1, &inside);
  return inside;
}

/* Of huge pages, of which a program may touch next to nothing. */
START_TEST(zeros_are_left_out) {
  char *const page = (char *)bits_align_up((uintptr_t)block, HUGE_PAGE);
  memset(page, 0, HUGE_PAGE);
  ck_assert_uint_eq(changed(), 0);
  page[0] = page[HUGE_PAGE - 1] = 1;
  ck_assert_uint_eq(changed(), 2 * PAGE);
  ck_assert(is_written(page));
  ck_assert(is_written(page + HUGE_PAGE - PAGE));
}
END_TEST

START_TEST(short_gaps_are_written_too) {
  block[MIB] = block[MIB + 8 * PAGE] = 1;
  ck_assert_uint_eq(changed(), 9 * PAGE);
  ck_assert(is_written(block + MIB + 4 * PAGE));
  block[2 * MIB] = block[2 * MIB + 32 * PAGE] = 1;
  ck_assert_uint_eq(changed(), 11 * PAGE);
  ck_assert(!is_written(block + 2 * MIB + 16 * PAGE));
}
END_TEST

START_TEST(what_is_free_is_not_written) {
  char *const behind = context_alloc(c, PAGE, PAGE);
  memset(block, 1, SIZE);
  *behind = 1;
  ck_assert_uint_ge(changed(), SIZE + PAGE);
  ck_assert(is_written(block + SIZE / 2));
  context_free(c, block);
  ck_assert_uint_lt(changed(), SIZE / 2);
  ck_assert(!is_written(block + SIZE / 2));
  ck_assert(is_written(behind));
}
END_TEST

START_TEST(need_is_counted_anew) {
  const uint64_t before = c->need;
  ck_assert_uint_ge(before, SIZE);
  c->need = 0;
  (void)changed();
  ck_assert_uint_eq(c->need, before);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {zeros_are_left_out, short_gaps_are_written_too,
                                what_is_free_is_not_written,
                                need_is_counted_anew, NULL};
  return check_main_around("changes", tests, start, end);
}
