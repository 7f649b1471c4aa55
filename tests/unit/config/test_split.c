#include "config/split.h"

#include <check.h>
#include <stdlib.h>

#include "check_main.h"

#define MIB (UINT64_C(1) << 20)
#define MOST_PROCESSES 24

static struct split_offer offer[MOST_PROCESSES];
static int first[MOST_PROCESSES + 1];

/* Processes with one core, one disk and room for everything. */
static void reset(void) {
  for (int q = 0; q < MOST_PROCESSES; q++) {
    offer[q] = (struct split_offer){.cores = 1,
                                    .disks = 1,
                                    .least = 1,
                                    .room = UINT64_C(1) << 50,
                                    .context = MIB,
                                    .given = 1};
  }
}

static int held(int q) {
  return first[q + 1] - first[q];
}

/* Deals v ranks to processes and compares with the numbers given. */
static void check_deal(int v, int nprocs, const int *wanted) {
  split_by_offers(first, nprocs, v, offer);
  ck_assert_int_eq(first[0], 0);
  ck_assert_int_eq(first[nprocs], v);
  for (int q = 0; q < nprocs; q++) {
    ck_assert_msg(held(q) == wanted[q], "process %d of %d: %d of %d, not %d", q,
                  nprocs, held(q), v, wanted[q]);
  }
}

#define DEALS(v, ...)                                                          \
  do {                                                                         \
    const int wanted[] = {__VA_ARGS__};                                        \
    check_deal(v, sizeof(wanted) / sizeof(*wanted), wanted);                   \
  } while (0)

START_TEST(even_blocks_differ_by_one) {
  for (int v = 1; v <= 40; v++) {
    for (int nprocs = 1; nprocs <= v && nprocs <= MOST_PROCESSES; nprocs++) {
      split_even(first, nprocs, v);
      ck_assert_int_eq(first[0], 0);
      ck_assert_int_eq(first[nprocs], v);
      for (int q = 0; q < nprocs; q++) {
        ck_assert_int_eq(held(q), v / nprocs + (q < v % nprocs));
        ck_assert_int_eq(split_process(first, nprocs, first[q]), q);
        ck_assert_int_eq(split_process(first, nprocs, first[q + 1] - 1), q);
      }
    }
  }
}
END_TEST

START_TEST(equal_offers_are_an_even_split) {
  static const uint64_t cores[] = {1, 3, 64}, disks[] = {1, 5};
  int even[MOST_PROCESSES + 1];
  for (int i = 0; i < 6; i++) {
    for (int nprocs = 1; nprocs <= MOST_PROCESSES; nprocs++) {
      for (int v = nprocs; v <= 100; v++) {
        for (int q = 0; q < nprocs; q++) {
          offer[q].cores = cores[i % 3];
          offer[q].disks = disks[i / 3];
          offer[q].room = (unsigned)(v + 30) * MIB / (unsigned)nprocs;
        }
        split_even(even, nprocs, v);
        split_by_offers(first, nprocs, v, offer);
        ck_assert_mem_eq(first, even, (size_t)(nprocs + 1) * sizeof(*first));
      }
    }
  }
}
END_TEST

START_TEST(more_cores_more_ranks) {
  offer[0].cores = 3;
  DEALS(8, 6, 2);
  DEALS(4, 3, 1);
  DEALS(2, 1, 1);
  DEALS(3, 2, 1);
  offer[2].cores = 4;
  DEALS(16, 6, 2, 8);
  DEALS(3, 1, 1, 1);
}
END_TEST

START_TEST(disks_count_where_they_differ) {
  /* Equal numbers of disks: the cores alone. */
  offer[0].cores = 3;
  offer[0].disks = offer[1].disks = 7;
  DEALS(8, 6, 2);
  /* 4/5 of the disks, but half of the cores. */
  offer[0] = offer[1];
  offer[0].disks = 4;
  offer[1].disks = 1;
  DEALS(14, 10, 4); /* 1/2 to 1/5 */
  offer[0].cores = 4;
  DEALS(10, 8, 2);
}
END_TEST

START_TEST(room_bounds_the_cores) {
  offer[0].cores = 8;
  offer[0].room = 5 * MIB + MIB / 2;
  DEALS(8, 5, 3);
  DEALS(1000, 5, 995);
  DEALS(3, 2, 1);
}
END_TEST

START_TEST(the_least_context_counts) {
  offer[0].cores = 8;
  offer[0].room = 64 * MIB;
  offer[0].context = 16 * MIB;
  offer[1].context = 8 * MIB;
  DEALS(20, 8, 12);
}
END_TEST

START_TEST(without_room_contexts_are_halved) {
  for (int q = 0; q < 2; q++) {
    offer[q].context = 8 * MIB;
  }
  offer[0].cores = 3;
  offer[0].room = 16 * MIB; /* 2 contexts, then 4 */
  offer[1].room = 48 * MIB; /* 6 contexts, then 12 */
  DEALS(8, 2, 6);
  DEALS(12, 4, 8);
  offer[0].room = offer[1].room = 0; /* no room at all: as if there were */
  DEALS(12, 9, 3);
}
END_TEST

START_TEST(contexts_that_were_not_given_bend_to_the_cores) {
  for (int q = 0; q < 2; q++) {
    offer[q].given = 0;
  }
  offer[0].cores = 3;
  offer[0].room = offer[1].room = 5 * MIB;
  DEALS(8, 6, 2); /* of half a MiB there is room for 10 in each */
  offer[1].room -= 1;
  DEALS(8, 6, 2);
  offer[0].room = 1 * MIB; /* 1 and 4 contexts, 2 and 9, 4 and 19 */
  DEALS(8, 4, 4);
  DEALS(4, 2, 2);
  offer[0].room = offer[1].room = 0;
  DEALS(4, 3, 1);
  offer[0].room = 0;
  split_by_offers(first, 1, 5, offer);
  ck_assert_int_eq(held(0), 5);
}
END_TEST

START_TEST(what_a_process_must_have_it_gets) {
  offer[0].cores = offer[0].least = 6;
  offer[1].cores = offer[1].least = 2;
  offer[1].disks = 3; /* a quarter of the disks for 0 */
  DEALS(8, 6, 2);
  DEALS(9, 6, 3);
  DEALS(7, 4, 3); /* not enough: in proportion */
}
END_TEST

START_TEST(the_largest_job) {
  enum { V = 65536 };
  offer[0].cores = 65535;
  offer[0].disks = 65535;
  DEALS(V, 65535, 1);
  split_by_offers(first, MOST_PROCESSES, V, offer);
  ck_assert_int_eq(first[MOST_PROCESSES], V);
  for (int q = 1; q < MOST_PROCESSES; q++) {
    ck_assert_int_eq(held(q), 1);
  }
}
END_TEST

/* --- random offers --- */

static int below(int n) {
  return (int)(random() % n);
}

/* Nobody would be done sooner with a rank of whoever is done last. */
static void check_balance(int nprocs) {
  for (int a = 0; a < nprocs; a++) {
    for (int b = 0; b < nprocs; b++) {
      if (held(a) > 1 && (uint64_t)held(b) < offer[b].room / MIB) {
        ck_assert_uint_le((uint64_t)held(a) * offer[b].cores,
                          (uint64_t)(held(b) + 1) * offer[a].cores);
      }
    }
  }
}

START_TEST(any_offers_are_dealt_in_full_and_in_balance) {
  srandom(1);
  for (int i = 0; i < 300; i++) {
    const int nprocs = 1 + below(MOST_PROCESSES);
    uint64_t most = 0;
    for (int q = 0; q < nprocs; q++) {
      offer[q].cores = (uint64_t)below(16) + 1;
      offer[q].room = MIB * (unsigned)(1 + below(200));
      most += offer[q].room / MIB;
    }
    const int v = nprocs + below((int)most - nprocs + 1);
    split_by_offers(first, nprocs, v, offer);
    ck_assert_int_eq(first[0], 0);
    ck_assert_int_eq(first[nprocs], v);
    for (int q = 0; q < nprocs; q++) {
      ck_assert_int_ge(held(q), 1);
      ck_assert_uint_le((uint64_t)held(q), offer[q].room / MIB);
    }
    int wrong = 0;
    for (int rank = 0; rank < v; rank++) {
      const int q = split_process(first, nprocs, rank);
      wrong += rank < first[q] || first[q + 1] <= rank;
    }
    ck_assert_int_eq(wrong, 0);
    check_balance(nprocs);
  }
}
END_TEST

int main(void) {
  Suite *const s = suite_create("split");
  TCase *const t = tcase_create("split");
  tcase_add_checked_fixture(t, reset, NULL);
  tcase_add_test(t, even_blocks_differ_by_one);
  tcase_add_test(t, equal_offers_are_an_even_split);
  tcase_add_test(t, more_cores_more_ranks);
  tcase_add_test(t, disks_count_where_they_differ);
  tcase_add_test(t, room_bounds_the_cores);
  tcase_add_test(t, the_least_context_counts);
  tcase_add_test(t, without_room_contexts_are_halved);
  tcase_add_test(t, contexts_that_were_not_given_bend_to_the_cores);
  tcase_add_test(t, what_a_process_must_have_it_gets);
  tcase_add_test(t, the_largest_job);
  tcase_add_test(t, any_offers_are_dealt_in_full_and_in_balance);
  suite_add_tcase(s, t);
  return check_run(s);
}
