/* How blocks are dealt to disks. */
#include "disk/dealer.h"

#include <check.h>
#include <string.h>

#include "check_main.h"

static const int counts[] = {1, 2, 3, 4, 7, 16, 100, DISK_MOST};
enum { COUNTS = sizeof(counts) / sizeof(*counts) };

START_TEST(stripes_go_round) {
  const int disks = counts[_i];
  struct pems_dealer d;
  pems_dealer_begin(&d, PEMS_DEAL_STRIPE, 99);
  for (int i = 0; i < 3 * disks + 1; i++) {
    ck_assert_int_eq(dealer_next(&d, disks), i % disks);
  }
}
END_TEST

START_TEST(each_cycle_is_the_same_permutation) {
  const int disks = counts[_i];
  struct pems_dealer d;
  int first[DISK_MOST], seen[DISK_MOST] = {0};
  pems_dealer_begin(&d, PEMS_DEAL_CYCLIC, 99);
  for (int i = 0; i < disks; i++) {
    first[i] = dealer_next(&d, disks);
    ck_assert_int_ge(first[i], 0);
    ck_assert_int_lt(first[i], disks);
    ck_assert_int_eq(seen[first[i]]++, 0);
  }
  for (int i = 0; i < 2 * disks; i++) {
    ck_assert_int_eq(dealer_next(&d, disks), first[i % disks]);
  }
}
END_TEST

/* Streams with seeds 0 ... n - 1: how often each of the 24 orders comes. */
START_TEST(every_order_is_equally_likely) {
  enum { STREAMS = 24000, DISKS = 4 };
  static int seen[256];
  memset(seen, 0, sizeof(seen));
  int orders = 0;
  for (uint64_t seed = 0; seed < STREAMS; seed++) {
    struct pems_dealer d;
    int order = 0;
    pems_dealer_begin(&d, PEMS_DEAL_CYCLIC, seed);
    for (int i = 0; i < DISKS; i++) {
      order = order << 2 | dealer_next(&d, DISKS);
    }
    seen[order]++;
  }
  for (int i = 0; i < 256; i++) {
    orders += seen[i] > 0;
    if (seen[i]) { /* 1000 +- 6 sigma */
      ck_assert_int_gt(seen[i], 810);
      ck_assert_int_lt(seen[i], 1190);
    }
  }
  ck_assert_int_eq(orders, 24);
}
END_TEST

START_TEST(random_is_even_and_independent) {
  enum { BLOCKS = 100000, DISKS = 5 };
  static int pairs[DISKS][DISKS];
  struct pems_dealer d;
  pems_dealer_begin(&d, PEMS_DEAL_RANDOM, 1);
  for (int i = 0, last = 0; i < BLOCKS; i++) {
    const int next = dealer_next(&d, DISKS);
    ck_assert_int_ge(next, 0);
    ck_assert_int_lt(next, DISKS);
    pairs[last][next]++;
    last = next;
  }
  for (int i = 0; i < DISKS; i++) {
    for (int j = 0; j < DISKS; j++) { /* 4000 +- 6 sigma */
      ck_assert_int_gt(pairs[i][j], 3620);
      ck_assert_int_lt(pairs[i][j], 4380);
    }
  }
}
END_TEST

START_TEST(seeds_repeat_and_differ) {
  enum { BLOCKS = 64, DISKS = 16 };
  for (int deal = PEMS_DEAL_CYCLIC; deal <= PEMS_DEAL_RANDOM; deal++) {
    struct pems_dealer a, b, c;
    int other = 0;
    pems_dealer_begin(&a, (enum pems_deal)deal, 5);
    pems_dealer_begin(&b, (enum pems_deal)deal, 5);
    pems_dealer_begin(&c, (enum pems_deal)deal, 6);
    for (int i = 0; i < BLOCKS; i++) {
      const int disk = dealer_next(&a, DISKS);
      ck_assert_int_eq(disk, dealer_next(&b, DISKS));
      other += disk != dealer_next(&c, DISKS);
    }
    ck_assert_int_eq(other > 0, deal != PEMS_DEAL_STRIPE);
  }
}
END_TEST

int main(void) {
  Suite *const s = suite_create("dealer");
  TCase *const t = tcase_create("dealer");
  tcase_add_loop_test(t, stripes_go_round, 0, COUNTS);
  tcase_add_loop_test(t, each_cycle_is_the_same_permutation, 0, COUNTS);
  tcase_add_test(t, every_order_is_equally_likely);
  tcase_add_test(t, random_is_even_and_independent);
  tcase_add_test(t, seeds_repeat_and_differ);
  suite_add_tcase(s, t);
  return check_run(s);
}
