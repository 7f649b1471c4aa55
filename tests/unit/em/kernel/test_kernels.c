/* Which kernel is taken. */
#include "em/kernel/kernels.h"

#include <check.h>
#include <errno.h>
#include <string.h>

#include "check_main.h"

static int by_nothing(const void *a, const void *b, void *context) {
  (void)a, (void)b, (void)context;
  return 0;
}

START_TEST(names_are_unique_and_kernels_complete) {
  for (const struct kernel *const *k = kernels; *k; k++) {
    ck_assert_str_ne((*k)->name, "");
    ck_assert_str_ne((*k)->help, "");
    ck_assert((*k)->fits && (*k)->sort_work && (*k)->sort && (*k)->compare &&
              (*k)->rank && (*k)->merge_work && (*k)->merge);
    for (const struct kernel *const *other = kernels; other < k; other++) {
      ck_assert_str_ne((*k)->name, (*other)->name);
    }
  }
}
END_TEST

START_TEST(any_right_record_finds_one) {
  for (size_t size = 1; size <= PEMS_RECORD_MOST; size += size) {
    for (enum pems_key key = PEMS_KEY_U8; key <= PEMS_KEY_BYTES; key++) {
      const struct pems_record r = {.size = size, .key = key, .key_size = 1};
      const struct kernel *const kernel = kernel_find(&r, NULL);
      ck_assert_int_eq(kernel != NULL, pems_record_check(&r, NULL) == 0);
      if (kernel) {
        ck_assert(kernel->fits(&r));
      }
    }
  }
}
END_TEST

START_TEST(the_first_that_fits_is_taken) {
  struct pems_record r = {
      .size = 100, .key = PEMS_KEY_BYTES, .key_size = 10, .stable = 1};
  ck_assert_ptr_eq(kernel_find(&r, NULL), &kernel_pointer);
  r.compare = by_nothing;
  ck_assert_ptr_eq(kernel_find(&r, NULL), &kernel_tree);
}
END_TEST

START_TEST(by_name) {
  struct pems_record r = {.size = 100, .key = PEMS_KEY_U64};
  ck_assert_ptr_eq(kernel_find(&r, "tree"), &kernel_tree);
  ck_assert_ptr_eq(kernel_find(&r, "pointer"), &kernel_pointer);
  ck_assert_ptr_null(kernel_find(&r, "bogo"));
  ck_assert_ptr_null(kernel_find(&r, ""));
  r.compare = by_nothing;
  ck_assert_ptr_null(kernel_find(&r, "pointer"));
}
END_TEST

START_TEST(there_is_none) {
  struct pems_record r = {.size = 100, .key = PEMS_KEY_U64};
  struct pems_error error;
  ck_assert_ptr_eq(kernel_choose(&r, "tree", &error), &kernel_tree);
  ck_assert_ptr_null(kernel_choose(&r, "word", &error));
  ck_assert_int_eq(error.code, EINVAL);
  ck_assert_str_eq(error.text, "kernel: word: unknown, or not for such "
                               "records: leave it out");
  ck_assert_ptr_null(kernel_choose(&r, "bogo", NULL));
}
END_TEST

int main(void) {
  Suite *const s = suite_create("kernels");
  TCase *const t = tcase_create("all");
  tcase_add_test(t, names_are_unique_and_kernels_complete);
  tcase_add_test(t, any_right_record_finds_one);
  tcase_add_test(t, the_first_that_fits_is_taken);
  tcase_add_test(t, by_name);
  tcase_add_test(t, there_is_none);
  suite_add_tcase(s, t);
  return check_run(s);
}
