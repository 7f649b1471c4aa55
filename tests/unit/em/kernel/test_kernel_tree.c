/* The kernel "tree": any records. */
#define _GNU_SOURCE
#include "em/kernel/kernels.h"

#include "check_main.h"
#include "kernel_check.h"

static const size_t sizes[] = {1, 2, 3, 4, 7, 8, 12, 16, 17, 31, 33, 100, 4096};

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
  check_types(&kernel_tree, sizes[_i], sort_some);
}
END_TEST

START_TEST(merges_every_type_of_key) {
  check_types(&kernel_tree, sizes[_i], merge_some);
}
END_TEST

/* By the sum of the first bytes: many are equal. */
static int by_sum(const void *a, const void *b, void *context) {
  const unsigned char *const x = a, *const y = b;
  const size_t n = *(const size_t *)context;
  int sum = 0;
  for (size_t i = 0; i < n; i++) {
    sum += x[i] - y[i];
  }
  return sum;
}

START_TEST(sorts_and_merges_by_a_function) {
  const size_t bytes = sizes[_i] < 5 ? sizes[_i] : 5;
  const struct pems_record r = {.size = sizes[_i],
                                .stable = 1,
                                .compare = by_sum,
                                .context = (void *)&bytes};
  for (int k = 1; k <= 4; k++) {
    check_sort(&kernel_tree, &r, KEYS_RANDOM, k, sizes[_i] > 100 ? 999 : 20000);
  }
  check_sort(&kernel_tree, &r, KEYS_EQUAL, 2, 9000);
  check_merge(&kernel_tree, &r, KEYS_RANDOM, 40, 100, 1);
}
END_TEST

START_TEST(sorts_records_longer_than_keys_allow) {
  const size_t bytes = 7;
  const struct pems_record r = {
      .size = 10001, .stable = 1, .compare = by_sum, .context = (void *)&bytes};
  ck_assert(kernel_tree.fits(&r));
  check_sort(&kernel_tree, &r, KEYS_RANDOM, 2, 300);
  check_merge(&kernel_tree, &r, KEYS_RANDOM, 5, 20, 1);
}
END_TEST

START_TEST(any_number_of_records_and_threads) {
  static const size_t counts[] = {0,  1,  2,  3,    7,    8,    9,     15,   16,
                                  17, 31, 33, 4095, 4096, 4097, 12288, 50000};
  struct pems_record r = {.size = 12, .key = PEMS_KEY_U16, .stable = 1};
  for (int i = 0; i < 2; i++, r.size = 40) {
    for (int k = 1; k <= 4; k++) {
      check_sort(&kernel_tree, &r, KEYS_RANDOM, k, counts[_i]);
    }
    check_sort(&kernel_tree, &r, KEYS_FEW, 200, counts[_i]);
  }
}
END_TEST

/* More parts than are merged on a stack: they are fewer then. */
START_TEST(many_threads) {
  const struct pems_record r = {.size = 12, .key = PEMS_KEY_U32, .stable = 1};
  check_sort(&kernel_tree, &r, KEYS_RANDOM, 200, 600000);
}
END_TEST

START_TEST(merges_any_number_of_pieces) {
  static const int counts[] = {0, 1, 2, 3, 4, 5, 8, 9, 16, 33, 64, 65, 300};
  const struct pems_record r = {.size = 8, .key = PEMS_KEY_U32, .stable = 1};
  const struct pems_record l = {
      .size = 24, .key = PEMS_KEY_BYTES, .key_size = 20, .stable = 1};
  for (enum keys keys = 0; keys < KEYS_KINDS; keys++) {
    check_merge(&kernel_tree, &r, keys, counts[_i], 40, 0);
    check_merge(&kernel_tree, &l, keys, counts[_i], 40, 0);
  }
}
END_TEST

/* The largest key there is comes before what is no key. */
START_TEST(the_largest_key_is_a_key) {
  const struct pems_record r = {.size = 8, .key = PEMS_KEY_U64, .stable = 1};
  uint64_t a[3] = {1, UINT64_MAX, UINT64_MAX}, b[1] = {UINT64_MAX}, out[4];
  const struct kernel_piece piece[] = {
      {(char *)a, 3}, {NULL, 0}, {(char *)b, 1}};
  _Alignas(64) char work[1024];
  ck_assert_uint_le(kernel_tree.merge_work(&r, 3), sizeof(work));
  kernel_tree.merge(&r, piece, 3, out, work, 1);
  ck_assert_uint_eq(out[0], 1);
  for (int i = 1; i < 4; i++) {
    ck_assert_uint_eq(out[i], UINT64_MAX);
  }
}
END_TEST

int main(void) {
  Suite *const s = suite_create("kernel_tree");
  TCase *const t = tcase_create("all");
  const int n = sizeof(sizes) / sizeof(*sizes);
  tcase_set_timeout(t, 120);
  tcase_add_loop_test(t, sorts_every_type_of_key, 0, n);
  tcase_add_loop_test(t, merges_every_type_of_key, 0, n);
  tcase_add_loop_test(t, sorts_and_merges_by_a_function, 0, n);
  tcase_add_test(t, sorts_records_longer_than_keys_allow);
  tcase_add_loop_test(t, any_number_of_records_and_threads, 0, 17);
  tcase_add_loop_test(t, merges_any_number_of_pieces, 0, 13);
  tcase_add_test(t, the_largest_key_is_a_key);
  tcase_add_test(t, many_threads);
  suite_add_tcase(s, t);
  return check_run(s);
}
