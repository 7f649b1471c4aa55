/* Sorting pairs of a prefix and a number, and records by them. */
#define _GNU_SOURCE
#include "em/kernel/pairs.h"

#include "check_main.h"
#include "kernel_check.h"

static int by_number(const void *a, const void *b) {
  const struct losers_pair *const x = a, *const y = b;
  if (x->prefix != y->prefix) {
    return x->prefix < y->prefix ? -1 : 1;
  }
  return (x->index > y->index) - (x->index < y->index);
}

/* Random, few, rising, falling, up and down again. */
static uint64_t prefix_of(int shape, uint64_t i, uint64_t n) {
  switch (shape) {
  case 0:
    return key_random();
  case 1:
    return key_random() % 3;
  case 2:
    return i;
  case 3:
    return n - i;
  default:
    return i < n / 2 ? i : n - i;
  }
}

/* Of n pairs in the opposite order. */
static void check_prefixes(struct losers_pair *pair,
                           const struct losers_pair *want, size_t n) {
  for (size_t i = 0; i < n / 2; i++) {
    pair[i] = want[n - 1 - i];
    pair[n - 1 - i] = want[i];
  }
  pairs_sort_prefixes(pair, n);
  for (size_t i = 1; i < n; i++) {
    ck_assert_uint_le(pair[i - 1].prefix, pair[i].prefix);
  }
  qsort(pair, n, sizeof(*pair), by_number);
  ck_assert_int_eq(memcmp(pair, want, n * sizeof(*want)), 0);
}

static void check_pairs(int shape) {
  enum { N = 5000 };
  static struct losers_pair pair[N], want[N];
  for (size_t n = 0; n <= N; n += n < 40 ? 1 : 620) {
    for (size_t i = 0; i < n; i++) {
      pair[i] =
          (struct losers_pair){key_random() % 100, prefix_of(shape, i, n)};
    }
    memcpy(want, pair, sizeof(want));
    qsort(want, n, sizeof(*want), by_number);
    pairs_sort(pair, n);
    ck_assert_int_eq(memcmp(pair, want, n * sizeof(*want)), 0);
    check_prefixes(pair, want, n);
  }
}

START_TEST(pairs_become_sorted) {
  check_pairs(_i);
}
END_TEST

/* The pairs of records [first, first + n) of a longer array. */
static void check_records(const struct pems_record *r, enum keys keys) {
  enum { N = 3000, FIRST = 100 };
  static struct losers_pair pair[N];
  char *const records = make_records(r, keys, FIRST + N);
  char *const want = reference_sorted(r, records + FIRST * r->size, N);
  struct record_order o;
  record_order(r, &o);
  pairs_of_records(&o, records, FIRST, N, pair);
  for (size_t i = 0; i < N; i++) {
    const char *const record = records + pair[i].index * r->size;
    if (memcmp(record, want + i * r->size, r->size) != 0 ||
        pair[i].prefix != record_prefix(r, record)) {
      ck_abort_msg("pair %zu of keys %d", i, (int)keys);
    }
  }
  native_free(records);
  native_free(want);
}

START_TEST(records_are_ordered_stably) {
  static const size_t lengths[] = {1, 3, 7, 8, 9, 12, 16, 17, 25, 28};
  struct pems_record r = {.size = 32, .key = PEMS_KEY_BYTES, .key_offset = 4};
  r.key_size = lengths[_i];
  for (enum keys keys = 0; keys < KEYS_KINDS; keys++) {
    for (r.descending = 0; r.descending < 2; r.descending++) {
      check_records(&r, keys);
    }
  }
}
END_TEST

START_TEST(numbers_of_128_bits) {
  struct pems_record r = {.size = 20, .key = PEMS_KEY_U128, .key_offset = 4};
  for (enum keys keys = 0; keys < KEYS_KINDS; keys++) {
    for (r.descending = 0; r.descending < 2; r.descending++) {
      check_records(&r, keys);
    }
  }
}
END_TEST

int main(void) {
  Suite *const s = suite_create("pairs");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 60);
  tcase_add_loop_test(t, pairs_become_sorted, 0, 5);
  tcase_add_loop_test(t, records_are_ordered_stably, 0, 10);
  tcase_add_test(t, numbers_of_128_bits);
  suite_add_tcase(s, t);
  return check_run(s);
}
