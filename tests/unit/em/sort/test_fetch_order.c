/* The order in which blocks are needed, and the one in which to fetch them. */
#include "em/sort/fetch_order.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"

static uint64_t state;

static uint32_t random_below(uint32_t n) {
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(state >> 33) % n;
}

/* --- what is needed --- */

#define RUNS 40
#define MOST_BLOCKS 60

static const struct pems_record record = {.size = 4, .key = PEMS_KEY_U32};

/* Random runs whose blocks begin with keys below `keys`. */
static void make_runs(struct run *run, uint32_t keys) {
  for (int i = 0; i < RUNS; i++) {
    const size_t blocks = random_below(MOST_BLOCKS);
    uint32_t *const least = malloc((blocks + 1) * sizeof(*least));
    for (size_t b = 0; b < blocks; b++) {
      least[b] = random_below(keys);
    }
    for (size_t b = 1; b < blocks; b++) { /* insertion sort */
      for (size_t c = b; c > 0 && least[c] < least[c - 1]; c--) {
        const uint32_t swapped = least[c];
        least[c] = least[c - 1];
        least[c - 1] = swapped;
      }
    }
    run[i] = (struct run){.blocks = blocks, .least = (char *)least};
  }
}

static uint32_t least_of(const struct run *run, struct fetch_order_entry p) {
  uint32_t key;
  memcpy(&key, run[p.run].least + p.block * sizeof(key), sizeof(key));
  return key;
}

START_TEST(blocks_are_needed_in_the_order_of_their_smallest_records) {
  const struct runs all = {.record_size = 4};
  const struct kernel *const kernel = kernel_find(&record, "tree");
  state = (uint64_t)_i;
  struct run run[RUNS];
  struct fetch_order_entry order[RUNS * MOST_BLOCKS];
  size_t n = 0, next[RUNS] = {0};
  make_runs(run, _i % 2 ? 10 : 1000000);
  for (int i = 0; i < RUNS; i++) {
    n += run[i].blocks;
  }
  ck_assert_int_eq(fetch_order_needs(&all, run, RUNS, &record, kernel, order),
                   0);
  for (size_t i = 0; i < n; i++) {
    ck_assert_uint_eq(order[i].block, next[order[i].run]++);
    if (i == 0) {
      continue;
    }
    const uint32_t before = least_of(run, order[i - 1]);
    const uint32_t here = least_of(run, order[i]);
    ck_assert_uint_le(before, here);
    if (before == here) {
      ck_assert_uint_le(order[i - 1].run, order[i].run);
    }
  }
  for (int i = 0; i < RUNS; i++) {
    ck_assert_uint_eq(next[i], run[i].blocks);
    free(run[i].least);
  }
}
END_TEST

/* --- when to fetch it --- */

#define BLOCKS 400

/* Each once, and for one that is needed there is always a buffer: when the
   first i + 1 needed are not all fetched, fewer than `buffers` are here. */
static void check_order(const int *disk, size_t n, int disks, size_t buffers,
                        const uint32_t *fetch) {
  size_t at[BLOCKS];
  char seen[BLOCKS] = {0};
  for (size_t i = 0; i < n; i++) {
    ck_assert_uint_lt(fetch[i], n);
    ck_assert_int_eq(seen[fetch[i]]++, 0);
    at[fetch[i]] = i;
  }
  for (size_t need = 0; need < n; need++) {
    /* All up to this one are consumed before it: what is fetched until it
       comes and lies around is needed later. */
    size_t later = 0;
    for (size_t i = 0; i < at[need]; i++) {
      later += fetch[i] > need;
    }
    ck_assert_uint_lt(later, buffers);
  }
  for (int d = 0; d < disks; d++) { /* each disk's in the order of need */
    size_t last = 0, any = 0;
    for (size_t i = 0; i < n; i++) {
      if (disk[fetch[i]] == d) {
        ck_assert(!any || fetch[i] > last);
        last = fetch[i];
        any = 1;
      }
    }
  }
}

static void compare_orders(int disks, size_t buffers, size_t n) {
  int disk[BLOCKS] = {0};
  uint32_t best[BLOCKS], naive[BLOCKS];
  for (size_t i = 0; i < n; i++) {
    disk[i] = (int)random_below((uint32_t)disks);
    if (random_below(4) == 0 && i > 0) {
      disk[i] = disk[i - 1];
    }
    naive[i] = (uint32_t)i;
  }
  ck_assert_int_eq(fetch_order_fetches(disk, n, disks, buffers, best), 0);
  check_order(disk, n, disks, buffers, best);
  const size_t steps = fetch_order_steps(disk, n, disks, buffers, best);
  const size_t others = fetch_order_steps(disk, n, disks, buffers, naive);
  ck_assert(n == 0 || (steps > 0 && others > 0));
  ck_assert_uint_le(steps, others);
  ck_assert_uint_ge(steps * (size_t)disks, n);
}

START_TEST(the_best_order_takes_no_more_steps_than_the_naive) {
  const int disks = _i;
  state = (uint64_t)_i;
  for (int round = 0; round < 60; round++) {
    const size_t buffers = (size_t)disks + random_below(4 * (uint32_t)disks);
    compare_orders(disks, buffers, random_below(BLOCKS + 1));
  }
}
END_TEST

/* The least steps, by trying all: in each, every disk reads one or none. */
struct search {
  const int *disk;
  size_t n, buffers;
  int disks;
  size_t best;
};

static void search(struct search *s, uint32_t fetched, size_t consumed,
                   size_t steps);

/* Chooses for disk d and those behind it. */
static void choose(struct search *s, int d, uint32_t fetched, size_t consumed,
                   size_t steps) {
  if (d == s->disks) {
    while (consumed < s->n && fetched >> consumed & 1) {
      consumed++;
    }
    search(s, fetched, consumed, steps + 1);
    return;
  }
  const size_t held = (size_t)__builtin_popcount(fetched) - consumed;
  if (held < s->buffers) {
    for (size_t i = consumed; i < s->n; i++) {
      if (s->disk[i] == d && !(fetched >> i & 1)) {
        choose(s, d + 1, fetched | 1U << i, consumed, steps);
      }
    }
  }
  choose(s, d + 1, fetched, consumed, steps);
}

static void search(struct search *s, uint32_t fetched, size_t consumed,
                   size_t steps) {
  if (consumed == s->n && steps < s->best) {
    s->best = steps;
  }
  if (consumed == s->n || steps + 1 >= s->best) {
    return;
  }
  choose(s, 0, fetched, consumed, steps);
}

START_TEST(the_best_order_is_as_short_as_any) {
  state = (uint64_t)_i + 100;
  const int disks = 2 + _i % 2;
  const size_t n = 7, buffers = (size_t)disks + random_below(2);
  int disk[7];
  uint32_t fetch[7];
  for (size_t i = 0; i < n; i++) {
    disk[i] = (int)random_below((uint32_t)disks);
  }
  ck_assert_int_eq(fetch_order_fetches(disk, n, disks, buffers, fetch), 0);
  const size_t steps = fetch_order_steps(disk, n, disks, buffers, fetch);
  struct search s = {disk, n, buffers, disks, n + 1};
  search(&s, 0, 0, 0);
  ck_assert_uint_eq(steps, s.best);
}
END_TEST

START_TEST(one_disk_reads_in_order) {
  const int disk[5] = {0};
  uint32_t fetch[5];
  ck_assert_int_eq(fetch_order_fetches(disk, 5, 1, 2, fetch), 0);
  for (uint32_t i = 0; i < 5; i++) {
    ck_assert_uint_eq(fetch[i], i);
  }
  ck_assert_uint_eq(fetch_order_steps(disk, 5, 1, 2, fetch), 5);
}
END_TEST

START_TEST(orders_that_cannot_be_are_found_out) {
  const int disk[3] = {0, 0, 0};
  const uint32_t fetch[3] = {2, 1, 0};
  ck_assert_uint_eq(fetch_order_steps(disk, 3, 1, 2, fetch), 0);
  ck_assert_uint_eq(fetch_order_steps(disk, 3, 1, 3, fetch), 3);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("predict");
  TCase *const t = tcase_create("predict");
  tcase_set_timeout(t, 60);
  tcase_add_loop_test(
      t, blocks_are_needed_in_the_order_of_their_smallest_records, 0, 20);
  tcase_add_loop_test(t, the_best_order_takes_no_more_steps_than_the_naive, 1,
                      9);
  tcase_add_loop_test(t, the_best_order_is_as_short_as_any, 0, 40);
  tcase_add_test(t, one_disk_reads_in_order);
  tcase_add_test(t, orders_that_cannot_be_are_found_out);
  suite_add_tcase(s, t);
  return check_run(s);
}
