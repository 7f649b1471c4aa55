/* What is run before the constructors of a library are. */
#define _GNU_SOURCE
#include "context/image/stub.h"

#include "opened_check.h"

static const char *first_path;

static void look(struct link_map *first) {
  first_path = first ? first->l_name : NULL;
  setenv("PEMS_TEST_LOOKED", "1", 1);
}

START_TEST(a_stub_comes_before_constructors) {
  build("order",
        "char *getenv(const char *); int looked;"
        "__attribute__((constructor)) static void f(void) {"
        "looked = getenv(\"PEMS_TEST_LOOKED\") ? 1 : 2; }",
        "");
  ck_assert_int_eq(stub_open(in_dir("liborder.so"), NULL, RTLD_NOW, look), 0);
  ck_assert_str_eq(first_path, in_dir("liborder.so"));
  void *handle = dlopen(in_dir("liborder.so"), RTLD_NOW | RTLD_NOLOAD);
  ck_assert_int_eq(*(int *)dlsym(handle, "looked"), 1);
  ck_assert_int_eq(stub_open("libinner.so", dir, RTLD_NOW, look), 0);
  ck_assert_int_eq(stub_open("libnone.so", dir, RTLD_NOW, look), -1);
  ck_assert_ptr_nonnull(strstr(dlerror(), "libnone.so"));
}
END_TEST

int main(void) {
  const TTest *const tests[] = {a_stub_comes_before_constructors, NULL};
  return opened_check_main("stub", tests);
}
