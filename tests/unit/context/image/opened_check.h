/* What the tests of opened libraries share: two copies of a program, and
   libraries that the system's compiler makes here. Without one the test is
   skipped. */
#ifndef TESTS_UNIT_CONTEXT_IMAGE_OPENED_CHECK_H
#define TESTS_UNIT_CONTEXT_IMAGE_OPENED_CHECK_H

#include <check.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check_main.h"
#include "context/image/image_file.h"
#include "context/image/opened.h"
#include "context/image/opened_run.h"
#include "context/image/opened_set.h"
#include "context/image/opened_symbol.h"
#include "context/image/opened_tls.h"
#include "context/image/original.h"

static char dir[] = "/var/tmp/pems-test-opened.XXXXXX";
static struct pems_error error;
static struct opened_error why;
static struct image_file *file;
static struct image img[2];

/* The heap begins behind this program's own data, and the stand-in that it
   takes for itself is larger: addresses up to its end must not be the heap's.
 */
__attribute__((used)) static char stand_in_room[32 << 20];

static inline const char *in_dir(const char *name) {
  static char path[PATH_MAX];
  snprintf(path, sizeof(path), "%s/%s", dir, name);
  return path;
}

/* Makes lib`name`.so of a line of C. */
static inline void build(const char *name, const char *source,
                         const char *options) {
  char command[2 * PATH_MAX];
  snprintf(command, sizeof(command),
           "cd %s && printf '%%s' '%s' >%s.c && cc -fPIC -shared -o lib%s.so "
           "%s.c %s",
           dir, source, name, name, name, options);
  ck_assert_int_eq(system(command), 0);
}

static inline void build_all(void) {
  build("inner",
        "int value = 5; static int own = 1; int *const at = &own;"
        "__thread int *thread = &value;"
        "__attribute__((constructor)) static void f(void) { value++; own++; }"
        "__attribute__((destructor)) static void g(void) { value = -1; }",
        "");
  build("outer",
        "extern int value; extern int *const at; extern __thread int *thread;"
        "static int seen; int ended;"
        "__attribute__((constructor)) static void f(void) { seen = value; }"
        "__attribute__((destructor)) static void g(void) { ended++; }"
        "int *where(void) { return &value; } int *own(void) { return at; }"
        "int *by_thread(void) { return thread; }"
        "int first(void) { return seen; }",
        "-L. -linner -Wl,-rpath,\\$ORIGIN");
  build("missing", "int none(void); int f(void) { return none(); }", "");
}

static inline void set_up(void) {
  char path[PATH_MAX];
  const char *images = getenv("PEMS_TEST_IMAGES");
  ck_assert_ptr_nonnull(mkdtemp(dir));
  build_all();
  snprintf(path, sizeof(path), "%s/globals", images ? images : ".");
  ck_assert_int_eq(image_open(&file, path, &error), 0);
  ck_assert_uint_lt(file->high - file->low, sizeof(stand_in_room));
  ck_assert_int_eq(image_find_libraries(file, NULL, &error), 0);
  ck_assert_int_eq(original_start(file, &error), 0);
  for (int i = 0; i < 2; i++) {
    const struct opened_host host = {0};
    ck_assert_int_eq(image_load(&img[i], file, i, NULL, &error), 0);
    ck_assert_int_eq(opened_start(&img[i], i, NULL, &host), 0);
  }
}

static inline void tear_down(void) {
  char command[PATH_MAX];
  for (int i = 0; i < 2; i++) {
    image_unload(&img[i]);
  }
  original_end();
  image_close(file);
  snprintf(command, sizeof(command), "rm -rf %s", dir);
  ck_assert_int_eq(system(command), 0);
}

static inline struct opened *open_it(int i, const char *name, int flags) {
  struct opened *o = opened_open(&img[i], NULL, in_dir(name), flags, &why);
  struct opened *fresh;
  while ((fresh = opened_next_new(&img[i]))) {
    opened_begin(&img[i], fresh);
    opened_construct(fresh, 0, NULL, NULL);
  }
  return o;
}

/* In all that is global, if `o` is NULL. */
static inline void *find(int i, struct opened *o, const char *name) {
  void *const handle = o ? opened_handle(&img[i], o) : RTLD_DEFAULT;
  void *p = opened_symbol(&img[i], NULL, handle, name, NULL, &why);
  ck_assert_msg(p != NULL, "%s", why.text);
  return p;
}

static inline int *call(int i, struct opened *o, const char *name) {
  int *(*f)(void) = (int *(*)(void))find(i, o, name);
  return f();
}

static inline void close_it(int i, struct opened *o) {
  struct opened *dead;
  ck_assert_int_eq(opened_close(&img[i], opened_handle(&img[i], o), &why), 0);
  while ((dead = opened_next_dead(&img[i]))) {
    opened_destruct(dead);
  }
  opened_sweep(&img[i]);
}

/* All tests, up to a NULL; the exit status. */
static inline int opened_check_main(const char *name,
                                    const TTest *const *tests) {
  if (system("cc --version >/dev/null 2>&1") != 0) {
    puts("no compiler cc: skipped");
    return 77;
  }
  Suite *suite = suite_create(name);
  TCase *t = tcase_create(name);
  tcase_set_timeout(t, 60);
  tcase_add_checked_fixture(t, set_up, tear_down);
  for (; *tests; tests++) {
    tcase_add_test(t, *tests);
  }
  suite_add_tcase(suite, t);
  return check_run(suite);
}

#endif
