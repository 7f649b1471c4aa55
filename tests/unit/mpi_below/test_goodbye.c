#include "mpi_below/goodbye.h"

#include "check_child.h"
#include "check_main.h"
#include "mpi_below/real.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Stands for the MPI's: it is in one object with the handlers below. */
static int init(int *argc, char ***argv) {
  (void)argc, (void)argv;
  return 0;
}

static void say_first(void) {
  (void)!write(STDERR_FILENO, "first ", 6);
}

static void say_last(void) {
  (void)!write(STDERR_FILENO, "last ", 5);
}

static void quit(void) {
  atexit(say_first);
  atexit(say_last);
  goodbye_quit(3);
}

static void quit_with_mpi(void) {
  real.Init = init;
  quit();
}

static void quit_without(void) {
  real.Init = NULL;
  quit();
}

static void quit_with_many(void) {
  real.Init = init;
  for (int i = 0; i < 20; i++) {
    atexit(say_first);
  }
  goodbye_quit(0);
}

START_TEST(what_mpi_registered_is_run_last_first) {
  char said[100];
  ck_assert_int_eq(check_child_exit(quit_with_mpi, said, sizeof(said)), 3);
  ck_assert_str_eq(said, "last first ");
}
END_TEST

START_TEST(what_others_registered_is_not_run) {
  char said[100];
  ck_assert_int_eq(check_child_exit(quit_without, said, sizeof(said)), 3);
  ck_assert_str_eq(said, "");
}
END_TEST

START_TEST(no_more_is_kept_than_there_is_room_for) {
  char said[200];
  ck_assert_int_eq(check_child_exit(quit_with_many, said, sizeof(said)), 0);
  ck_assert_uint_eq(strlen(said), 8 * strlen("first "));
}
END_TEST

int main(void) {
  const TTest *const tests[] = {what_mpi_registered_is_run_last_first,
                                what_others_registered_is_not_run,
                                no_more_is_kept_than_there_is_room_for, NULL};
  return check_main("goodbye", tests);
}
