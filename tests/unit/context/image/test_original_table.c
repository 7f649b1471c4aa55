/* What is known of the libraries that ld.so has loaded; here, nothing is: their
   maps are made up. */
#define _GNU_SOURCE
#include "context/image/original_table.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "check_main.h"
#include "check_memory.h"
#include "os/native.h"

/* More than there is room for at first. */
enum { MAPS = 300 };
static struct link_map map[MAPS];

/* "/lib/libN.so", which says that it is libN.so.1. A table of strings lies
   behind the base. */
static struct library {
  char image[4096], strings[32], name[32];
  ElfW(Dyn) dynamic[3];
} library[MAPS];

static void set_up(void) {
  for (int i = 0; i < MAPS; i++) {
    struct library *const l = &library[i];
    snprintf(l->name, sizeof(l->name), "/lib/lib%d.so", i);
    snprintf(l->strings, sizeof(l->strings), "lib%d.so.1", i);
    l->dynamic[0] = (ElfW(Dyn)){DT_STRTAB, {(uintptr_t)l->strings}};
    l->dynamic[1] = (ElfW(Dyn)){DT_SONAME, {0}};
    map[i] = (struct link_map){
        .l_addr = (uintptr_t)l->image, .l_name = l->name, .l_ld = l->dynamic};
  }
}

static int add_all(void *unused) {
  (void)unused;
  int code = 0;
  for (int i = 0; i < MAPS && !code; i++) {
    errno = 0;
    code = original_add(&map[i]) ? 0 : errno;
  }
  original_table_end();
  return code;
}

START_TEST(each_is_found_by_map_number_and_names) {
  for (int i = 0; i < MAPS; i++) {
    ck_assert_ptr_null(original_find(&map[i]));
    struct original *const o = original_of(&map[i]);
    ck_assert_int_eq(o->index, i);
    ck_assert_int_eq(o->kind, ORIGINAL_SHARED);
    ck_assert(o->constructed && !o->bound);
    ck_assert_ptr_eq(original_of(&map[i]), o);
  }
  ck_assert_int_eq(original_count(), MAPS);
  for (int i = 0; i < MAPS; i++) {
    struct original *const o = original_find(&map[i]);
    ck_assert_ptr_eq(original_number(i), o);
    ck_assert_ptr_eq(original_named(library[i].name), o);
    ck_assert_ptr_eq(original_named(library[i].name + strlen("/lib/")), o);
    ck_assert_ptr_eq(original_named(library[i].strings), o);
  }
  ck_assert_ptr_null(original_named("lib.so"));
  original_table_end();
  ck_assert_int_eq(original_count(), 0);
  ck_assert_ptr_null(original_find(&map[0]));
}
END_TEST

START_TEST(what_is_shared_holds_no_address) {
  const struct image_file file = {.low = 512, .high = 1024};
  struct original *const shared = original_add(&map[0]);
  struct original *const copied = original_add(&map[1]);
  copied->kind = ORIGINAL_LINKED;
  copied->file = &file;
  ck_assert(!original_holds(shared, library[0].image + 512));
  ck_assert_ptr_null(original_at(library[0].image + 512));
  ck_assert_ptr_null(original_at(library[1].image + 511));
  ck_assert_ptr_eq(original_at(library[1].image + 512), copied);
  ck_assert_ptr_eq(original_at(library[1].image + 1023), copied);
  ck_assert_ptr_null(original_at(library[1].image + 1024));
  ck_assert_ptr_null(original_at(NULL));
  original_table_end();
}
END_TEST

START_TEST(one_is_added_or_not) {
  memory_every(add_all, NULL, ENOMEM, MEMORY_NEEDED);
}
END_TEST

/* What it has is its own. */
START_TEST(nothing_is_left_at_the_end) {
  const long before = atomic_load(&check_memory.live);
  struct original *const o = original_add(&map[0]);
  o->pristine = native_alloc(1);
  o->word = native_alloc(sizeof(*o->word));
  o->need = native_alloc(sizeof(*o->need));
  original_table_end();
  ck_assert_int_eq(atomic_load(&check_memory.live), before);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("original_table");
  TCase *const all = tcase_create("all");
  tcase_set_timeout(all, 60);
  tcase_add_checked_fixture(all, set_up, NULL);
  tcase_add_test(all, each_is_found_by_map_number_and_names);
  tcase_add_test(all, what_is_shared_holds_no_address);
  tcase_add_test(all, one_is_added_or_not);
  tcase_add_test(all, nothing_is_left_at_the_end);
  suite_add_tcase(suite, all);
  return check_run(suite);
}
