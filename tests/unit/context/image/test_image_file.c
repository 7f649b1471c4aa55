/* What is read of a file; how files are read: test_image.c. */
#include "check_main.h"
#include "context/image/image_file.h"

#include <check.h>

START_TEST(relocations_of_both_tables_are_numbered) {
  Elf64_Rela of_data[2], of_calls[3];
  struct image_file f = {.relocations = {{of_data, 2, 0}, {of_calls, 3, 0}}};
  for (int i = 0; i < 5; i++) {
    const Elf64_Rela *const wanted = i < 2 ? &of_data[i] : &of_calls[i - 2];
    ck_assert_ptr_eq(image_file_relocation(&f, (size_t)i), wanted);
  }
  ck_assert_ptr_null(image_file_relocation(&f, 5));
  f.relocations[0].n = 0;
  ck_assert_ptr_eq(image_file_relocation(&f, 0), &of_calls[0]);
  f.relocations[1].n = 0;
  ck_assert_ptr_null(image_file_relocation(&f, 0));
}
END_TEST

int main(void) {
  Suite *suite = suite_create("image_file");
  TCase *t = tcase_create("image_file");
  tcase_add_test(t, relocations_of_both_tables_are_numbered);
  suite_add_tcase(suite, t);
  return check_run(suite);
}
