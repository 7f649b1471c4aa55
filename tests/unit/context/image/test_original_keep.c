/* Data as relocation has left them, and constructors that do not run. */
#define _GNU_SOURCE
#include "context/image/original_keep.h"

#include <errno.h>

#include "check_memory.h"
#include "context/image/stub.h"
#include "opened_check.h"

/* --- what is done between relocation and constructors --- */

static struct original *kept; /* the library that was loaded */
static int code;              /* what original_keep returned */
static long gained;           /* blocks of memory that it has left */
static void (*before)(void);  /* what is done first, or NULL */

static void keep(struct link_map *first) {
  kept = original_of(first);
  ck_assert_ptr_nonnull(kept);
  if (before) {
    before();
  }
  const long live = atomic_load(&check_memory.live);
  code = original_keep(kept, &error);
  gained = atomic_load(&check_memory.live) - live;
}

static int *load(const char *name, const char *variable) {
  error.text[0] = '\0';
  ck_assert_int_eq(stub_open(in_dir(name), NULL, RTLD_NOW, keep), 0);
  void *const handle = dlopen(in_dir(name), RTLD_NOW | RTLD_NOLOAD);
  ck_assert_ptr_nonnull(handle);
  int *const at = dlsym(handle, variable);
  ck_assert_ptr_nonnull(at);
  return at;
}

static int pristine(const int *at) {
  int value;
  const uint64_t place = (uintptr_t)at - kept->map->l_addr;
  ck_assert_uint_ge(place, kept->data);
  ck_assert_uint_le(place + sizeof(value), kept->data_end);
  memcpy(&value, kept->pristine + (place - kept->data), sizeof(value));
  return value;
}

START_TEST(data_are_kept_and_no_constructor_runs) {
  int *const value = load("libinner.so", "value");
  ck_assert_int_eq(code, 0);
  ck_assert_ptr_eq(kept->file, kept->own_file);
  ck_assert_int_eq(*value, 5);
  *value = 9;
  ck_assert_int_eq(pristine(value), 5);
}
END_TEST

/* Addresses in its data are those that ld.so has put there. */
START_TEST(data_are_relocated) {
  int **const at = (int **)(void *)load("libinner.so", "at");
  int *copy;
  memcpy(&copy,
         kept->pristine + ((uintptr_t)at - kept->map->l_addr - kept->data),
         sizeof(copy));
  ck_assert_ptr_eq(copy, *at);
  ck_assert_int_eq(*copy, 1);
}
END_TEST

/* --- what cannot be kept --- */

static void expect_refused(const int *value) {
  ck_assert_ptr_null(kept->file);
  ck_assert_int_eq(*value, 6); /* its constructor has run */
}

static void replace(void) {
  char from[PATH_MAX];
  snprintf(from, sizeof(from), "%s", in_dir("libother.so"));
  ck_assert_int_eq(rename(from, in_dir("libinner.so")), 0);
}

START_TEST(a_file_that_was_replaced_is_refused) {
  build("other", "int value = 7, more[100000] = {1};", "");
  before = replace;
  const int *const value = load("libinner.so", "value");
  ck_assert_int_eq(code, EINVAL);
  ck_assert_str_eq(error.text, "its file was replaced");
  expect_refused(value);
}
END_TEST

static void take_away(void) {
  ck_assert_int_eq(unlink(in_dir("libinner.so")), 0);
}

START_TEST(a_file_that_is_gone_is_refused) {
  before = take_away;
  ck_assert_int_eq(stub_open(in_dir("libinner.so"), NULL, RTLD_NOW, keep), 0);
  ck_assert_int_ne(code, 0);
  ck_assert_ptr_nonnull(strstr(error.text, "libinner.so"));
  ck_assert_ptr_null(kept->file);
}
END_TEST

static long allocations;

static void run_short(void) {
  memory_for(allocations);
}

START_TEST(they_are_kept_or_refused) {
  bool enough = false;
  before = run_short;
  for (; !enough; allocations++) {
    char name[64], command[3 * PATH_MAX];
    snprintf(name, sizeof(name), "libinner%ld.so", allocations);
    snprintf(command, sizeof(command), "cd %s && cp libinner.so %s", dir, name);
    ck_assert_int_eq(system(command), 0);
    const int *const value = load(name, "value");
    enough = !memory_was_out();
    memory_again();
    ck_assert_int_eq(code, enough ? 0 : ENOMEM);
    ck_assert_int_eq(gained, enough);
    if (!enough) {
      ck_assert_ptr_nonnull(strstr(error.text, "memory"));
      expect_refused(value);
    }
  }
  ck_assert_int_ge(allocations, 2);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {data_are_kept_and_no_constructor_runs,
                                data_are_relocated,
                                a_file_that_was_replaced_is_refused,
                                a_file_that_is_gone_is_refused,
                                they_are_kept_or_refused,
                                NULL};
  return opened_check_main("original_keep", tests);
}
