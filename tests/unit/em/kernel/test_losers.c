/* The tree of losers, over every form of sequence. */
#define _GNU_SOURCE
#include "em/kernel/losers.h"

#include <check.h>
#include <stdlib.h>

#include "check_main.h"

enum { LEAVES = 100, LONG = 30 /* records of a leaf, at most */ };

struct item {
  uint64_t key;
  uint32_t leaf, number;
};

static const struct pems_record record = {.size = sizeof(struct item),
                                          .key = PEMS_KEY_U64};
static struct item item[LEAVES][LONG];
static uint32_t numbers[LEAVES][LONG];
static struct losers_pair pairs[LEAVES][LONG];
static struct losers_leaf leaf[LEAVES];
static struct item want[LEAVES * LONG], got[LEAVES * LONG];
static unsigned __int128 work[2 * LEAVES];
static struct record_order order;
static uint32_t state;

static uint32_t below(uint32_t n) {
  state = state * 1103515245 + 12345;
  return (state >> 8) % n;
}

static int by_key(const void *a, const void *b) {
  const struct item *const x = a, *const y = b;
  if (x->key != y->key) {
    return x->key < y->key ? -1 : 1;
  }
  if (x->leaf != y->leaf) {
    return x->leaf < y->leaf ? -1 : 1;
  }
  return (x->number > y->number) - (x->number < y->number);
}

/* n records for leaf i, which lie in order or, unless they are the sequence
   themselves, backwards. */
static void make_leaf(enum losers_form form, int i, size_t n, uint32_t range) {
  for (size_t j = 0; j < n; j++) {
    item[i][j].key = below(range) == 0 ? UINT64_MAX : below(range);
  }
  for (size_t j = 0; j < n; j++) {
    item[i][j].leaf = (uint32_t)i;
  }
  qsort(item[i], n, sizeof(struct item), by_key);
  for (size_t j = 0; j < n; j++) {
    item[i][j].number = (uint32_t)j;
  }
  for (size_t j = 0; form != LOSERS_RECORDS && j < n / 2; j++) {
    const struct item t = item[i][j];
    item[i][j] = item[i][n - 1 - j];
    item[i][n - 1 - j] = t;
  }
  for (size_t j = 0; j < n; j++) {
    numbers[i][j] = (uint32_t)(n - 1 - j);
    pairs[i][j] = (struct losers_pair){n - 1 - j, item[i][n - 1 - j].key};
  }
}

static struct losers_leaf leaf_of(enum losers_form form, int i, size_t n) {
  const char *const base = (const char *)item[i];
  const char *const list = form == LOSERS_INDEX   ? (const char *)numbers[i]
                           : form == LOSERS_PAIRS ? (const char *)pairs[i]
                                                  : base;
  const size_t step = form == LOSERS_INDEX   ? sizeof(uint32_t)
                      : form == LOSERS_PAIRS ? sizeof(struct losers_pair)
                                             : sizeof(struct item);
  return (struct losers_leaf){list, list + n * step, base};
}

static size_t make_leaves(enum losers_form form, int leaves, uint32_t range) {
  size_t total = 0;
  for (int i = 0; i < leaves; i++) {
    const size_t n = below(4) == 0 ? 0 : below(LONG + 1);
    make_leaf(form, i, n, range);
    leaf[i] = leaf_of(form, i, n);
    memcpy(want + total, item[i], n * sizeof(struct item));
    total += n;
  }
  qsort(want, total, sizeof(struct item), by_key);
  return total;
}

/* Records [first, first + count) of all. */
static void check_range(enum losers_form form, int leaves, size_t first,
                        size_t count) {
  struct losers_leaf left[LEAVES];
  memcpy(left, leaf, sizeof(left));
  memset(got, 0x55, sizeof(got));
  losers_skip(&order, form, left, leaves, first);
  losers_merge(&order, form, left, leaves, count, (char *)got, work);
  ck_assert_int_eq(memcmp(got, want + first, count * sizeof(struct item)), 0);
  if (count < LEAVES * LONG) {
    ck_assert_uint_eq(got[count].key, UINT64_C(0x5555555555555555));
  }
}

START_TEST(any_range_of_any_number_of_leaves) {
  static const uint32_t ranges[] = {1, 3, 50, 1000000};
  const enum losers_form form = (enum losers_form)(_i % 3);
  record_order(&record, &order);
  ck_assert_uint_le(losers_work(LEAVES), sizeof(work));
  for (int leaves = 1; leaves <= LEAVES; leaves += leaves < 18 ? 1 : 41) {
    const size_t total = make_leaves(form, leaves, ranges[_i / 3]);
    check_range(form, leaves, 0, total);
    check_range(form, leaves, total, 0);
    for (int i = 0; i < 20; i++) {
      const size_t first = below((uint32_t)total + 1);
      check_range(form, leaves, first, below((uint32_t)(total - first) + 1));
    }
  }
}
END_TEST

int main(void) {
  Suite *const s = suite_create("losers");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 60);
  tcase_add_loop_test(t, any_range_of_any_number_of_leaves, 0, 12);
  suite_add_tcase(s, t);
  return check_run(s);
}
