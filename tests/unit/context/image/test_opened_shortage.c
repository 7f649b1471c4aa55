/* What ranks open where an allocation fails, each in its turn: dlopen fails and
   says why, nothing is left, and the next time it works. */
#define _GNU_SOURCE
#include <errno.h>

#include "check_memory.h"
#include "context/image/opened_set.h"
#include "opened_check.h"

/* Check calls it, too: it fails only where a rank begins. */
static bool strdup_counts;

char *__real_strdup(const char *s);
char *__wrap_strdup(const char *s);

char *__wrap_strdup(const char *s) {
  return strdup_counts && memory_is_out() ? NULL : __real_strdup(s);
}

/* Not 0 where it is not said why. */
static int said(const struct opened *o) {
  return o ? 0 : strstr(why.text, "memory") ? ENOMEM : -1;
}

static int begin_again(void *dir_of_copies) {
  const struct opened_host host = {0};
  struct image other = img[1];
  other.opened = NULL;
  strdup_counts = true;
  const int code = opened_start(&other, 1, dir_of_copies, &host);
  strdup_counts = false;
  opened_end(&other);
  return code;
}

START_TEST(a_rank_begins_or_not) {
  memory_every(begin_again, _i ? dir : NULL, ENOMEM, MEMORY_NEEDED);
}
END_TEST

/* Pages that take the place of ld.so's are unmapped by it; what the process
   knows of a library is kept. */
static int open_and_close(void *arg) {
  const long bytes = atomic_load(&check_memory.bytes);
  (void)arg;
  struct opened *o = open_it(0, "libouter.so", RTLD_NOW);
  const int code = said(o);
  if (o) {
    ck_assert_int_eq(*call(0, o, "where"), 6);
    close_it(0, o);
  }
  ck_assert_ptr_null(open_it(0, "libinner.so", RTLD_NOW | RTLD_NOLOAD));
  atomic_store(&check_memory.bytes, bytes);
  return code;
}

START_TEST(a_library_is_opened_or_not) {
  memory_every(open_and_close, NULL, ENOMEM, MEMORY_NEEDED);
}
END_TEST

static const char *copy_of(const char *library, int n) {
  static char name[64];
  char command[3 * PATH_MAX];
  snprintf(name, sizeof(name), "libnew%d.so", n);
  snprintf(command, sizeof(command), "cp %s/%s %s/%s", dir, library, dir, name);
  ck_assert_int_eq(system(command), 0);
  return name;
}

/* Is it shared where it need not be? Then all ranks know. */
static void expect_stray(struct opened *o, const char *name) {
  const bool shared = o->of->kind == ORIGINAL_SHARED;
  struct opened *other = open_it(1, name, RTLD_NOW);
  ck_assert_msg(other != NULL, "%s", why.text);
  ck_assert_int_eq(opened_stray(o) != NULL, shared);
  ck_assert_int_eq(opened_stray(other) != NULL, shared);
  close_it(1, other);
}

/* What the process learns of a library that it has not seen: it may come to be
   shared by all ranks. What is opened is whole. */
START_TEST(a_library_is_read_or_not) {
  static int serial;
  bool enough = false;
  int n = 0, failed = 0, shared = 0;
  for (; !enough; n++) {
    const char *name = copy_of("libinner.so", serial++);
    (_i ? memory_but : memory_for)(n);
    struct opened *o = open_it(0, name, RTLD_NOW);
    enough = !memory_was_out();
    memory_again();
    ck_assert_msg(o || said(o) == ENOMEM, "%d: %s", n, why.text);
    failed += o == NULL;
    o = o ? o : open_it(0, name, RTLD_NOW);
    ck_assert_msg(o != NULL, "after %d: %s", n, why.text);
    ck_assert_int_eq(*(int *)find(0, o, "value"), 6);
    ck_assert_int_eq(**(int **)find(0, o, "at"), 2);
    shared += o->of->kind == ORIGINAL_SHARED;
    expect_stray(o, name);
    close_it(0, o);
  }
  ck_assert_int_ge(failed, 3);
  ck_assert_int_ge(shared, 1);
}
END_TEST

int main(void) {
  if (system("cc --version >/dev/null 2>&1") != 0) {
    puts("no compiler cc: skipped");
    return 77;
  }
  Suite *suite = suite_create("opened_shortage");
  TCase *all = tcase_create("all");
  tcase_set_timeout(all, 60);
  tcase_add_checked_fixture(all, set_up, tear_down);
  tcase_add_test(all, a_library_is_opened_or_not);
  tcase_add_loop_test(all, a_rank_begins_or_not, 0, 2);
  tcase_add_loop_test(all, a_library_is_read_or_not, 0, 2);
  suite_add_tcase(suite, all);
  return check_run(suite);
}
