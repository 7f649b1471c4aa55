/* Records: checks, prefixes and the order of keys. */
#define _GNU_SOURCE
#include "em/kernel/record.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>

#include "check_main.h"
#include "kernel_check.h"

/* --- checks --- */

static void refused(struct pems_record r, const char *word) {
  struct pems_error error = {0};
  ck_assert_int_eq(pems_record_check(&r, &error), EINVAL);
  ck_assert_int_eq(error.code, EINVAL);
  ck_assert_msg(strstr(error.text, word), "%s", error.text);
  ck_assert_int_eq(pems_record_check(&r, NULL), EINVAL);
}

static int by_nothing(const void *a, const void *b, void *context) {
  (void)a, (void)b, (void)context;
  return 0;
}

START_TEST(wrong_records_are_refused) {
  refused((struct pems_record){.size = 0}, "0 bytes");
  refused((struct pems_record){.size = 0, .compare = by_nothing}, "0 bytes");
  refused((struct pems_record){.size = PEMS_RECORD_MOST + 1}, "4097");
  refused((struct pems_record){.size = 8, .key = PEMS_KEY_REAL64 + 1},
          "type 15");
  refused((struct pems_record){.size = 8, .key = (enum pems_key) - 1},
          "type -1");
  refused((struct pems_record){.size = 8}, "no key");
  refused((struct pems_record){.size = 8,
                               .key = PEMS_KEY_U8,
                               .reserved = (void *)by_nothing},
          "reserved");
  refused((struct pems_record){.size = 8, .key = PEMS_KEY_BYTES}, "key_size");
  refused((struct pems_record){.size = 7, .key = PEMS_KEY_U64}, "inside");
  refused((struct pems_record){.size = 8, .key = PEMS_KEY_U16, .key_offset = 7},
          "at 7");
  refused((struct pems_record){.size = 8,
                               .key = PEMS_KEY_U8,
                               .key_offset = SIZE_MAX},
          "inside");
  refused((struct pems_record){.size = 8,
                               .key = PEMS_KEY_BYTES,
                               .key_size = SIZE_MAX},
          "inside");
}
END_TEST

START_TEST(right_records_are_not) {
  struct pems_error error = {.code = 5};
  struct pems_record r = {.size = PEMS_RECORD_MOST,
                          .key = PEMS_KEY_BYTES,
                          .key_size = PEMS_RECORD_MOST};
  ck_assert_int_eq(pems_record_check(&r, &error), 0);
  ck_assert_uint_eq(pems_record_key_bytes(&r), PEMS_RECORD_MOST);
  r = (struct pems_record){.size = 9, .key = PEMS_KEY_F64, .key_offset = 1};
  ck_assert_int_eq(pems_record_check(&r, &error), 0);
  ck_assert_uint_eq(pems_record_key_bytes(&r), 8);
  r = (struct pems_record){.size = 1 << 20, .key = 77, .compare = by_nothing};
  ck_assert_int_eq(pems_record_check(&r, &error), 0);
  ck_assert_uint_eq(pems_record_key_bytes(&r), 0);
  ck_assert_int_eq(error.code, 5);
}
END_TEST

/* --- orders --- */

/* One assertion for all: each costs a system call. */
static void check_pair(const struct pems_record *r, const char *a,
                       const char *b) {
  const int want = reference_order(r, a, b);
  const uint64_t x = record_prefix(r, a), y = record_prefix(r, b);
  const int prefix = (x > y) - (x < y);
  bool right = sign(record_compare(r, a, b)) == want;
  if (prefix != 0 || record_prefix_decides(r)) {
    right = right && prefix == want;
  }
  if (!right) {
    ck_abort_msg("key type %d, %zu bytes, at %zu", (int)r->key, r->key_size,
                 r->key_offset);
  }
}

static void check_order(const struct kernel *kernel,
                        const struct pems_record *r, enum keys keys) {
  (void)kernel;
  (void)keys;
  for (enum keys k = 0; k < KEYS_KINDS; k++) {
    char *const records = make_records(r, k, 60);
    for (int i = 0; i < 60 * 60; i++) {
      check_pair(r, records + i / 60 * r->size, records + i % 60 * r->size);
    }
    native_free(records);
  }
}

static bool fits(const struct pems_record *r) {
  return pems_record_check(r, NULL) == 0;
}

START_TEST(keys_of_every_type_are_ordered) {
  static const size_t sizes[] = {1, 2, 4, 8, 16, 19, 40};
  check_types(&(struct kernel){.fits = fits}, sizes[_i], check_order);
}
END_TEST

/* In ascending order. */
static const double floats[] = {-INFINITY,  -1e300, -2,    -1,
                                -0x1p-1074, -0.0,   0.0,   0x1p-1074,
                                1,          2,      1e300, INFINITY};

START_TEST(floats_are_in_the_total_order) {
  const struct pems_record d = {.size = 8, .key = PEMS_KEY_F64};
  const struct pems_record f = {.size = 4, .key = PEMS_KEY_F32};
  const int n = sizeof(floats) / sizeof(*floats);
  const double nan[2] = {-(double)NAN, (double)NAN};
  for (int i = 0; i + 1 < n; i++) {
    const float x = (float)floats[i], y = (float)floats[i + 1];
    ck_assert_int_lt(record_compare(&d, &floats[i], &floats[i + 1]), 0);
    ck_assert_uint_lt(record_prefix(&d, &floats[i]),
                      record_prefix(&d, &floats[i + 1]));
    if (x != y || (x == 0 && signbit(x) && !signbit(y))) {
      ck_assert_int_lt(record_compare(&f, &x, &y), 0);
    }
  }
  ck_assert(signbit(nan[0]) != signbit(nan[1]));
  const int minus = signbit(nan[0]) ? 0 : 1;
  ck_assert_int_lt(record_compare(&d, &nan[minus], &floats[0]), 0);
  ck_assert_int_gt(record_compare(&d, &nan[!minus], &floats[n - 1]), 0);
}
END_TEST

/* In ascending order, where they are not equal: NaNs and zeros are. */
START_TEST(reals_are_ordered_as_less_has_it) {
  static const uint64_t bits[] = {0xfff0000000000000, 0xbff0000000000000,
                                  0x8000000000000000, 0,
                                  0x3ff0000000000000, 0x7ff0000000000000,
                                  0x7ff0000000000001, 0x7ff8000000000000,
                                  0xffffffffffffffff, 0xfff8000000000000,
                                  0xfff0000000000001};
  static const int class[] = {0, 1, 2, 2, 3, 4, 5, 5, 5, 5, 5};
  enum { N = sizeof(bits) / sizeof(*bits) };
  struct pems_record r = {.size = 8, .key = PEMS_KEY_REAL64};
  for (int i = 0; i < 4 * N * N; i++) {
    const int x = i / 4 / N, y = i / 4 % N, way = i & 1 ? -1 : 1;
    r.descending = i & 1;
    r.stable = i >> 1 & 1;
    const int less = record_compare(&r, &bits[x], &bits[y]);
    const int by_class = way * ((class[x] > class[y]) - (class[x] < class[y]));
    const int by_place = way * ((x > y) - (x < y));
    ck_assert_int_eq(less, r.stable ? by_class : by_place);
    uint64_t first = bits[x];
    record_first_equal(&r, &first);
    r.stable = 0;
    ck_assert_int_eq(record_compare(&r, &first, &bits[y]) <= 0,
                     way * (class[x] - class[y]) <= 0);
  }
}
END_TEST

START_TEST(ranks) {
  const uint16_t key[] = {1, 3, 3, 3, 9, 12};
  const uint16_t ask[] = {0, 1, 2, 3, 9, 12, 13};
  const size_t before[] = {0, 0, 1, 1, 4, 5, 6};
  const size_t not_behind[] = {0, 1, 1, 4, 5, 6, 6};
  const struct pems_record r = {.size = 2, .key = PEMS_KEY_U16};
  for (int i = 0; i < 7; i++) {
    ck_assert_uint_eq(record_rank(&r, key, 6, &ask[i], 0), before[i]);
    ck_assert_uint_eq(record_rank(&r, key, 6, &ask[i], 1), not_behind[i]);
    ck_assert_uint_eq(record_rank(&r, key, 0, &ask[i], 1), 0);
  }
}
END_TEST

START_TEST(orders_of_many) {
  static const uint32_t up[] = {1, 1, 2, 7, 7, 9}, down[] = {9, 8, 8, 3, 3, 0},
                        mixed[] = {1, 2, 3, 4, 5, 4},
                        same[] = {4, 4, 4, 4, 4, 4};
  const struct {
    const uint32_t *key;
    size_t ordered, reversed; /* of the first ones, how many */
  } cases[] = {{up, 6, 2}, {down, 1, 6}, {mixed, 5, 1}, {same, 6, 6}};
  for (int i = 0; i < 8; i++) {
    struct pems_record r = {.size = 4, .key = PEMS_KEY_U32};
    struct record_order o;
    r.descending = i >= 4; /* the same the other way round */
    record_order(&r, &o);
    ck_assert_uint_eq(record_ordered(&o, cases[i % 4].key, 6, i >= 4),
                      cases[i % 4].ordered);
    ck_assert_uint_eq(record_ordered(&o, cases[i % 4].key, 6, i < 4),
                      cases[i % 4].reversed);
    ck_assert_int_eq(record_in_order(&o, cases[i % 4].key, 6, i >= 4),
                     cases[i % 4].ordered == 6);
    ck_assert_int_eq(record_in_order(&o, cases[i % 4].key, 6, i < 4),
                     cases[i % 4].reversed == 6);
    ck_assert(record_in_order(&o, mixed, 1, i % 2));
    ck_assert(record_in_order(&o, mixed, 0, i % 2));
  }
}
END_TEST

START_TEST(copies_of_any_length) {
  char from[300], to[302];
  for (int i = 0; i < 300; i++) {
    from[i] = (char)(i * 7 + 1);
  }
  for (size_t n = 1; n <= sizeof(from); n++) {
    memset(to, 0, sizeof(to));
    record_copy(to + 1, from, n);
    ck_assert_int_eq(memcmp(to + 1, from, n), 0);
    ck_assert_int_eq(to[0], 0);
    ck_assert_int_eq(to[n + 1], 0);
  }
}
END_TEST

int main(void) {
  Suite *const s = suite_create("record");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 60);
  tcase_add_test(t, wrong_records_are_refused);
  tcase_add_test(t, right_records_are_not);
  tcase_add_loop_test(t, keys_of_every_type_are_ordered, 0, 7);
  tcase_add_test(t, floats_are_in_the_total_order);
  tcase_add_test(t, reals_are_ordered_as_less_has_it);
  tcase_add_test(t, ranks);
  tcase_add_test(t, orders_of_many);
  tcase_add_test(t, copies_of_any_length);
  suite_add_tcase(s, t);
  return check_run(s);
}
