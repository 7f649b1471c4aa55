/* Places for pages, for which there is no memory: nothing is kept then, and
   nothing is left. */
#define _GNU_SOURCE
#include "context/residency/frames.h"

#include <check.h>

#include "check_main.h"
#include "check_memory.h"

enum { MIB = 1 << 20, PLACES = 4, MOST = 8 };

/* Bytes that an attempt leaves mapped: a look at what the kernel can do leaves
   some on old ones. */
static long try_it(bool expected) {
  const long live = atomic_load(&check_memory.live);
  const long bytes = atomic_load(&check_memory.bytes);
  const int code = frames_create((uint64_t)PLACES * 2 * MIB);
  const bool enough = !memory_was_out();
  memory_again();
  if (enough) {
    ck_assert_int_eq(code, 0);
  }
  if (code) {
    ck_assert(!expected);
    ck_assert_uint_eq(frames_bytes(), 0);
    frames_trim(0);
  }
  frames_destroy();
  ck_assert_int_eq(atomic_load(&check_memory.live), live);
  return atomic_load(&check_memory.bytes) - bytes;
}

START_TEST(all_or_nothing_is_made) {
  const long usual = try_it(true);
  ck_assert_int_lt(usual, MIB);
  int refused = 0;
  for (int once = 0; once < 2; once++) {
    for (int n = 0; n < MOST; n++) {
      (once ? memory_but : memory_for)(n);
      const long left = try_it(false);
      ck_assert_msg(left <= usual, "allocation %d: %ld bytes left", n, left);
      ck_assert_int_eq(try_it(true), usual);
      (once ? memory_but : memory_for)(n);
      refused += frames_create((uint64_t)PLACES * 2 * MIB) != 0;
      memory_again();
      frames_destroy();
    }
  }
  ck_assert_int_ge(refused, 6); /* the range and two stacks, in both ways */
}
END_TEST

int main(void) {
  const TTest *const tests[] = {all_or_nothing_is_made, NULL};
  return check_main("frames_shortage", tests);
}
