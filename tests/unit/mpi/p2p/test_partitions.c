/* Which partitions of one side meet those of the other. */
#include "mpi/p2p/partitions.h"

#include "check_main.h"

/* Of m * n bytes both sides' partitions are whole. */
START_TEST(those_that_share_a_byte) {
  for (int m = 1; m < 20; m++) {
    for (int n = 1; n < 20; n++) {
      for (int which = 0; which < m; which++) {
        const struct partitions p = partitions_meeting(which, m, n);
        ck_assert_int_eq(p.first, which * n / m);
        ck_assert_int_eq(p.last, (which * n + n - 1) / m);
      }
    }
  }
}
END_TEST

START_TEST(equal_numbers_meet_one_to_one) {
  const int many = 2000000000;
  for (int which = 0; which <= many - many / 7; which += many / 7) {
    const struct partitions p = partitions_meeting(which, many, many);
    ck_assert_int_eq(p.first, which);
    ck_assert_int_eq(p.last, which);
  }
  const struct partitions all = partitions_meeting(0, 1, many);
  ck_assert_int_eq(all.first, 0);
  ck_assert_int_eq(all.last, many - 1);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {those_that_share_a_byte,
                                equal_numbers_meet_one_to_one, NULL};
  return check_main("partitions", tests);
}
