#define _GNU_SOURCE
#include "mpi_below/launcher.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check_main.h"

START_TEST(options_are_found_with_one_dash_or_two) {
  ck_assert_ptr_eq(launcher_option_find("--no-such-option"), NULL);
  for (const struct launcher_option *o = launcher.options; o->name; o++) {
    char arg[64];
    snprintf(arg, sizeof(arg), "--%s", o->name);
    ck_assert_ptr_eq(launcher_option_find(arg), o);
    ck_assert_ptr_eq(launcher_option_find(arg + 1), o);
    ck_assert_int_ge(o->operands, 0);
  }
  ck_assert_int_eq(launcher_option_find("-n")->use, LAUNCHER_COUNT);
  ck_assert_int_eq(launcher_option_find("-n")->operands, 1);
}
END_TEST

START_TEST(a_time_limit_has_a_status_of_its_own) {
  bool limits = false;
  for (const struct launcher_option *o = launcher.options; o->name; o++) {
    limits = limits || o->use == LAUNCHER_TIMEOUT;
  }
  ck_assert_int_eq(launcher.timed_out != 0, limits);
}
END_TEST

START_TEST(its_own_arguments_are_options_of_its) {
  const char *const *const lists[] = {launcher.oversubscribe, launcher.unbound,
                                      launcher.yielding, launcher.in_order,
                                      launcher.by_name};
  for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
    for (const char *const *a = lists[i]; *a;) {
      const struct launcher_option *const o = launcher_option_find(*a);
      ck_assert_msg(o, "%s", *a);
      for (int n = 0; n <= o->operands; n++) {
        ck_assert_ptr_nonnull(*a++);
      }
    }
  }
  if (launcher.forward) {
    ck_assert_int_eq(launcher_option_find(launcher.forward)->operands, 1);
  }
  ck_assert_int_eq(launcher_option_find(launcher.host_list)->use,
                   LAUNCHER_HOSTS);
}
END_TEST

START_TEST(a_folder_said_by_the_user_is_seen) {
  launcher_end_alone();
  ck_assert(!launcher_has_folder());
  ck_assert_int_eq(launcher_set_folder("/somewhere"), 0);
  ck_assert_int_eq(launcher_has_folder(), launcher.folder_option != NULL);
  ck_assert_int_eq(launcher_begin_alone(NULL), 0);
  launcher_end_alone();
  ck_assert(!launcher_has_folder());
}
END_TEST

/* How many variables it reads. */
static int variables(void) {
  int n = 0;
  for (char **e = environ; *e; e++) {
    n += launcher_reads(*e);
  }
  return n;
}

START_TEST(what_is_set_is_read_by_it) {
  const int before = variables();
  ck_assert_int_eq(launcher_begin_alone(NULL), 0);
  ck_assert_int_ge(variables(), before);
  launcher_end_alone();
  ck_assert_int_eq(variables(), before);
  ck_assert_int_eq(launcher_watch_hosts(), 0);
  ck_assert_int_ge(variables(), before);
  ck_assert_int_eq(launcher_allow_root(), 0);
  ck_assert(!launcher_reads("PATH=/usr/bin"));
  ck_assert(!launcher_reads("PEMS_V=4"));
}
END_TEST

START_TEST(what_a_process_on_its_own_changes_comes_back) {
  const int before = variables();
  ck_assert_int_eq(setenv("TMPDIR", "/mine", 1), 0);
  ck_assert_int_eq(launcher_begin_alone("/somewhere"), 0);
  launcher_end_alone();
  ck_assert_str_eq(getenv("TMPDIR"), "/mine");
  unsetenv("TMPDIR");
  ck_assert_int_eq(launcher_begin_alone("/somewhere"), 0);
  launcher_end_alone();
  ck_assert_ptr_null(getenv("TMPDIR"));
  ck_assert_int_eq(variables(), before);
}
END_TEST

START_TEST(a_process_on_its_own_is_one_of_one) {
  struct launcher_process self;
  ck_assert(!launcher_process(&self));
  ck_assert_int_eq(self.rank, 0);
  ck_assert_int_eq(self.size, 1);
  ck_assert_uint_eq(self.job, 0);
  ck_assert_ptr_null(self.session);
}
END_TEST

/* pemsrun takes no process for one of its job that is not one of so many. */
START_TEST(whatever_starts_it_its_rank_is_below_the_size) {
  struct launcher_process self;
  setenv("PMIX_RANK", "3", 1);
  (void)launcher_process(&self);
  ck_assert_int_lt(self.rank, self.size);
  setenv("OMPI_COMM_WORLD_RANK", "3", 1);
  setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
  (void)launcher_process(&self);
  ck_assert_int_lt(self.rank, self.size);
  unsetenv("OMPI_COMM_WORLD_RANK");
  unsetenv("OMPI_COMM_WORLD_SIZE");
  unsetenv("PMIX_RANK");
}
END_TEST

START_TEST(its_daemon_is_a_starter) {
  bool found = false;
  for (const char *const *name = launcher.starters; *name; name++) {
    found |= strcmp(*name, launcher.daemon) == 0;
  }
  ck_assert(found);
}
END_TEST

/* Stands for UCX, which takes the signal when it is loaded. */
static void (*before_ucx)(int);

static void ask_for_a_debugger(int number) {
  (void)number;
}

__attribute__((visibility("default"))) void
ucs_debug_disable_signal(int number);

void ucs_debug_disable_signal(int number) {
  signal(number, before_ucx);
}

/* What SIGHUP does in the end. */
static void (*hangup_after(void (*before)(int), void (*taken)(int)))(int) {
  before_ucx = before;
  ck_assert(signal(SIGHUP, taken) != SIG_ERR);
  launcher_take_back_hangup();
  return signal(SIGHUP, SIG_DFL);
}

START_TEST(a_hangup_that_ucx_takes_does_what_it_did_before) {
  unsetenv("UCX_DEBUG_SIGNO");
  ck_assert(hangup_after(SIG_DFL, ask_for_a_debugger) == SIG_DFL);
  ck_assert(hangup_after(SIG_IGN, ask_for_a_debugger) == SIG_IGN);
  ck_assert(hangup_after(SIG_DFL, SIG_IGN) == SIG_IGN);
  setenv("UCX_DEBUG_SIGNO", "SIGHUP", 1);
  ck_assert(hangup_after(SIG_DFL, ask_for_a_debugger) == ask_for_a_debugger);
  unsetenv("UCX_DEBUG_SIGNO");
}
END_TEST

int main(void) {
  const TTest *const tests[] = {options_are_found_with_one_dash_or_two,
                                a_time_limit_has_a_status_of_its_own,
                                its_own_arguments_are_options_of_its,
                                a_folder_said_by_the_user_is_seen,
                                what_is_set_is_read_by_it,
                                what_a_process_on_its_own_changes_comes_back,
                                a_process_on_its_own_is_one_of_one,
                                whatever_starts_it_its_rank_is_below_the_size,
                                its_daemon_is_a_starter,
                                a_hangup_that_ucx_takes_does_what_it_did_before,
                                NULL};
  return check_main("launcher", tests);
}
