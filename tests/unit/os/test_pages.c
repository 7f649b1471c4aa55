#define _GNU_SOURCE
#include "os/pages.h"

#include "check_main.h"

#include <check.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGES = 4 };

static char *map(void) {
  char *const p = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ck_assert_ptr_ne(p, MAP_FAILED);
  return p;
}

START_TEST(pages_move_to_where_they_are_wanted) {
  char *const from = map(), *const to = map();
  memset(from, 'a', PAGES * PAGE);
  memset(to, 'b', PAGES * PAGE);
  ck_assert_int_eq(pages_move(from, to, 2 * PAGE, false), 0);
  for (size_t i = 0; i < PAGES * PAGE; i++) {
    ck_assert_int_eq(to[i], i < 2 * PAGE ? 'a' : 'b');
  }
  /* The source is no mapping any more. */
  ck_assert_int_eq(madvise(from, PAGE, MADV_NORMAL), -1);
  ck_assert_int_eq(errno, ENOMEM);
  munmap(from, PAGES * PAGE);
  munmap(to, PAGES * PAGE);
}
END_TEST

START_TEST(the_source_may_stay_a_mapping) {
  char *const from = map(), *const to = map();
  memset(from, 'a', PAGES * PAGE);
  ck_assert_int_eq(pages_move(from, to, PAGES * PAGE, true), 0);
  ck_assert_int_eq(to[PAGES * PAGE - 1], 'a');
  for (size_t i = 0; i < PAGES * PAGE; i++) {
    ck_assert_int_eq(from[i], 0);
  }
  munmap(from, PAGES * PAGE);
  munmap(to, PAGES * PAGE);
}
END_TEST

START_TEST(new_ones_are_zero_and_can_be_dropped) {
  char *const p = map(), *const q = pages_new(NULL, 2 * PAGE - 1);
  ck_assert_ptr_nonnull(q);
  memset(p, 'a', PAGES * PAGE);
  ck_assert_ptr_eq(pages_new(p + PAGE, PAGE), p + PAGE);
  for (size_t i = 0; i < PAGES * PAGE; i++) {
    ck_assert_int_eq(p[i], i / PAGE == 1 ? 0 : 'a');
  }
  for (size_t i = 0; i < 2 * PAGE; i++) {
    ck_assert_int_eq(q[i]++, 0);
  }
  pages_drop(q, 2 * PAGE);
  ck_assert_int_eq(madvise(q, PAGE, MADV_NORMAL), -1);
  ck_assert_ptr_null(pages_new(p + 1, PAGE)); /* not at a page */
  ck_assert_int_eq(errno, EINVAL);
  ck_assert_ptr_null(pages_new(NULL, SIZE_MAX / 2));
  ck_assert_int_eq(errno, ENOMEM);
  munmap(p, PAGES * PAGE);
}
END_TEST

START_TEST(what_is_not_zero_is_cleared) {
  char *const p = map();
  memset(p, 1, 2 * PAGE);
  p[PAGES * PAGE - 1] = 1;
  pages_clear(p + PAGE, (PAGES - 1) * PAGE);
  ck_assert_int_eq(p[PAGE - 1], 1);
  for (size_t i = PAGE; i < PAGES * PAGE; i++) {
    ck_assert_int_eq(p[i], 0);
  }
  munmap(p, PAGES * PAGE);
}
END_TEST

START_TEST(what_cannot_be_moved_is_told) {
  char *const p = map();
  ck_assert_int_eq(pages_move(p, p, PAGE, false), EINVAL); /* onto itself */
  ck_assert_int_eq(pages_move(p + 1, p + 2 * PAGE, PAGE, false), EINVAL);
  munmap(p, PAGES * PAGE);
  ck_assert_int_eq(pages_move(p, p + 2 * PAGE, PAGE, false), EFAULT);
}
END_TEST

static size_t seen;

static void see(void *first, uintptr_t start, uintptr_t end, int flags) {
  if (start == (uintptr_t)first) {
    ck_assert_int_ne(flags & SURVEY_WRITTEN, 0);
  }
  seen += end - start;
}

START_TEST(a_survey_visits_what_exists) {
  char *const p = map();
  p[0] = p[2 * PAGE] = 1;
  ck_assert_int_eq(pages_survey_start(), 0);
  pages_survey((uintptr_t)p, (uintptr_t)p + PAGES * PAGE, see, p);
  pages_survey_end();
  ck_assert_uint_eq(seen, 2 * PAGE);
  munmap(p, PAGES * PAGE);
}
END_TEST

static bool accessible(const char *p) {
  int ends[2];
  ck_assert_int_eq(pipe(ends), 0);
  const bool yes = write(ends[1], p, 1) == 1;
  ck_assert(yes || errno == EFAULT);
  close(ends[0]);
  close(ends[1]);
  return yes;
}

START_TEST(guarded_pages_are_closed_until_they_are_zero) {
  char *const p = map();
  memset(p, 'a', PAGES * PAGE);
  const struct iovec all[] = {{p, PAGE}, {p + 2 * PAGE, 2 * PAGE}};
  ck_assert(!pages_can_guard()); /* not started */
  ck_assert_int_eq(pages_survey_start(), 0);
  if (pages_can_guard()) { /* Linux 6.13 */
    ck_assert(pages_guard(all, 2, all + 1, 1));
    ck_assert(accessible(p) && accessible(p + PAGE));
    ck_assert(!accessible(p + 2 * PAGE) && !accessible(p + 3 * PAGE));
    ck_assert_int_eq(p[0], 0); /* given back */
    ck_assert_int_eq(p[PAGE], 'a');
    ck_assert(pages_unguard(all, 2));
    for (size_t i = 2 * PAGE; i < PAGES * PAGE; i++) {
      ck_assert_int_eq(p[i]++, 0);
    }
    munmap(p + 3 * PAGE, PAGE);
    ck_assert(!pages_guard(all, 2, all, 2));
  }
  pages_survey_end();
  ck_assert(!pages_can_guard());
  munmap(p, PAGES * PAGE);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {pages_move_to_where_they_are_wanted,
                                the_source_may_stay_a_mapping,
                                new_ones_are_zero_and_can_be_dropped,
                                what_cannot_be_moved_is_told,
                                what_is_not_zero_is_cleared,
                                a_survey_visits_what_exists,
                                guarded_pages_are_closed_until_they_are_zero,
                                NULL};
  return check_main("pages", tests);
}
