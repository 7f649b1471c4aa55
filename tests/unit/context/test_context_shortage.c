/* What is known of a context, where an allocation fails, each in its turn:
   nothing is lost, also not what was known before. */
#define _GNU_SOURCE
#include <check.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "check_main.h"
#include "check_memory.h"
#include "context/boundary.h"
#include "context/granule.h"
#include "context/protections.h"
#include "os/native.h"

enum { BLOCKS = 300 }; /* the table grows */

static void expect_blocks(const struct boundary *b, int n) {
  for (int i = 0; i < BLOCKS; i++) {
    char out[4] = "..";
    boundary_overlay(b, (uintptr_t)(i + 1) * PAGE, out, 2);
    ck_assert_str_eq(out, i < n ? "ab" : "..");
  }
}

static int put_blocks(void *arg) {
  const size_t before = boundary_memory();
  struct boundary b = {0};
  int n = 0, code = 0;
  (void)arg;
  while (n < BLOCKS && code != -1) {
    code = boundary_put(&b, (uintptr_t)(n + 1) * PAGE, "ab", 2);
    n += code != -1;
  }
  expect_blocks(&b, n);
  boundary_free(&b);
  ck_assert_uint_eq(boundary_memory(), before);
  return code;
}

START_TEST(boundary_blocks) {
  memory_every(put_blocks, NULL, -1, MEMORY_NEEDED);
}
END_TEST

static int note_protections(void *arg) {
  enum { PAGES = 100 };
  struct ranges all = {0};
  int code = 0, n = 0;
  (void)arg;
  for (; n < PAGES && !code; n++) {
    const uintptr_t at = (uintptr_t)(2 * n) * PAGE;
    code = protections_note(&all, at, at + PAGE, PROT_READ);
  }
  n -= code != 0;
  for (int i = 0; i < PAGES; i++) {
    ck_assert_int_eq(protections_writable(&all, (uintptr_t)(2 * i) * PAGE),
                     i >= n);
    ck_assert(protections_writable(&all, (uintptr_t)(2 * i + 1) * PAGE));
  }
  ranges_free(&all);
  return code;
}

START_TEST(protections) {
  memory_every(note_protections, NULL, ENOMEM, MEMORY_NEEDED);
}
END_TEST

static int make_granules(void *arg) {
  struct context c = {.range_len = 64 * HUGE_PAGE};
  (void)arg;
  const int code = granules_create(&c);
  if (!code) {
    ck_assert(!granules_have(&c, c.range, 1));
  }
  native_free(c.granules);
  return code;
}

START_TEST(granules) {
  memory_every(make_granules, NULL, -1, MEMORY_NEEDED);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {boundary_blocks, protections, granules, NULL};
  return check_main("context_shortage", tests);
}
