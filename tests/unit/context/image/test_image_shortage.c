/* Reading and copying a program where an allocation fails, each in its turn: it
   is refused with a reason, nothing is left, and the next time it works. */
#define _GNU_SOURCE
#include "context/image/image.h"

#include <check.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"
#include "check_memory.h"
#include "check_seen.h"

/* Images come from libc's allocator, as do things of Check: what is allocated
   outside the scenario never fails and is not counted. */
static bool armed;

void *__real_malloc(size_t n);
void *__real_calloc(size_t count, size_t size);
char *__real_strdup(const char *s);
void __real_free(void *p);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t count, size_t size);
char *__wrap_strdup(const char *s);
void __wrap_free(void *p);

static void *note(void *p) {
  return armed ? seen_counted(p) : p;
}

void *__wrap_malloc(size_t n) {
  return armed && memory_is_out() ? NULL : note(__real_malloc(n));
}

void *__wrap_calloc(size_t count, size_t size) {
  return armed && memory_is_out() ? NULL : note(__real_calloc(count, size));
}

char *__wrap_strdup(const char *s) {
  return armed && memory_is_out() ? NULL : note(__real_strdup(s));
}

void __wrap_free(void *p) {
  seen_freed(p);
  __real_free(p);
}

static char path[PATH_MAX];
static struct pems_error error;

/* 0 or ENOMEM; -1: refused, but it is not said why. */
static int said(int code) {
  return code && !strstr(error.text, "memory") ? -1 : code;
}

static int read_program(void *shared) {
  struct image_file *f = NULL;
  memset(&error, 0, sizeof(error));
  armed = true;
  int code = image_open(&f, path, &error);
  code = code ? code : image_find_libraries(f, shared, &error);
  image_close(f);
  armed = false;
  return said(code);
}

START_TEST(a_program_is_read_or_refused) {
  static char name[] = "libnone.so";
  memory_every(read_program, _i ? name : NULL, ENOMEM, MEMORY_NEEDED);
}
END_TEST

/* Pages that take the place of ld.so's are unmapped by it. */
static int load_program(void *file) {
  const long bytes = atomic_load(&check_memory.bytes);
  struct image img;
  memset(&error, 0, sizeof(error));
  armed = true;
  const int code = image_load(&img, file, 0, NULL, &error);
  if (!code) {
    image_unload(&img);
  }
  armed = false;
  atomic_store(&check_memory.bytes, bytes);
  return said(code);
}

START_TEST(a_program_is_copied_or_not) {
  struct image_file *f = NULL;
  ck_assert_int_eq(image_open(&f, path, &error), 0);
  ck_assert_int_eq(image_find_libraries(f, NULL, &error), 0);
  memory_every(load_program, f, ENOMEM, MEMORY_NEEDED);
  image_close(f);
}
END_TEST

int main(void) {
  const char *const images = getenv("PEMS_TEST_IMAGES");
  snprintf(path, sizeof(path), "%s/globals", images ? images : ".");
  Suite *const suite = suite_create("image_shortage");
  TCase *const all = tcase_create("all");
  tcase_set_timeout(all, 60);
  tcase_add_loop_test(all, a_program_is_read_or_refused, 0, 2);
  tcase_add_test(all, a_program_is_copied_or_not);
  suite_add_tcase(suite, all);
  return check_run(suite);
}
