/* What each copy of a program is told that there is. */
#define _GNU_SOURCE
#include "opened_check.h"

#include "context/image/opened_list.h"

enum { MOST = 256 };
static struct dl_phdr_info list[MOST];

static int have(int i) {
  const int n = opened_list(&img[i], list, MOST);
  ck_assert_int_le(n, MOST);
  return n;
}

/* How many of the list have an address; *which is the last of them. Not the
   first: the headers of a copy of the program are this one's, which is larger,
   so that the next lies within. */
static int holders(int n, const void *p, const struct dl_phdr_info **which) {
  int found = 0;
  for (int i = 1; i < n; i++) {
    for (int s = 0; s < list[i].dlpi_phnum; s++) {
      const ElfW(Phdr) *const h = &list[i].dlpi_phdr[s];
      if (h->p_type == PT_LOAD &&
          (uintptr_t)p - list[i].dlpi_addr - h->p_vaddr < h->p_memsz) {
        found++;
        *which = &list[i];
      }
    }
  }
  return found;
}

static int begun_at(int n, const char *base) {
  int found = 0;
  for (int i = 0; i < n; i++) {
    found += list[i].dlpi_addr == (ElfW(Addr))base;
  }
  return found;
}

START_TEST(each_has_its_own_once) {
  const struct dl_phdr_info *info = NULL;
  struct opened *const a = open_it(0, "libouter.so", RTLD_NOW);
  struct opened *const b = open_it(1, "libouter.so", RTLD_NOW);
  int *const value = find(1, b, "value");
  ck_assert_ptr_ne(find(0, a, "value"), value);
  int n = have(0);
  ck_assert_int_eq(holders(n, find(0, a, "value"), &info), 1);
  ck_assert_ptr_nonnull(strstr(info->dlpi_name, "/libinner.so"));
  ck_assert_int_eq(holders(n, value, &info), 0);
  ck_assert_str_eq(list[0].dlpi_name, "");
  ck_assert_ptr_eq((void *)list[0].dlpi_addr, img[0].base);
  ck_assert_int_eq(begun_at(n, img[0].base), 1);
  ck_assert_int_eq(begun_at(n, img[1].base), 0);
  n = have(1);
  ck_assert_int_eq(holders(n, value, &info), 1);
  ck_assert_int_eq(holders(n, (void *)(uintptr_t)strtol, &info), 1);
}
END_TEST

START_TEST(thread_local_data_are_those_of_who_asks) {
  const struct dl_phdr_info *info = NULL;
  struct opened *const o = open_it(0, "libinner.so", RTLD_NOW);
  const char *const data = find(0, o, "thread");
  ck_assert_int_eq(holders(have(0), find(0, o, "value"), &info), 1);
  ck_assert_uint_ne(info->dlpi_tls_modid, 0);
  ck_assert_uint_lt(data - (const char *)info->dlpi_tls_data, 64);
}
END_TEST

START_TEST(what_was_not_opened_or_is_closed_is_not_there) {
  const int before = have(0);
  struct opened *const o = open_it(0, "libouter.so", RTLD_NOW);
  ck_assert_int_eq(have(0), before + 2);
  ck_assert_int_eq(have(1), before);
  close_it(0, o);
  ck_assert_int_eq(have(0), before);
}
END_TEST

START_TEST(a_short_list_is_filled_and_all_are_counted) {
  const int n = have(0);
  ck_assert_int_gt(n, 2);
  memset(list, 0, sizeof(list));
  ck_assert_int_eq(opened_list(&img[0], list, 2), n);
  ck_assert_ptr_nonnull(list[1].dlpi_phdr);
  ck_assert_ptr_null(list[2].dlpi_phdr);
  ck_assert_int_eq(opened_list(&img[0], NULL, 0), n);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      each_has_its_own_once, thread_local_data_are_those_of_who_asks,
      what_was_not_opened_or_is_closed_is_not_there,
      a_short_list_is_filled_and_all_are_counted, NULL};
  return opened_check_main("opened_list", tests);
}
