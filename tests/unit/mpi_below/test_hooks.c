/* Whether UCX has replaced functions for memory, and that it shall not. */
#define _GNU_SOURCE
#include "mpi_below/hooks.h"

#include <check.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"

static const char mode[] = "UCX_MEM_MMAP_HOOK_MODE";
static bool there = true;

void *__wrap_dlsym(void *handle, const char *name);

void *__wrap_dlsym(void *handle, const char *name) {
  ck_assert_ptr_eq(handle, RTLD_DEFAULT);
  ck_assert_int_eq(strncmp(name, "ucm_", 4), 0);
  return there ? &there : NULL;
}

START_TEST(where_it_is_loaded_it_has_replaced_them) {
  unsetenv(mode);
  ck_assert(hooks_installed());
  ck_assert(!hooks_chosen());
  there = false;
  ck_assert(!hooks_installed());
}
END_TEST

START_TEST(the_user_may_say_how) {
  setenv(mode, "reloc", 1);
  ck_assert(hooks_installed());
  ck_assert(hooks_chosen());
  setenv(mode, "none", 1);
  ck_assert(!hooks_installed());
  ck_assert(hooks_chosen());
}
END_TEST

START_TEST(once_forbidden_there_are_none) {
  setenv(mode, "bistro", 1);
  ck_assert_int_eq(hooks_forbid(), 0);
  ck_assert(!hooks_installed());
}
END_TEST

int main(void) {
  return check_main("hooks",
                    (const TTest *[]){where_it_is_loaded_it_has_replaced_them,
                                      the_user_may_say_how,
                                      once_forbidden_there_are_none, NULL});
}
