/* Kinds of relocations. */
#include "check_main.h"
#include "context/image/relocation.h"

#include <check.h>

START_TEST(packed_relative_relocations_are_walked) {
  /* A word at 0x1000, then of the next 63 the first, the third and the last;
     then of 63 more the second; then a word alone. */
  const uint64_t table[] = {0x1000, (UINT64_C(1) << 63) | 5 << 1 | 1,
                            2 << 1 | 1, 0x9000};
  const uint64_t wanted[] = {0x1000,          0x1008,          0x1018,
                             0x1008 + 62 * 8, 0x1008 + 64 * 8, 0x9000};
  struct relocation_walk w = {.at = table, .left = 4};
  uint64_t at;
  for (int i = 0; i < 6; i++) {
    ck_assert(relocation_next_relr(&w, &at));
    ck_assert_uint_eq(at, wanted[i]);
  }
  ck_assert(!relocation_next_relr(&w, &at));
}
END_TEST

START_TEST(an_empty_table_has_none) {
  struct relocation_walk w = {0};
  uint64_t at;
  ck_assert(!relocation_next_relr(&w, &at));
}
END_TEST

#if defined __x86_64__
START_TEST(kinds_are_told_apart) {
  const Elf64_Rela symbol = {.r_info = ELF64_R_INFO(3, R_X86_64_64),
                             .r_addend = 16};
  const Elf64_Rela call = {.r_info = ELF64_R_INFO(3, R_X86_64_JUMP_SLOT),
                           .r_addend = 99};
  const Elf64_Rela own = {.r_info = ELF64_R_INFO(0, R_X86_64_RELATIVE)};
  const Elf64_Rela chosen = {.r_info = ELF64_R_INFO(0, R_X86_64_IRELATIVE)};
  const Elf64_Rela tls = {.r_info = ELF64_R_INFO(3, R_X86_64_TPOFF64)};
  const Elf64_Rela pair = {.r_info = ELF64_R_INFO(3, R_X86_64_TLSDESC)};
  ck_assert(relocation_is_symbol(&symbol) && !relocation_is_own(&symbol));
  ck_assert_uint_eq(relocation_addend(&symbol), 16);
  ck_assert(relocation_is_symbol(&call) && relocation_is_call(&call));
  ck_assert_uint_eq(relocation_addend(&call), 0);
  ck_assert(relocation_is_own(&own) && !relocation_is_symbol(&own));
  ck_assert(relocation_is_own(&chosen) && relocation_is_chosen(&chosen));
  ck_assert(!relocation_is_chosen(&own) && !relocation_is_chosen(&call));
  ck_assert(relocation_is_tls(&tls) && !relocation_is_symbol(&tls));
  ck_assert_int_eq(relocation_tls_words(&tls), 1);
  ck_assert_int_eq(relocation_tls_words(&pair), 2);
}
END_TEST
#endif

int main(void) {
  Suite *suite = suite_create("relocation");
  TCase *t = tcase_create("relocation");
  tcase_add_test(t, packed_relative_relocations_are_walked);
  tcase_add_test(t, an_empty_table_has_none);
#if defined __x86_64__
  tcase_add_test(t, kinds_are_told_apart);
#endif
  suite_add_tcase(suite, t);
  return check_run(suite);
}
