/* Blocks that lie in memory, or beyond a bound in a mapped file. */
#include "disk/paged.h"

#include <check.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "check_main.h"
#include "config/memory_used.h"
#include "os/pages.h"

enum { KIB = 1 << 10, MIB = 1 << 20, BOUND = MIB, MANY = 20000 };

/* Of the pages from `p` on, whether the first lies in a file. */
static void note_file(void *arg, uintptr_t start, uintptr_t end, int flags) {
  (void)start, (void)end;
  *(int *)arg = flags & SURVEY_FILE ? 1 : 0;
}

static int in_file(void *p) {
  int file = -1;
  const uintptr_t at = (uintptr_t)p & ~(uintptr_t)(PAGE - 1);
  pages_survey(at, at + PAGE, note_file, &file);
  return file;
}

static void start(void) {
  paged_start("/tmp", BOUND);
  ck_assert_int_eq(pages_survey_start(), 0);
}

START_TEST(what_is_beyond_the_bound_lies_in_a_file) {
  start();
  char *const first = paged_alloc(BOUND - 64 * KIB);
  char *const second = paged_alloc(3 * MIB);
  ck_assert(first && second);
  memset(first, 1, BOUND - 64 * KIB);
  memset(second, 2, 3 * MIB);
  ck_assert_int_eq(in_file(first), 0);
  ck_assert_int_eq(in_file(second + 2 * MIB), 1);
  ck_assert_uint_le(memory_used_now(MEMORY_RECORDS), BOUND);
  paged_free(second);
  paged_free(first);
  ck_assert_uint_eq(memory_used_now(MEMORY_RECORDS), 0);
  /* what is freed is used again before the file */
  char *const third = paged_zalloc(512 * KIB);
  ck_assert_int_eq(in_file(third), 0);
  for (int i = 0; i < 512 * KIB; i++) {
    ck_assert_int_eq(third[i], 0);
  }
  paged_free(third);
}
END_TEST

static size_t a_size(unsigned *state) {
  *state = *state * 1103515245 + 12345;
  const unsigned x = *state >> 8;
  return x % 50 == 0 ? x % (300 * KIB) : x % 4 == 0 ? x % (9 * KIB) : x % 600;
}

START_TEST(blocks_keep_what_is_in_them) {
  static struct {
    unsigned char *p;
    size_t n;
  } block[MANY];
  unsigned state = 1;
  start();
  for (int i = 0; i < 4 * MANY; i++) {
    const int k = (int)(a_size(&state) * 7919 % MANY);
    const unsigned char mark = (unsigned char)(k * 31 + 1);
    unsigned char *const p = block[k].p;
    if (p) {
      for (size_t j = 0; j < block[k].n; j += 1 + block[k].n / 7) {
        ck_assert_uint_eq(p[j], mark);
      }
      ck_assert(paged_owns(p));
      ck_assert_uint_ge(paged_size(p), block[k].n);
      paged_free(p);
      block[k].p = NULL;
    } else {
      block[k].n = a_size(&state);
      block[k].p = paged_alloc(block[k].n);
      ck_assert_ptr_nonnull(block[k].p);
      ck_assert_uint_eq((uintptr_t)block[k].p % 16, 0);
      memset(block[k].p, mark, block[k].n);
    }
  }
  for (int k = 0; k < MANY; k++) {
    if (block[k].p) {
      paged_free(block[k].p);
    }
  }
  ck_assert_uint_eq(memory_used_now(MEMORY_RECORDS), 0);
}
END_TEST

START_TEST(small_blocks_fill_their_pieces) {
  start();
  char *low = paged_alloc(100), *high = low;
  for (int i = 1; i < 64 * KIB / 112; i++) {
    char *const p = paged_alloc(100);
    low = p < low ? p : low;
    high = p > high ? p : high;
  }
  ck_assert_int_lt(high - low, 64 * KIB);
}
END_TEST

START_TEST(without_a_start_there_are_no_blocks) {
  int x;
  ck_assert_ptr_null(paged_alloc(10));
  ck_assert_ptr_null(paged_zalloc(10));
  ck_assert(!paged_owns(&x));
}
END_TEST

START_TEST(a_full_disk_is_a_shortage) {
  /* A file that may not grow is what can be had without a file system. */
  const struct rlimit none = {BOUND + 2 * MIB, BOUND + 2 * MIB};
  start();
  signal(SIGXFSZ, SIG_IGN);
  ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
  char *const p = paged_alloc(BOUND);
  ck_assert_ptr_nonnull(p);
  int failed = 0;
  for (int i = 0; i < 8 && !failed; i++) {
    char *const q = paged_alloc(MIB);
    failed = !q;
    if (q) {
      memset(q, 1, MIB);
    }
  }
  ck_assert_int_eq(failed, 1);
  paged_free(p);
  ck_assert_ptr_nonnull(paged_alloc(BOUND));
}
END_TEST

START_TEST(blocks_may_be_freed_after_the_end) {
  start();
  char *const small = paged_alloc(10), *const large = paged_alloc(3 * MIB);
  paged_end();
  ck_assert_ptr_null(paged_alloc(MIB));
  large[MIB] = 1;
  paged_free(small);
  paged_free(large);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {what_is_beyond_the_bound_lies_in_a_file,
                                blocks_keep_what_is_in_them,
                                small_blocks_fill_their_pieces,
                                without_a_start_there_are_no_blocks,
                                a_full_disk_is_a_shortage,
                                blocks_may_be_freed_after_the_end,
                                NULL};
  return check_main("paged", tests);
}
