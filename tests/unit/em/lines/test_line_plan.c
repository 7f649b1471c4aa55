/* Plans keep within the memory, whatever that is. */
#include "em/lines/line_plan.h"

#include <check.h>

#include "check_main.h"
#include "em/lines/line_sort.h"

START_TEST(plans_fit) {
  for (uint64_t m = LINE_SORT_LEAST; m < UINT64_C(1) << 36; m += m / 3) {
    for (int threads = 1; threads <= 64; threads *= 2) {
      for (size_t codec = 0; codec <= 200000; codec += 100000) {
        struct line_plan p;
        line_plan_make(&p, m, threads, codec);
        ck_assert_int_ge(p.workers, 1);
        ck_assert_int_le(p.workers, threads + 1);
        ck_assert_uint_eq(p.block % 4096, 0);
        ck_assert_uint_ge(p.chunk, m / 4 / (uint64_t)p.workers);
        ck_assert_uint_le(p.carry, p.chunk / 4);
        ck_assert_uint_le((uint64_t)p.workers *
                                  (p.chunk + 2 * p.block + codec) +
                              p.carry + 2 * p.input,
                          m);
      }
    }
  }
}
END_TEST

START_TEST(pieces_fit) {
  const struct line_plan p = {.block = 1 << 20};
  ck_assert_uint_eq(line_plan_piece(&p, 4 << 20, 2, 0), 1 << 20);
  ck_assert_uint_eq(line_plan_piece(&p, 4 << 20, 2, 1), 1 << 19);
  ck_assert_uint_eq(line_plan_piece(&p, 16384, 2, 0), 4096);
  ck_assert_uint_eq(line_plan_piece(&p, 16384, 3, 0), 0);
  ck_assert_uint_eq(line_plan_piece(&p, 16384, 1, 16385), 0);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {plans_fit, pieces_fit, NULL};
  return check_main("line_plan", tests);
}
