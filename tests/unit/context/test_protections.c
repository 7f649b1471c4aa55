#define _GNU_SOURCE
#include "context/protections.h"

#include "check_main.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, RW = PROT_READ | PROT_WRITE, PAGES = 64 };

static int at(const struct ranges *all, uintptr_t page) {
  int prot;
  (void)protections_piece(all, page * PAGE, PAGES * PAGE, &prot);
  return prot;
}

static void note(struct ranges *all, uintptr_t start, uintptr_t end, int prot) {
  ck_assert_int_eq(protections_note(all, start * PAGE, end * PAGE, prot), 0);
}

START_TEST(neighbours_that_are_alike_are_one) {
  struct ranges all = {0};
  note(&all, 2, 4, PROT_READ);
  note(&all, 6, 8, PROT_READ);
  note(&all, 4, 6, PROT_READ);
  ck_assert_uint_eq(all.n, 1);
  note(&all, 3, 5, PROT_NONE);
  ck_assert_uint_eq(all.n, 3);
  note(&all, 3, 5, PROT_READ);
  ck_assert_uint_eq(all.n, 1);
  note(&all, 0, 64, RW);
  ck_assert_uint_eq(all.n, 0);
  note(&all, 9, 9, PROT_NONE);
  ck_assert_uint_eq(all.n, 0);
  ranges_free(&all);
}
END_TEST

START_TEST(random_notes_agree_with_a_table) {
  static const int kinds[] = {RW, PROT_NONE, PROT_READ, PROT_READ | PROT_EXEC};
  struct ranges all = {0};
  int table[PAGES];
  unsigned x = 7;
  for (int i = 0; i < PAGES; i++) {
    table[i] = RW;
  }
  for (int step = 0; step < 20000; step++) {
    x = x * 1103515245u + 12345u;
    const unsigned start = (x >> 8) % PAGES, n = (x >> 16) % 12;
    const unsigned end = start + n < PAGES ? start + n : PAGES;
    const int prot = kinds[x >> 28 & 3];
    note(&all, start, end, prot);
    for (unsigned i = start; i < end; i++) {
      table[i] = prot;
    }
    for (unsigned i = 0; i < PAGES; i++) {
      const bool writable = table[i] & PROT_WRITE;
      if (at(&all, i) != table[i] ||
          protections_writable(&all, i * PAGE) != writable) {
        ck_abort_msg("page %u after step %d", i, step);
      }
    }
  }
  ranges_free(&all);
}
END_TEST

static bool readable(char *p) {
  int fd[2];
  ck_assert_int_eq(pipe(fd), 0);
  const bool can = write(fd[1], p, 1) == 1;
  close(fd[0]);
  close(fd[1]);
  return can;
}

START_TEST(pages_are_opened_and_protected_again) {
  struct ranges all = {0};
  char *p = mmap(NULL, 8 * PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const uintptr_t start = (uintptr_t)p, end = start + 8 * PAGE;
  ck_assert_int_eq(
      protections_note(&all, start + PAGE, start + 3 * PAGE, PROT_NONE), 0);
  ck_assert_int_eq(protections_restore(&all, start, end), 0);
  ck_assert(readable(p) && !readable(p + PAGE) && !readable(p + 2 * PAGE));
  ck_assert_int_eq(protections_lift(&all, start + 2 * PAGE, end), 0);
  ck_assert(!readable(p + PAGE) && readable(p + 2 * PAGE));
  ck_assert_int_eq(protections_lift(&all, 0, UINTPTR_MAX), 0);
  p[PAGE] = 1;
  ck_assert_int_eq(protections_restore(&all, 0, UINTPTR_MAX), 0);
  ck_assert(!readable(p + PAGE));
  munmap(p, 8 * PAGE);
  ck_assert_int_eq(protections_restore(&all, 0, UINTPTR_MAX), ENOMEM);
  ranges_free(&all);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      neighbours_that_are_alike_are_one,
      random_notes_agree_with_a_table,
      pages_are_opened_and_protected_again,
      NULL,
  };
  return check_main("protections", tests);
}
