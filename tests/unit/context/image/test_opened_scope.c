/* What is behind a library. */
#define _GNU_SOURCE
#include "opened_check.h"

#include "context/image/opened_scope.h"
#include "context/image/opened_set.h"

/* Where two libraries are in the order of the search, 0 if they are not. */
struct order {
  const struct original *first, *second;
  int n, at_first, at_second;
};

static bool note(void *arg, struct original *of) {
  struct order *const o = arg;
  o->n++;
  o->at_first = of == o->first ? o->n : o->at_first;
  o->at_second = of == o->second ? o->n : o->at_second;
  return false;
}

static struct order behind(int i, struct original *caller,
                           const struct original *first,
                           const struct original *second) {
  struct order o = {.first = first, .second = second};
  ck_assert(!opened_each_behind(&img[i], caller, note, &o));
  return o;
}

static bool is_first(void *arg, struct original *of) {
  *(struct original **)arg = of;
  return true;
}

static struct original *libc_of(void) {
  return original_named("libc.so.6");
}

/* Whoever has loaded it before, and for whatever: what a library needs is
   behind it, and nothing else that was opened. */
START_TEST(what_a_library_needs_is_behind_it) {
  struct opened *const inner = open_it(0, "libinner.so", RTLD_NOW);
  build("other", "int other;", "");
  struct opened *const other = open_it(0, "libother.so", RTLD_NOW);
  struct opened *const outer = open_it(0, "libouter.so", RTLD_NOW);
  struct order o = behind(0, outer->of, inner->of, libc_of());
  ck_assert_int_eq(o.at_first, 1);
  ck_assert_int_gt(o.at_second, 1);
  o = behind(0, outer->of, other->of, outer->of);
  ck_assert_int_eq(o.at_first, 0);
  ck_assert_int_eq(o.at_second, 0);
  o = behind(0, inner->of, outer->of, libc_of());
  ck_assert_int_eq(o.at_first, 0);
  ck_assert_int_gt(o.at_second, 0);
  struct original *found = NULL;
  ck_assert(opened_each_behind(&img[0], outer->of, is_first, &found));
  ck_assert_ptr_eq(found, inner->of);
}
END_TEST

/* In the search of the one that was opened. */
START_TEST(what_came_later_is_behind_what_came_before) {
  build("other", "int other;", "");
  build("two", "extern int value, other; int *const both[] = {&value, &other};",
        "-L. -linner -lother -Wl,-rpath,\\$ORIGIN");
  struct opened *const two = open_it(0, "libtwo.so", RTLD_NOW);
  ck_assert_msg(two != NULL, "%s", why.text);
  struct original *const inner = original_named("libinner.so");
  struct original *const other = original_named("libother.so");
  ck_assert_int_eq(behind(0, inner, other, two->of).at_first, 1);
  ck_assert_int_eq(behind(0, other, inner, two->of).at_first, 0);
}
END_TEST

START_TEST(only_what_is_global_is_behind_the_program) {
  struct opened *const outer = open_it(0, "libouter.so", RTLD_NOW);
  ck_assert_int_eq(behind(0, NULL, outer->of, NULL).at_first, 0);
  (void)open_it(0, "libouter.so", RTLD_NOW | RTLD_GLOBAL);
  const struct order o = behind(0, NULL, libc_of(), outer->of);
  ck_assert_int_gt(o.at_first, 0);
  ck_assert_int_gt(o.at_second, o.at_first);
  ck_assert_int_eq(behind(1, NULL, outer->of, NULL).at_first, 0);
}
END_TEST

/* The one that was opened, of each VP. */
START_TEST(what_came_with_a_library_knows_it) {
  struct opened *const outer = open_it(0, "libouter.so", RTLD_NOW);
  struct original *const inner = original_named("libinner.so");
  ck_assert_ptr_eq(opened_root(&img[0], inner), outer->of);
  ck_assert_ptr_eq(opened_root(&img[0], outer->of), outer->of);
  ck_assert_ptr_null(opened_root(&img[1], inner));
  (void)open_it(1, "libinner.so", RTLD_NOW);
  ck_assert_ptr_eq(opened_root(&img[1], inner), inner);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {what_a_library_needs_is_behind_it,
                                what_came_later_is_behind_what_came_before,
                                only_what_is_global_is_behind_the_program,
                                what_came_with_a_library_knows_it, NULL};
  return opened_check_main("opened_scope", tests);
}
