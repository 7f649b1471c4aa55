/* The kernel "digits": records of 24 and 32 bytes, moved whole. */
#define _GNU_SOURCE
#include "em/kernel/kernels.h"

#include "check_main.h"
#include "kernel_check.h"

static const size_t sizes[] = {24, 32};
static const enum pems_key types[] = {PEMS_KEY_U64, PEMS_KEY_I64, PEMS_KEY_F64,
                                      PEMS_KEY_BYTES, PEMS_KEY_REAL64};
enum { SIZES = 2, TYPES = 5 };

START_TEST(every_key_at_every_place) {
  struct pems_record r = {.size = sizes[_i / TYPES], .key_size = 8};
  r.key = types[_i % TYPES];
  for (r.key_offset = 0; r.key_offset < r.size; r.key_offset += 8) {
    for (r.descending = 0; r.descending < 2; r.descending++) {
      for (int keys = 0; keys < KEYS_KINDS; keys++) {
        check_payload(&kernel_digits, &r, (enum keys)keys, 300);
        check_payload(&kernel_digits, &r, (enum keys)keys, 20001);
        check_merge(&kernel_digits, &r, (enum keys)keys, 17, 300, keys % 2);
      }
    }
  }
}
END_TEST

START_TEST(any_number_of_records_and_threads) {
  static const size_t counts[] = {0,  1,    2,    3,    23,    24,   25,
                                  26, 2047, 2048, 2049, 8191,  8192, 8193,
                                  40, 4096, 5000, 300,  65536, 70000};
  for (int s = 0; s < SIZES; s++) {
    struct pems_record r = {.size = sizes[s], .key = PEMS_KEY_I64};
    r.key_offset = (size_t)_i % 3 * 8;
    for (int k = 1; k <= 4; k++) {
      check_sort(&kernel_digits, &r, (enum keys)((k + s) % KEYS_KINDS), k,
                 counts[_i]);
    }
    check_sort(&kernel_digits, &r, KEYS_RANDOM, 13, counts[_i]);
  }
}
END_TEST

/* Dealt twice, and more. */
START_TEST(many_records) {
  const struct pems_record r = {.size = sizes[_i], .key = PEMS_KEY_U64};
  check_payload(&kernel_digits, &r, KEYS_RANDOM, 700001);
  check_payload(&kernel_digits, &r, KEYS_FEW, 700001);
}
END_TEST

static void check_array(const struct pems_record *r, enum keys keys, size_t n) {
  char *const records = make_records(r, keys, n);
  char *const before = native_alloc(n * r->size + 1);
  ck_assert_uint_eq(kernel_digits.array_work(r, n), 0);
  memcpy(before, records, n * r->size);
  kernel_digits.array(r, records, n, NULL);
  for (size_t i = 1; i < n; i++) {
    ck_assert_int_le(
        reference_order(r, records + (i - 1) * r->size, records + i * r->size),
        0);
  }
  check_all_there(records, before, n, r->size);
  native_free(records);
  native_free(before);
}

START_TEST(arrays) {
  struct pems_record r = {.size = sizes[_i / TYPES], .key_size = 8};
  r.key = types[_i % TYPES];
  r.key_offset = 16;
  for (int keys = 0; keys < KEYS_KINDS; keys++) {
    for (r.descending = 0; r.descending < 2; r.descending++) {
      check_array(&r, (enum keys)keys, 1);
      check_array(&r, (enum keys)keys, 5001);
    }
  }
}
END_TEST

START_TEST(refuses_all_else) {
  struct pems_record r = {.size = 24, .key = PEMS_KEY_U64};
  ck_assert_ptr_eq(kernel_find(&r, NULL), &kernel_digits);
  r.stable = 1;
  ck_assert(!kernel_digits.fits(&r));
  r.stable = 0;
  r.key_offset = 4;
  ck_assert(!kernel_digits.fits(&r));
  r.key_offset = 24;
  ck_assert(!kernel_digits.fits(&r));
  r.key_offset = 16;
  r.key = PEMS_KEY_U32;
  ck_assert(!kernel_digits.fits(&r));
  r.key = PEMS_KEY_BYTES;
  r.key_size = 7;
  ck_assert(!kernel_digits.fits(&r));
  r = (struct pems_record){.size = 40, .key = PEMS_KEY_U64};
  ck_assert(!kernel_digits.fits(&r));
}
END_TEST

int main(void) {
  Suite *const s = suite_create("kernel_digits");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 120);
  tcase_add_loop_test(t, every_key_at_every_place, 0, SIZES * TYPES);
  tcase_add_loop_test(t, any_number_of_records_and_threads, 0, 20);
  tcase_add_loop_test(t, many_records, 0, SIZES);
  tcase_add_loop_test(t, arrays, 0, SIZES * TYPES);
  tcase_add_test(t, refuses_all_else);
  suite_add_tcase(s, t);
  return check_run(s);
}
