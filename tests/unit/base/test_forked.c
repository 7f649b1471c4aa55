/* Who is a forked child, and of what. */
#include "base/forked.h"

#include <errno.h>
#include <string.h>

#include "check_child.h"
#include "check_main.h"

static unsigned before;

static void look(void *arg) {
  (void)arg;
  const unsigned now = forked_now();
  _exit(forked_since(before) && !forked_since(now) ? 0 : 1);
}

START_TEST(a_child_is_told_from_its_parent) {
  before = forked_now();
  ck_assert(!forked_since(before));
  const pid_t child = fork();
  if (child == 0) {
    look(NULL);
  }
  int status;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_int_eq(status, 0);
  ck_assert(!forked_since(before));
}
END_TEST

START_TEST(the_message_names_the_handle) {
  struct pems_error e = {0};
  ck_assert_int_eq(forked_refuse("sorter", &e), EPERM);
  ck_assert_int_eq(e.code, EPERM);
  ck_assert_ptr_nonnull(strstr(e.text, "sorter: was made before the fork"));
  ck_assert_int_eq(forked_refuse("sorter", NULL), EPERM);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("forked");
  TCase *const t = tcase_create("all");
  tcase_add_test(t, a_child_is_told_from_its_parent);
  tcase_add_test(t, the_message_names_the_handle);
  suite_add_tcase(s, t);
  return check_run(s);
}
