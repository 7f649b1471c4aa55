/* Programs that have the same addresses each time. */
#include "os/fixed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "check_main.h"

extern char **environ;

/* What a run of this program, anew and fixed, prints. */
static void run(char text[256]) {
  char path[256], command[300];
  ck_assert_int_gt(readlink("/proc/self/exe", path, sizeof(path)), 0);
  path[readlink("/proc/self/exe", path, sizeof(path) - 1)] = '\0';
  snprintf(command, sizeof(command), "%s where", path);
  FILE *const f = popen(command, "r");
  ck_assert_ptr_nonnull(fgets(text, 256, f));
  ck_assert_int_eq(pclose(f), 0);
}

START_TEST(addresses_are_the_same_twice) {
  char first[256], second[256];
  if (!fixed_possible()) {
    return;
  }
  run(first);
  run(second);
  ck_assert_str_eq(first, second);
  ck_assert_ptr_nonnull(strstr(first, "limit 4194304\n"));
}
END_TEST

/* In the thread that calls it, and in those that it starts. */
START_TEST(guards_are_set) {
  if (!fixed_possible()) {
    return;
  }
  const struct fixed_guards was = fixed_guards();
  const struct fixed_guards to = {0x1122334455667700, 0x8877665544332211};
  fixed_set_guards(to);
  const struct fixed_guards now = fixed_guards();
  fixed_set_guards(was);
  ck_assert_uint_eq(now.stack, to.stack);
  ck_assert_uint_eq(now.pointer, to.pointer);
}
END_TEST

static int where(char **argv) {
  int local;
  if (!fixed_is() || fixed_stack_limit() != 4 << 20) {
    fixed_again(argv, environ, 4 << 20);
    return 1;
  }
  printf("%p %p %p limit %llu\n", (void *)&local, (void *)stdout,
         (void *)&environ, (unsigned long long)fixed_stack_limit());
  return 0;
}

int main(int argc, char **argv) {
  const TTest *const tests[] = {addresses_are_the_same_twice, guards_are_set,
                                NULL};
  return argc > 1 ? where(argv) : check_main("fixed", tests);
}
