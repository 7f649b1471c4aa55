#define _GNU_SOURCE
#include "os/object.h"

#include <check.h>
#include <dlfcn.h>
#include <stdlib.h>

#include "check_main.h"

static int data = 1;

static const void *by_name(const void *address) {
  Dl_info info;
  ck_assert_int_ne(dladdr(address, &info), 0);
  return info.dli_fbase;
}

START_TEST(it_is_what_dladdr_says) {
  const void *const getpid_at = dlsym(RTLD_DEFAULT, "getpid");
  ck_assert_ptr_eq(object_start(&data), by_name(&data));
  ck_assert_ptr_eq(object_start(getpid_at), by_name(getpid_at));
  ck_assert_ptr_ne(object_start(&data), object_start(getpid_at));
  void *const opened = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
  ck_assert_ptr_nonnull(opened);
  const void *const in_it = dlsym(opened, "cbrt");
  ck_assert_ptr_eq(object_start(in_it), by_name(in_it));
  dlclose(opened);
}
END_TEST

START_TEST(memory_is_of_none) {
  int on_the_stack = 0;
  void *const block = malloc(1);
  ck_assert_ptr_null(object_start(&on_the_stack));
  ck_assert_ptr_null(object_start(block));
  ck_assert_ptr_null(object_start(NULL));
  free(block);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      it_is_what_dladdr_says,
      memory_is_of_none,
      NULL,
  };
  return check_main("object", tests);
}
