#include <check.h>

#include "os/bits.h"

#include "check_main.h"

START_TEST(least_and_greatest) {
  ck_assert_uint_eq(bits_min(3, 5), 3);
  ck_assert_uint_eq(bits_min(5, 3), 3);
  ck_assert_uint_eq(bits_max(3, 5), 5);
  ck_assert_uint_eq(bits_max(UINT64_MAX, 0), UINT64_MAX);
}
END_TEST

START_TEST(rounds_to_units_that_are_no_power_of_two) {
  ck_assert_uint_eq(bits_round_up(0, 12), 0);
  ck_assert_uint_eq(bits_round_up(1, 12), 12);
  ck_assert_uint_eq(bits_round_up(12, 12), 12);
  ck_assert_uint_eq(bits_round_up(13, 12), 24);
  ck_assert_uint_eq(bits_round_down(11, 12), 0);
  ck_assert_uint_eq(bits_round_down(25, 12), 24);
}
END_TEST

START_TEST(aligns_beyond_32_bits) {
  const uint64_t large = (uint64_t)1 << 40;
  ck_assert_uint_eq(bits_align_up(large + 1, 4096), large + 4096);
  ck_assert_uint_eq(bits_align_up(large, 4096), large);
  ck_assert_uint_eq(bits_align_down(large + 4095, 4096), large);
}
END_TEST

START_TEST(any_byte_that_is_not_zero_counts) {
  enum { N = 100 };
  char bytes[N] = {0};
  ck_assert(bits_zero(NULL, 0));
  ck_assert(bits_zero(bytes, N));
  for (int i = 0; i < N; i++) {
    bytes[i] = 1;
    ck_assert(!bits_zero(bytes, N));
    ck_assert(bits_zero(bytes, (size_t)i));
    ck_assert(bits_zero(bytes + i + 1, (size_t)(N - i - 1)));
    bytes[i] = 0;
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      least_and_greatest,
      rounds_to_units_that_are_no_power_of_two,
      aligns_beyond_32_bits,
      any_byte_that_is_not_zero_counts,
      NULL,
  };
  return check_main("bits", tests);
}
