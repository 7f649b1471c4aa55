#define _GNU_SOURCE
#include "context/store/failed_page.h"

#include "base/message.h"
#include "check_child.h"
#include "check_main.h"
#include "store_contexts.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CONTEXTS = 3 };

static const size_t mu = 8 * MIB;
static volatile int faults;

/* Sets the size of the scratch file, which others know not of. Returns what it
   was. */
static off_t resize(off_t size) {
  for (int fd = 3; fd < 1024; fd++) {
    char name[64], path[128];
    struct stat st;
    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(name, path, sizeof(path) - 1);
    path[n > 0 ? n : 0] = '\0';
    if (strncmp(path, dir, strlen(dir)) == 0 && fstat(fd, &st) == 0) {
      ck_assert_int_eq(ftruncate(fd, size), 0);
      return st.st_size;
    }
  }
  ck_abort_msg("no scratch file is open in %s", dir);
  return 0;
}

static off_t size_to_heal; /* what the first fault makes of the file, or 0 */

static void on_fault(int number, siginfo_t *info, void *frame) {
  (void)number, (void)frame;
  faults++;
  if (size_to_heal) {
    resize(size_to_heal);
  }
  if (!failed_page_retry(info->si_addr)) {
    _exit(3);
  }
}

static void notice_faults(void) {
  const struct sigaction action = {.sa_sigaction = on_fault,
                                   .sa_flags = SA_SIGINFO};
  ck_assert_int_eq(sigaction(SIGBUS, &action, NULL), 0);
}

/* A megabyte of the heap of context 1 shows the file. */
static void map_lazily(void) {
  struct context *const c = context_get(1);
  const uintptr_t start = (uintptr_t)c->range;
  char *const memory = aligned_alloc(PAGE, MIB);
  struct store_batch b;
  ck_assert_ptr_nonnull(memory);
  memset(memory, 7, MIB);
  store_begin(&b, c);
  store_start_write(&b, start, memory, MIB);
  store_wait(&b, "writing");
  ck_assert_int_eq(store_map_lazy(c, start, start + MIB, true), 0);
  c->lazy.mapped_bytes = MIB;
  free(memory);
}

static void expect_line(void (*f)(void)) {
  char said[600], expected[600];
  ck_assert_int_eq(check_child_exit(f, said, sizeof(said)), MSG_FAILED);
  snprintf(expected, sizeof(expected),
           "pems: reading a mapped page: context of rank 1 in %s: %s\n", dir,
           strerror(EIO));
  ck_assert_str_eq(said, expected);
}

static void touch_what_was_cut(void) {
  notice_faults();
  resize(0);
  (void)*(volatile char *)(context_get(1)->range + PAGE);
}

static void touch_data_that_was_cut(void) {
  notice_faults();
  resize(0);
  (void)*(volatile char *)data[1];
}

START_TEST(an_error_under_a_mapped_context_ends_the_job) {
  create("mmap", CONTEXTS, mu, CONTEXTS * mu);
  context_get(1)->range[PAGE] = 'x';
  ck_assert(failed_page_possible());
  expect_line(touch_what_was_cut);
  resize(CONTEXTS * (off_t)mu);
  expect_line(touch_data_that_was_cut);
}
END_TEST

static void write_what_was_cut(void) {
  struct context *const c = context_get(1);
  struct store_batch b;
  resize(0);
  store_begin(&b, c);
  store_start_write(&b, (uintptr_t)c->range, c->range, MIB);
  store_wait(&b, "swapping out");
}

START_TEST(an_error_under_a_lazy_mapping_ends_the_job) {
  create("unix", CONTEXTS, mu, CONTEXTS * mu);
  ck_assert(failed_page_possible());
  map_lazily();
  expect_line(write_what_was_cut);
  resize(CONTEXTS * (off_t)mu);
  expect_line(touch_what_was_cut);
}
END_TEST

/* _i: lazily. */
START_TEST(a_page_that_can_be_read_after_all_is_read) {
  create(_i ? "unix" : "mmap", CONTEXTS, mu, CONTEXTS * mu);
  char *const at = context_get(1)->range + PAGE;
  if (_i) {
    map_lazily();
  }
  notice_faults();
  size_to_heal = resize(0);
  faults = 0;
  ck_assert_int_eq(*(volatile char *)at, 0); /* a hole now */
  ck_assert_int_eq(faults, 1);
  size_to_heal = 0;
  signal(SIGBUS, SIG_DFL);
}
END_TEST

START_TEST(what_is_in_no_mapping_is_not_ours) {
  int local = 0;
  create("unix", CONTEXTS, mu, CONTEXTS * mu);
  ck_assert(!failed_page_retry(&local));
  ck_assert(!failed_page_retry(NULL));
  ck_assert(!failed_page_retry(context_get(1)->range)); /* not mapped now */
  map_lazily();
  ck_assert(failed_page_retry(context_get(1)->range));
  ck_assert(!failed_page_retry(data[1])); /* never mapped lazily */
}
END_TEST

START_TEST(without_mappings_there_is_nothing_to_do) {
  store_open(NULL);
  ck_assert(!failed_page_possible());
  ck_assert(!failed_page_retry(error.text));
}
END_TEST

static void fault_for_ever(void) {
  for (;;) {
    ck_assert(failed_page_retry(context_get(1)->range));
  }
}

/* Drivers can read it, but the system does not. */
START_TEST(nobody_tries_for_ever) {
  create("mmap", CONTEXTS, mu, CONTEXTS * mu);
  expect_line(fault_for_ever);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("failed_page");
  TCase *const all = tcase_create("all");
  tcase_set_timeout(all, 60);
  tcase_add_checked_fixture(all, make_dir, remove_all);
  tcase_add_test(all, an_error_under_a_mapped_context_ends_the_job);
  tcase_add_test(all, an_error_under_a_lazy_mapping_ends_the_job);
  tcase_add_loop_test(all, a_page_that_can_be_read_after_all_is_read, 0, 2);
  tcase_add_test(all, what_is_in_no_mapping_is_not_ours);
  tcase_add_test(all, nobody_tries_for_ever);
  suite_add_tcase(suite, all);
  TCase *const none = tcase_create("none");
  tcase_add_test(none, without_mappings_there_is_nothing_to_do);
  suite_add_tcase(suite, none);
  return check_run(suite);
}
