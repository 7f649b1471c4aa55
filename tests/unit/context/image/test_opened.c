/* What copies of a program open: libraries that the system's compiler makes
   here. Without one the test is skipped. */
#define _GNU_SOURCE
#include "check_main.h"
#include "context/image/opened.h"
#include "context/image/original.h"
#include "context/image/search_path.h"
#include "context/image/stub.h"

#include <check.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[] = "/var/tmp/pems-test-opened.XXXXXX";
static struct pems_error error;
static struct opened_error why;
static struct image_file *file;
static struct image img[2];

static const char *in_dir(const char *name) {
  static char path[PATH_MAX];
  snprintf(path, sizeof(path), "%s/%s", dir, name);
  return path;
}

/* Makes lib`name`.so of a line of C. */
static void build(const char *name, const char *source, const char *options) {
  char command[2 * PATH_MAX];
  snprintf(command, sizeof(command),
           "cd %s && printf '%%s' '%s' >%s.c && cc -fPIC -shared -o lib%s.so "
           "%s.c %s",
           dir, source, name, name, name, options);
  ck_assert_int_eq(system(command), 0);
}

static void build_all(void) {
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

static void set_up(void) {
  char path[PATH_MAX];
  const char *images = getenv("PEMS_TEST_IMAGES");
  ck_assert_ptr_nonnull(mkdtemp(dir));
  build_all();
  snprintf(path, sizeof(path), "%s/globals", images ? images : ".");
  ck_assert_int_eq(image_open(&file, path, &error), 0);
  ck_assert_int_eq(image_find_libraries(file, NULL, &error), 0);
  ck_assert_int_eq(original_start(file, &error), 0);
  for (int i = 0; i < 2; i++) {
    const struct opened_host host = {0};
    ck_assert_int_eq(image_load(&img[i], file, i, NULL, &error), 0);
    ck_assert_int_eq(opened_start(&img[i], i, NULL, &host), 0);
  }
}

static void tear_down(void) {
  char command[PATH_MAX];
  for (int i = 0; i < 2; i++) {
    image_unload(&img[i]);
  }
  original_end();
  image_close(file);
  snprintf(command, sizeof(command), "rm -rf %s", dir);
  ck_assert_int_eq(system(command), 0);
}

static struct opened *open_it(int i, const char *name, int flags) {
  struct opened *o = opened_open(&img[i], NULL, in_dir(name), flags, &why);
  struct opened *fresh;
  while ((fresh = opened_next_new(&img[i]))) {
    opened_begin_thread(&img[i]);
    opened_construct(fresh, 0, NULL, NULL);
  }
  return o;
}

static void *find(int i, struct opened *o, const char *name) {
  void *p = opened_symbol(&img[i], NULL, o, name, NULL, &why);
  ck_assert_msg(p != NULL, "%s", why.text);
  return p;
}

static int *call(int i, struct opened *o, const char *name) {
  int *(*f)(void) = (int *(*)(void))find(i, o, name);
  return f();
}

static void close_it(int i, struct opened *o) {
  struct opened *dead;
  ck_assert_int_eq(opened_close(&img[i], o, &why), 0);
  while ((dead = opened_next_dead(&img[i]))) {
    opened_destruct(dead);
  }
  opened_sweep(&img[i]);
}

START_TEST(each_copy_has_what_it_opens_for_itself) {
  int *value[2];
  for (int i = 0; i < 2; i++) {
    struct opened *o = open_it(i, "libouter.so", RTLD_NOW);
    ck_assert_msg(o != NULL, "%s", why.text);
    value[i] = call(i, o, "where");
    ck_assert_ptr_eq(value[i], find(i, o, "value"));
    ck_assert_ptr_eq(call(i, o, "by_thread"), value[i]);
    ck_assert_int_eq(*value[i], 6);          /* constructed once, */
    ck_assert_int_eq(*call(i, o, "own"), 2); /* in the VP's own data, */
    int (*first)(void) = (int (*)(void))find(i, o, "first");
    ck_assert_int_eq(first(), 6); /* before who needs it */
    *value[i] = 100 + i;
  }
  ck_assert_ptr_ne(value[0], value[1]);
  ck_assert_int_eq(*value[0], 100);
  ck_assert_int_eq(*value[1], 101);
}
END_TEST

START_TEST(handles_are_counted) {
  struct opened *o = open_it(0, "libouter.so", RTLD_NOW);
  ck_assert_ptr_eq(open_it(0, "libouter.so", RTLD_LAZY), o);
  *call(0, o, "where") = 50;
  close_it(0, o);
  ck_assert_ptr_eq(open_it(0, "libouter.so", RTLD_NOW | RTLD_NOLOAD), o);
  close_it(0, o);
  ck_assert_int_eq(*call(0, o, "where"), 50);
  close_it(0, o);
  ck_assert_ptr_null(open_it(0, "libouter.so", RTLD_NOW | RTLD_NOLOAD));
  ck_assert_ptr_null(open_it(0, "libinner.so", RTLD_NOW | RTLD_NOLOAD));
  ck_assert_int_eq(opened_close(&img[0], o, &why), -1);
  o = open_it(0, "libouter.so", RTLD_NOW);
  ck_assert_int_eq(*call(0, o, "where"), 6); /* anew */
}
END_TEST

START_TEST(what_another_needs_stays) {
  struct opened *inner = open_it(0, "libinner.so", RTLD_NOW);
  int *value = find(0, inner, "value");
  struct opened *outer = open_it(0, "libouter.so", RTLD_NOW);
  close_it(0, inner);
  ck_assert_int_eq(*value, 6);
  ck_assert_ptr_eq(call(0, outer, "where"), value);
}
END_TEST

START_TEST(failures_have_a_reason) {
  ck_assert_ptr_null(open_it(0, "libnone.so", RTLD_NOW));
  ck_assert_ptr_nonnull(strstr(why.text, "cannot open shared object file"));
  ck_assert_ptr_null(open_it(0, "libouter.so", 0));
  ck_assert_ptr_nonnull(strstr(why.text, "invalid mode"));
  ck_assert_ptr_null(open_it(0, "outer.c", RTLD_NOW));
  ck_assert(why.text[0]);
  ck_assert_ptr_null(open_it(0, "libmissing.so", RTLD_NOW));
  ck_assert_ptr_nonnull(strstr(why.text, "undefined symbol: none"));
  struct opened *o = open_it(0, "libmissing.so", RTLD_LAZY);
  ck_assert_msg(o != NULL, "%s", why.text);
  ck_assert_ptr_null(opened_symbol(&img[0], NULL, o, "g", NULL, &why));
  ck_assert_ptr_nonnull(strstr(why.text, "undefined symbol: g"));
}
END_TEST

START_TEST(names_are_global_only_for_who_asks) {
  struct opened *o = open_it(0, "libouter.so", RTLD_NOW | RTLD_GLOBAL);
  open_it(1, "libouter.so", RTLD_NOW);
  ck_assert_ptr_eq(find(0, RTLD_DEFAULT, "where"), find(0, o, "where"));
  ck_assert_ptr_null(
      opened_symbol(&img[1], NULL, RTLD_DEFAULT, "where", NULL, &why));
}
END_TEST

START_TEST(code_has_a_place) {
  struct opened *o = open_it(1, "libouter.so", RTLD_NOW);
  char *code = find(1, o, "where");
  const char *library = NULL;
  uintptr_t address;
  ck_assert(image_place(&img[1], code, &library, &address));
  ck_assert_ptr_nonnull(strstr(library, "libouter.so"));
  ck_assert(!image_place(&img[0], code, &library, &address));
  struct opened *other = open_it(0, "libouter.so", RTLD_NOW);
  ck_assert_uint_eq(image_site(&img[0], find(0, other, "where")),
                    image_site(&img[1], code));
  ck_assert(!opened_is_foreign(&img[1], code));
  ck_assert(opened_is_foreign(&img[1], (void *)opened_is_foreign));
}
END_TEST

/* A host that keeps count of what it is given. */
static struct {
  struct image_part part[8];
  size_t constant;
  int parts;
  uint64_t beside;
  int refusal; /* of counting */
  char *home;
} host;

static void *host_take(void *arg, size_t n) {
  (void)arg;
  host.home = malloc(n);
  return host.home;
}

static void host_give(void *arg, void *home) {
  (void)arg;
  ck_assert_ptr_eq(home, host.home);
  free(home);
  host.home = NULL;
}

static int host_add(void *arg, struct image_part part, size_t constant) {
  (void)arg;
  host.part[host.parts++] = part;
  host.constant += constant;
  return 0;
}

static void host_drop(void *arg, struct image_part part) {
  (void)arg;
  host.parts--;
  ck_assert_ptr_nonnull(part.home);
}

static int host_count(void *arg, uint64_t bytes) {
  (void)arg;
  host.beside += host.refusal ? 0 : bytes;
  return host.refusal;
}

static void host_uncount(void *arg, uint64_t bytes) {
  (void)arg;
  host.beside -= bytes;
}

static void open_with_host(void) {
  const struct opened_host all = {.take = host_take,
                                  .give = host_give,
                                  .add = host_add,
                                  .drop = host_drop,
                                  .count = host_count,
                                  .uncount = host_uncount};
  memset(&host, 0, sizeof(host));
  build("large",
        "int f(void); int f(void) { return 1; }"
        "int (*const constants[2000])(void) = {[0 ... 1999] = f};"
        "int numbers[3000] = {1};",
        "-Wl,-z,relro");
  ck_assert_int_eq(opened_start(&img[1], 1, NULL, &all), 0);
}

static bool in_part(const void *p) {
  for (int i = 0; i < host.parts; i++) {
    if ((uintptr_t)p - (uintptr_t)host.part[i].data < host.part[i].len) {
      return true;
    }
  }
  return false;
}

/* What relocation has written, too; but what ld.so reads stays. */
START_TEST(data_leave_memory_with_their_rank) {
  open_with_host();
  struct opened *o = open_it(1, "liblarge.so", RTLD_NOW);
  ck_assert_msg(o != NULL, "%s", why.text);
  int (*const *constants)(void) = find(1, o, "constants");
  ck_assert_ptr_eq(*(void *const *)constants, find(1, o, "f"));
  ck_assert(in_part(find(1, o, "numbers")));
  ck_assert(in_part(constants) || in_part(constants + 1999));
  ck_assert_uint_ge(host.constant, 2 * 4096);
  ck_assert(!in_part(opened_map(&img[1], o)->l_ld));
  ck_assert_uint_ge(host.beside, 4096);
  ck_assert_uint_le(host.beside, 64 << 10);
  ck_assert_ptr_eq(host.part[0].home, host.home);
  close_it(1, o);
  ck_assert_int_eq(host.parts, 0);
  ck_assert_uint_eq(host.beside, 0);
  ck_assert_ptr_null(host.home);
}
END_TEST

START_TEST(what_does_not_fit_is_not_opened) {
  open_with_host();
  host.refusal = ENOMEM;
  ck_assert_ptr_null(open_it(1, "liblarge.so", RTLD_NOW));
  ck_assert_ptr_nonnull(strstr(why.text, strerror(ENOMEM)));
  ck_assert_int_eq(host.parts, 0);
  ck_assert_ptr_null(host.home);
  ck_assert_uint_eq(host.beside, 0);
}
END_TEST

START_TEST(origin_is_expanded) {
  char to[64];
  ck_assert_int_eq(
      search_path_expand("$ORIGIN/../lib:${ORIGIN}", "/opt/x/prog", to, 64), 0);
  ck_assert_str_eq(to, "/opt/x/../lib:/opt/x");
  ck_assert_int_eq(search_path_expand("/usr/$LIB", "/a/b", to, 64), 0);
  ck_assert_str_eq(to, "/usr/$LIB");
  ck_assert_int_eq(search_path_expand("$ORIGIN/lib", "/long/enough/x", to, 8),
                   -1);
}
END_TEST

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
  if (system("cc --version >/dev/null 2>&1") != 0) {
    puts("no compiler cc: skipped");
    return 77;
  }
  Suite *suite = suite_create("opened");
  TCase *t = tcase_create("opened");
  tcase_set_timeout(t, 60);
  tcase_add_checked_fixture(t, set_up, tear_down);
  tcase_add_test(t, each_copy_has_what_it_opens_for_itself);
  tcase_add_test(t, handles_are_counted);
  tcase_add_test(t, what_another_needs_stays);
  tcase_add_test(t, failures_have_a_reason);
  tcase_add_test(t, names_are_global_only_for_who_asks);
  tcase_add_test(t, code_has_a_place);
  tcase_add_test(t, data_leave_memory_with_their_rank);
  tcase_add_test(t, what_does_not_fit_is_not_opened);
  tcase_add_test(t, origin_is_expanded);
  tcase_add_test(t, a_stub_comes_before_constructors);
  suite_add_tcase(suite, t);
  return check_run(suite);
}
