/* What ranks get copies of, and what all share. */
#define _GNU_SOURCE
#include "context/image/original.h"

#include "context/image/opened_set.h"
#include "opened_check.h"

static int told;
static char told_name[PATH_MAX], told_why[256];

static void note(const struct link_map *map, const char *text) {
  told++;
  snprintf(told_name, sizeof(told_name), "%s", map->l_name);
  snprintf(told_why, sizeof(told_why), "%s", text ? text : "");
}

static void share(const char *list) {
  free(file->shared);
  file->shared = strdup(list);
  original_on_shared(note);
}

START_TEST(what_is_opened_is_copied) {
  original_on_shared(note);
  struct opened *o = open_it(0, "libouter.so", RTLD_NOW);
  ck_assert_msg(o != NULL, "%s", why.text);
  ck_assert_int_eq(o->of->kind, ORIGINAL_OPENED);
  ck_assert_ptr_null(opened_stray(o));
  ck_assert_int_eq(told, 0);
  close_it(0, o);
}
END_TEST

START_TEST(what_the_user_shares_is_no_stray) {
  share("libinner,libouter");
  struct opened *o = open_it(0, "libouter.so", RTLD_NOW);
  ck_assert_msg(o != NULL, "%s", why.text);
  ck_assert_int_eq(o->of->kind, ORIGINAL_SHARED);
  ck_assert_ptr_null(opened_stray(o));
  ck_assert_int_eq(told, 2);
  ck_assert_str_eq(told_why, "");
  close_it(0, o);
}
END_TEST

/* All ranks are told, not only the one that opens it first. */
START_TEST(what_is_shared_for_that_is_a_stray) {
  share("libouter");
  for (int i = 0; i < 2; i++) {
    struct opened *o = open_it(i, "libouter.so", RTLD_NOW);
    ck_assert_msg(o != NULL, "%s", why.text);
    ck_assert_ptr_nonnull(opened_stray(o));
    ck_assert_ptr_nonnull(strstr(opened_stray(o), "libinner.so"));
    close_it(i, o);
  }
  ck_assert_int_eq(told, 2);
  ck_assert_ptr_nonnull(strstr(told_name, "libinner.so"));
  ck_assert_str_eq(told_why, "a shared library needs it");
}
END_TEST

/* In copies of what the process uses nothing has happened yet. */
START_TEST(what_the_process_had_before_is_copied) {
  void *before = dlopen(in_dir("libinner.so"), RTLD_NOW);
  ck_assert_ptr_nonnull(before);
  int *const value = dlsym(before, "value");
  *value = 77;
  original_on_shared(note);
  struct opened *o[2];
  for (int i = 0; i < 2; i++) {
    o[i] = open_it(i, i ? "libinner.so" : "libouter.so", RTLD_NOW);
    ck_assert_msg(o[i] != NULL, "%s", why.text);
    ck_assert_int_eq(o[i]->of->kind, ORIGINAL_OPENED);
    ck_assert_ptr_null(opened_stray(o[i]));
    int *const copy = find(i, o[i], "value");
    ck_assert_ptr_ne(copy, value);
    ck_assert_int_eq(*copy, 6); /* constructed */
    ck_assert_ptr_eq(*(int **)find(i, o[i], "thread"), copy);
    (*copy)++;
  }
  ck_assert_int_eq(*call(0, o[0], "where"), 7);
  ck_assert_int_eq(**(int **)find(0, o[0], "at"), 2);
  ck_assert_int_eq(*value, 77);
  ck_assert_int_eq(told, 0);
  close_it(1, o[1]);
  close_it(0, o[0]);
  ck_assert_int_eq(*value, 77);
  dlclose(before);
}
END_TEST

START_TEST(what_cannot_be_copied_any_more_is_a_stray) {
  void *before = dlopen(in_dir("libinner.so"), RTLD_NOW);
  ck_assert_ptr_nonnull(before);
  build("other", "int value = 7, more[100000] = {1};", "");
  char from[PATH_MAX];
  snprintf(from, sizeof(from), "%s", in_dir("libother.so"));
  ck_assert_int_eq(rename(from, in_dir("libinner.so")), 0);
  original_on_shared(note);
  struct opened *o = open_it(0, "libinner.so", RTLD_NOW);
  ck_assert_msg(o != NULL, "%s", why.text);
  ck_assert_int_eq(o->of->kind, ORIGINAL_SHARED);
  ck_assert_ptr_nonnull(strstr(opened_stray(o), "libinner.so"));
  ck_assert_int_eq(told, 1);
  ck_assert_str_eq(told_why, "its file was replaced");
  close_it(0, o);
  dlclose(before);
}
END_TEST

/* Those that came with the program are those that all find. */
START_TEST(what_came_with_the_process_stays) {
  struct opened *o = opened_open(&img[0], NULL, "libm.so.6", RTLD_NOW, &why);
  ck_assert_ptr_nonnull(o);
  ck_assert_int_eq(o->of->kind, ORIGINAL_SHARED);
  ck_assert(o->of->in_scope);
  ck_assert_ptr_null(opened_stray(o));
}
END_TEST

START_TEST(the_program_is_no_stray) {
  struct opened *o = opened_open(&img[0], NULL, NULL, RTLD_NOW, &why);
  ck_assert_ptr_nonnull(o);
  ck_assert_ptr_null(opened_stray(o));
}
END_TEST

int main(void) {
  const TTest *const tests[] = {what_is_opened_is_copied,
                                what_the_user_shares_is_no_stray,
                                what_is_shared_for_that_is_a_stray,
                                what_the_process_had_before_is_copied,
                                what_cannot_be_copied_any_more_is_a_stray,
                                what_came_with_the_process_stays,
                                the_program_is_no_stray,
                                NULL};
  return opened_check_main("original", tests);
}
