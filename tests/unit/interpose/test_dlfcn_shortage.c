/* What a program's calls of dlopen and its kin return where an allocation
   fails, each in its turn: dlerror says why, and nothing is lost. With
   --pems-strict nothing is opened then that would be refused else. */
#define _GNU_SOURCE
#include "interpose/dlfcn.h"

#include <check.h>
#include <errno.h>

#include "../context/image/opened_check.h"
#include "base/self.h"
#include "check_memory.h"
#include "context/context.h"
#include "context/image/opened_set.h"
#include "interpose/malloc.h"
#include "vp/vp.h"

static struct context contexts_of[2];
static struct vp vp[2];
static int noted;

/* --- what is played --- */

void malloc_note_shared(const char *name) {
  noted += name != NULL;
}

void malloc_expect(size_t n, size_t align, void *block) {
  (void)n, (void)align, (void)block;
}

/* --- a VP's program, which calls from its own code --- */

typedef void function(void);
__attribute__((visibility("hidden"))) function *
dlfcn_choose(int call, const void *caller);

enum { OPEN = 0, CLOSE = 4, ERROR = 6 };

static function *called(int i, int number) {
  self.vp = &vp[i];
  function *const f = dlfcn_choose(number, contexts_of[i].image.text);
  ck_assert_ptr_ne(f, dlfcn_choose(number, (void *)called));
  return f;
}

static void *vp_dlopen(int i, const char *path) {
  void *const handle =
      ((void *(*)(const char *, int))called(i, OPEN))(path, RTLD_NOW);
  self.vp = NULL;
  return handle;
}

static int vp_dlclose(int i, void *handle) {
  const int code = ((int (*)(void *))called(i, CLOSE))(handle);
  self.vp = NULL;
  return code;
}

static const char *vp_dlerror(int i) {
  const char *const text = ((const char *(*)(void))called(i, ERROR))();
  self.vp = NULL;
  return text ? text : "";
}

static void begin(bool strict) {
  for (int i = 0; i < 2; i++) {
    contexts_of[i].image = img[i];
    vp[i] = (struct vp){.context = &contexts_of[i], .index = i, .rank = i};
  }
  dlfcn_start(strict);
}

/* --- a rank begins --- */

static int begin_one(void *arg) {
  struct context other = {.image = img[1]};
  struct vp of = {.context = &other, .rank = 1};
  (void)arg;
  other.image.opened = NULL;
  const int code = dlfcn_begin(&of, NULL, NULL, 0);
  opened_end(&other.image);
  return code;
}

START_TEST(a_rank_begins_or_not) {
  memory_every(begin_one, NULL, ENOMEM, MEMORY_NEEDED);
}
END_TEST

/* --- a library that the process knows --- */

/* Pages that take the place of ld.so's are unmapped by it. */
static int open_and_close(void *arg) {
  const long bytes = atomic_load(&check_memory.bytes);
  (void)arg;
  void *const handle = vp_dlopen(0, in_dir("libouter.so"));
  const int code = handle ? 0 : strstr(vp_dlerror(0), "memory") ? ENOMEM : -1;
  ck_assert_str_eq(vp_dlerror(0), "");
  if (handle) {
    ck_assert_int_eq(vp_dlclose(0, handle), 0);
  }
  atomic_store(&check_memory.bytes, bytes);
  return code;
}

START_TEST(a_library_is_opened_or_dlerror_says_why) {
  begin(false);
  memory_every(open_and_close, NULL, ENOMEM, MEMORY_NEEDED);
}
END_TEST

/* --- libraries that it does not know --- */

static const char *fresh(void) {
  static char name[PATH_MAX];
  static int serial;
  char command[3 * PATH_MAX];
  snprintf(name, sizeof(name), "%s/libnew%d.so", dir, serial++);
  snprintf(command, sizeof(command), "cp %s/libinner.so %s", dir, name);
  ck_assert_int_eq(system(command), 0);
  return name;
}

/* It is a copy, or it is said why not. True: it was refused. */
static bool open_strictly(int i, const char *name) {
  void *const handle = vp_dlopen(i, name);
  const char *const text = vp_dlerror(i);
  if (handle) {
    ck_assert_int_eq(opened_by_handle(&img[i], handle)->of->kind,
                     ORIGINAL_OPENED);
    ck_assert_int_eq(vp_dlclose(i, handle), 0);
    return false;
  }
  const bool refused = strstr(text, "it would be shared by all ranks");
  ck_assert_msg(refused || strstr(text, "memory"), "%s", text);
  return refused;
}

START_TEST(strictly_nothing_is_shared_for_want_of_memory) {
  bool enough = false;
  int refusals = 0;
  begin(true);
  for (int n = 0; !enough; n++) {
    const char *const name = fresh();
    (_i ? memory_but : memory_for)(n);
    refusals += open_strictly(0, name);
    enough = !memory_was_out();
    memory_again();
    /* Nor later, to any. */
    const bool still = open_strictly(0, name);
    ck_assert_int_eq(open_strictly(1, name), still);
    refusals += still;
  }
  ck_assert_int_ge(refusals, 1);
  ck_assert_int_ge(noted, 1);
}
END_TEST

/* What a shared library needs is refused, though there is memory for nothing
   that would be noted. */
START_TEST(strictly_a_library_is_refused_without_memory_for_its_name) {
  begin(true);
  free(file->shared);
  file->shared = strdup("libouter");
  ck_assert(open_strictly(0, in_dir("libouter.so")));
  for (int n = 0; n < 20; n++) {
    memory_for(n);
    struct opened *const o = vp_dlopen(n % 2, in_dir("libouter.so"));
    memory_again();
    ck_assert_ptr_null(o);
  }
}
END_TEST

int main(void) {
  if (system("cc --version >/dev/null 2>&1") != 0) {
    puts("no compiler cc: skipped");
    return 77;
  }
  Suite *suite = suite_create("dlfcn_shortage");
  TCase *all = tcase_create("all");
  tcase_set_timeout(all, 120);
  tcase_add_checked_fixture(all, set_up, tear_down);
  tcase_add_test(all, a_rank_begins_or_not);
  tcase_add_test(all, a_library_is_opened_or_dlerror_says_why);
  tcase_add_loop_test(all, strictly_nothing_is_shared_for_want_of_memory, 0, 2);
  tcase_add_test(all,
                 strictly_a_library_is_refused_without_memory_for_its_name);
  suite_add_tcase(suite, all);
  return check_run(suite);
}
