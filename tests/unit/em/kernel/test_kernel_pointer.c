/* The kernel "pointer": key sorting. */
#define _GNU_SOURCE
#include "em/kernel/kernels.h"

#include "check_main.h"
#include "kernel_check.h"

static const size_t sizes[] = {12, 13, 16, 24, 31, 33, 100, 128, 4096};

static void sort_some(const struct kernel *kernel, const struct pems_record *r,
                      enum keys keys) {
  check_sort(kernel, r, keys, 1, 700);
  check_sort(kernel, r, keys, 2, r->size > 100 ? 10 : 9001);
}

static void merge_some(const struct kernel *kernel, const struct pems_record *r,
                       enum keys keys) {
  check_merge(kernel, r, keys, 3, 90, 0);
  check_merge(kernel, r, keys, 17, 30, 1);
}

START_TEST(sorts_every_type_of_key) {
  check_types(&kernel_pointer, sizes[_i], sort_some);
}
END_TEST

START_TEST(merges_every_type_of_key) {
  check_types(&kernel_pointer, sizes[_i], merge_some);
}
END_TEST

START_TEST(any_number_of_records_and_threads) {
  static const size_t counts[] = {0,  1,  2,  3,    7,    8,    9,     15,   16,
                                  17, 31, 33, 4095, 4096, 4097, 12288, 50000};
  struct pems_record r = {.size = 12, .key = PEMS_KEY_I16, .stable = 1};
  for (int i = 0; i < 2; i++, r.size = 40) {
    for (int k = 1; k <= 4; k++) {
      check_sort(&kernel_pointer, &r, KEYS_RANDOM, k, counts[_i]);
    }
    check_sort(&kernel_pointer, &r, KEYS_FEW, 200, counts[_i]);
  }
}
END_TEST

/* More parts than are merged on a stack: they are fewer then. */
START_TEST(many_threads) {
  const struct pems_record r = {.size = 12, .key = PEMS_KEY_U32, .stable = 1};
  check_sort(&kernel_pointer, &r, KEYS_RANDOM, 200, 600000);
}
END_TEST

/* Keys of 60 bytes that differ after `_i` bytes, each in three values. */
START_TEST(long_keys_with_long_beginnings_in_common) {
  enum { N = 6000, SIZE = 64, KEY = 60 };
  struct pems_record r = {
      .size = SIZE, .key = PEMS_KEY_BYTES, .key_size = KEY, .stable = 1};
  char *const records = make_records(&r, KEYS_EQUAL, N);
  for (int i = 0; i < N; i++) {
    records[i * SIZE + _i] = (char)(key_random() % 3 - 1);
    records[i * SIZE + KEY - 1] = (char)(key_random() % 3 - 1);
    records[i * SIZE + KEY / 2] = (char)(key_random() % 3 - 1);
  }
  for (int k = 1; k <= 3; k++) {
    for (r.descending = 0; r.descending < 2; r.descending++) {
      char *const want = reference_sorted(&r, records, N);
      char *const got = kernel_sorted(&kernel_pointer, &r, k, records, N);
      check_same(&r, got, want, N);
      native_free(want);
      native_free(got);
    }
  }
  native_free(records);
}
END_TEST

START_TEST(one_long_key_for_all) {
  const struct pems_record r = {
      .size = 2052, .key = PEMS_KEY_BYTES, .key_size = 2048, .stable = 1};
  check_sort(&kernel_pointer, &r, KEYS_EQUAL, 2, 9000);
  check_sort(&kernel_pointer, &r, KEYS_PREFIX, 2, 9000);
  check_sort(&kernel_pointer, &r, KEYS_FEW, 2, 9000);
}
END_TEST

static int by_nothing(const void *a, const void *b, void *context) {
  (void)a, (void)b, (void)context;
  return 0;
}

START_TEST(refuses_what_has_no_prefix) {
  struct pems_record r = {.size = 100, .key = PEMS_KEY_U64};
  ck_assert(kernel_pointer.fits(&r));
  r.compare = by_nothing;
  ck_assert(!kernel_pointer.fits(&r));
  r.compare = NULL;
  r.key_offset = 93;
  ck_assert(!kernel_pointer.fits(&r));
}
END_TEST

int main(void) {
  Suite *const s = suite_create("kernel_pointer");
  TCase *const t = tcase_create("all");
  const int n = sizeof(sizes) / sizeof(*sizes);
  tcase_set_timeout(t, 120);
  tcase_add_loop_test(t, sorts_every_type_of_key, 0, n);
  tcase_add_loop_test(t, merges_every_type_of_key, 0, n);
  tcase_add_loop_test(t, any_number_of_records_and_threads, 0, 17);
  tcase_add_loop_test(t, long_keys_with_long_beginnings_in_common, 0, 60);
  tcase_add_test(t, one_long_key_for_all);
  tcase_add_test(t, refuses_what_has_no_prefix);
  tcase_add_test(t, many_threads);
  suite_add_tcase(s, t);
  return check_run(s);
}
