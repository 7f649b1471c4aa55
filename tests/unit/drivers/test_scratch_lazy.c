/* Which pages of a scratch file come when one is touched. */
#define _GNU_SOURCE
#include "drivers/scratch_lazy.h"

#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check_main.h"

#include "drivers/scratch.h"
#include "os/pages.h"

enum { UNITS = 8 };

#define BYTES (UNITS * HUGE_PAGE)
#define PAGES (BYTES / PAGE)

/* madvise as the drivers see it. */
static struct {
  bool refused; /* no huge pages in this kernel */
  bool ignored; /* they are no reason to read more */
  int huge, sequential, random;
} advice;

__attribute__((visibility("default"))) int madvise(void *p, size_t n, int a) {
  advice.huge += a == MADV_HUGEPAGE;
  advice.sequential += a == MADV_SEQUENTIAL;
  advice.random += a == MADV_RANDOM;
  if (a == MADV_HUGEPAGE && advice.refused) {
    errno = EINVAL;
    return -1;
  }
  if (a == MADV_HUGEPAGE && advice.ignored) {
    return 0;
  }
  return (int)syscall(SYS_madvise, p, n, a);
}

static struct driver_file *file;
static char *range;

static void setup(void) {
  const char *args;
  const struct driver *const driver = driver_find("unix", &args);
  ck_assert_int_eq(scratch_open(&file, driver, ".", BYTES, 1, 0), 0);
  char *const buf = aligned_alloc(PAGE, HUGE_PAGE);
  for (size_t i = 0; i < UNITS; i++) {
    memset(buf, (int)i + 1, HUGE_PAGE);
    ck_assert_int_eq(scratch_write(file, buf, HUGE_PAGE, i * HUGE_PAGE), 0);
  }
  free(buf);
  range = pages_new(NULL, BYTES);
  ck_assert_ptr_nonnull(range);
  memset(&advice, 0, sizeof(advice));
}

static void teardown(void) {
  munmap(range, BYTES);
  scratch_close(file);
}

/* Pages of unit i that are in memory. */
static size_t in_memory(size_t i) {
  static unsigned char in[PAGES];
  size_t n = 0;
  ck_assert_int_eq(mincore(range, BYTES, in), 0);
  for (size_t j = 0; j < HUGE_PAGE / PAGE; j++) {
    n += in[i * (HUGE_PAGE / PAGE) + j] & 1;
  }
  return n;
}

/* A file system in memory: nothing can be seen to come. */
static bool all_there(void) {
  ck_assert_int_eq(scratch_lazy_map(file, range, BYTES, 0, 0), 0);
  const bool there = in_memory(0) > 0;
  ck_assert_ptr_nonnull(pages_new(range, BYTES));
  memset(&advice, 0, sizeof(advice));
  return there;
}

static void touch(size_t unit, size_t page) {
  const volatile char *const at = range + unit * HUGE_PAGE + page * PAGE;
  ck_assert_int_eq(*at, (int)unit + 1);
}

static int ahead(void) {
  return atomic_load(&((struct scratch *)file)->ahead);
}

START_TEST(a_page_brings_its_unit) {
  if (all_there()) {
    return;
  }
  ck_assert_int_eq(scratch_lazy_map(file, range, BYTES, 0, 1), 0);
  touch(5, 300);
  if (advice.sequential) { /* an old kernel: as much as it likes */
    ck_assert_uint_ge(in_memory(5), 1);
    return;
  }
  ck_assert_uint_eq(in_memory(0), HUGE_PAGE / PAGE); /* the trial */
  ck_assert_uint_eq(in_memory(4), 0);
  ck_assert_uint_eq(in_memory(5), HUGE_PAGE / PAGE);
  ck_assert_uint_eq(in_memory(6), 0);
  const int known = ahead();
  ck_assert_int_eq(scratch_lazy_map(file, range, BYTES, 0, 1), 0);
  ck_assert_int_eq(ahead(), known);
  ck_assert_int_eq(advice.sequential, 0);
}
END_TEST

/* The unit's last page would not tell. */
START_TEST(a_mapping_may_begin_with_the_last_page) {
  const size_t before = HUGE_PAGE - PAGE;
  ck_assert_int_eq(
      scratch_lazy_map(file, range + before, BYTES - before, before, 1), 0);
  const bool huge = !advice.sequential;
  touch(0, HUGE_PAGE / PAGE - 1);
  touch(1, 0);
  ck_assert(!huge || in_memory(1) == HUGE_PAGE / PAGE);
}
END_TEST

/* Less than three pages do not tell, and are read as the system likes. */
START_TEST(small_mappings_do_not_tell) {
  ck_assert_int_eq(scratch_lazy_map(file, range, 2 * PAGE, 0, 1), 0);
  ck_assert_int_eq(ahead(), 0);
  ck_assert_int_eq(advice.sequential, 1);
  touch(0, 1);
}
END_TEST

START_TEST(a_page_comes_alone) {
  if (all_there()) {
    return;
  }
  ck_assert_int_eq(scratch_lazy_map(file, range, BYTES, 0, 0), 0);
  touch(3, 7);
  size_t all = 0;
  for (size_t i = 0; i < UNITS; i++) {
    all += in_memory(i);
  }
  ck_assert_uint_eq(all, 1);
  ck_assert_int_eq(advice.huge, 0);
  ck_assert_int_eq(advice.random, 1);
}
END_TEST

START_TEST(kernels_without_huge_pages_read_ahead) {
  advice.refused = true;
  ck_assert_int_eq(scratch_lazy_map(file, range, BYTES, 0, 1), 0);
  ck_assert_int_eq(advice.sequential, 1);
  touch(2, 9);
}
END_TEST

START_TEST(an_advice_without_effect_is_not_given_again) {
  if (all_there()) {
    return;
  }
  advice.ignored = true;
  for (int round = 1; round <= 2; round++) {
    ck_assert_int_eq(scratch_lazy_map(file, range, BYTES, 0, 1), 0);
    ck_assert_int_eq(advice.huge, 1);
    ck_assert_int_eq(advice.sequential, round);
  }
  touch(2, 9);
}
END_TEST

/* What is left of a folio that is mapped in part would stay. */
START_TEST(whole_units_are_forgotten) {
  if (all_there()) {
    return;
  }
  ck_assert_int_eq(scratch_lazy_map(file, range, BYTES, 0, 1), 0);
  touch(1, 0);
  touch(2, 0);
  ck_assert_ptr_nonnull(pages_new(range, BYTES));
  scratch_lazy_forget(file, HUGE_PAGE, HUGE_PAGE + HUGE_PAGE / 2);
  ck_assert_int_eq(scratch_lazy_map(file, range, BYTES, 0, 0), 0);
  ck_assert_uint_eq(in_memory(1), 0);
  ck_assert_uint_eq(in_memory(2), 0);
}
END_TEST

/* What is written later is seen, also by who has read all of the unit. */
START_TEST(writes_are_seen) {
  char *const buf = aligned_alloc(PAGE, PAGE);
  ck_assert_int_eq(scratch_lazy_map(file, range, BYTES, 0, 1), 0);
  touch(4, 0);
  memset(buf, 99, PAGE);
  ck_assert_int_eq(scratch_write(file, buf, PAGE, 4 * HUGE_PAGE + PAGE), 0);
  touch(4, 0);
  ck_assert_int_eq(range[4 * HUGE_PAGE + PAGE], 99);
  touch(4, 2);
  range[4 * HUGE_PAGE] = 98; /* stays in memory */
  ck_assert_int_eq(scratch_read(file, buf, PAGE, 4 * HUGE_PAGE), 0);
  ck_assert_int_eq(buf[0], 5);
  free(buf);
}
END_TEST

START_TEST(nothing_beyond_the_end) {
  ck_assert_int_eq(scratch_lazy_map(file, range, BYTES, PAGE, 1), EINVAL);
  ck_assert_int_eq(scratch_lazy_map(file, range, PAGE, BYTES + PAGE, 0),
                   EINVAL);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      a_page_brings_its_unit,
      a_mapping_may_begin_with_the_last_page,
      small_mappings_do_not_tell,
      a_page_comes_alone,
      kernels_without_huge_pages_read_ahead,
      an_advice_without_effect_is_not_given_again,
      whole_units_are_forgotten,
      writes_are_seen,
      nothing_beyond_the_end,
      NULL,
  };
  return check_main_around("scratch_lazy", tests, setup, teardown);
}
