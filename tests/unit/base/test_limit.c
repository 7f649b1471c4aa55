/* Which limit has stopped this process. */
#include "base/limit.h"

#include "base/message.h"

#include "check_child.h"
#include "check_main.h"

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define GIB ((size_t)1 << 30)

static void bound(int resource, rlim_t most) {
  struct rlimit limit;
  getrlimit((__rlimit_resource_t)resource, &limit);
  limit.rlim_cur = most;
  if (setrlimit((__rlimit_resource_t)resource, &limit)) {
    perror("setrlimit");
  }
}

static void say(enum limit_use use, int code, uint64_t bytes) {
  char text[LIMIT_TEXT];
  fputs(limit_advice(text, use, code, bytes, "other"), stderr);
}

/* What a child prints that has the limit. */
static const char *said(void (*f)(void)) {
  static char text[500];
  ck_assert_int_eq(check_child_exit(f, text, sizeof(text)), CHILD_RETURNED);
  return text;
}

static void map(int protection, enum limit_use use) {
  void *const p = mmap(NULL, 2 * GIB, protection,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) {
    say(use, errno, 2 * GIB);
  }
}

/* RLIMIT_AS is not for programs under a sanitizer, which take terabytes. */
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
static void few_addresses(void) {
  bound(RLIMIT_AS, GIB);
  map(PROT_NONE, LIMIT_ADDRESSES);
}

static void *nothing(void *arg) {
  return arg;
}

static void large_stack(void) {
  pthread_t thread;
  pthread_attr_t attr;
  bound(RLIMIT_AS, GIB);
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, 2 * GIB);
  say(LIMIT_THREAD, pthread_create(&thread, &attr, nothing, NULL), 2 * GIB);
}

START_TEST(addresses_are_named) {
  ck_assert_str_eq(said(few_addresses), "ulimit -v is 1048576 KiB: raise it");
  ck_assert_str_eq(said(large_stack), "ulimit -v is 1048576 KiB: raise it");
}
END_TEST

static void little_data(void) {
  bound(RLIMIT_DATA, GIB);
  map(PROT_READ | PROT_WRITE, LIMIT_MEMORY);
}

static void data_and_addresses(void) {
  bound(RLIMIT_DATA, GIB);
  say(LIMIT_ADDRESSES, ENOMEM, 2 * GIB);
}

START_TEST(data_is_named) {
  ck_assert_str_eq(said(little_data), "ulimit -d is 1048576 KiB: raise it");
  ck_assert_str_eq(said(data_and_addresses), "other");
}
END_TEST
#endif

static void few_files(void) {
  bound(RLIMIT_NOFILE, 3);
  const int fd = dup(2);
  say(LIMIT_FILE, fd < 0 ? errno : 0, 0);
}

static void small_files(void) {
  bound(RLIMIT_FSIZE, 1 << 20);
  say(LIMIT_FILE, EFBIG, 0);
  say(LIMIT_FILE, EFBIG, 1 << 20);
}

START_TEST(files_are_named) {
  ck_assert_str_eq(said(few_files), "ulimit -n is 3: raise it");
  ck_assert_str_eq(said(small_files), "ulimit -f is 1024 KiB: raise itother");
}
END_TEST

static void few_threads(void) {
  bound(RLIMIT_NPROC, 7);
  if (geteuid() == 0 && seteuid(65534)) {
    perror("seteuid");
  }
  say(LIMIT_THREAD, EAGAIN, 0);
}

static void threads_of_root(void) {
  bound(RLIMIT_NPROC, 7);
  say(LIMIT_THREAD, EAGAIN, 0);
}

START_TEST(threads_are_named) {
  ck_assert_str_eq(said(few_threads),
                   "ulimit -u is 7: raise it, or the cgroup's pids.max");
  if (geteuid() == 0) {
    ck_assert_str_eq(said(threads_of_root), "other");
  }
}
END_TEST

static void no_limit(void) {
  bound(RLIMIT_FSIZE, RLIM_INFINITY);
  say(LIMIT_MEMORY, ENOMEM, GIB);
  say(LIMIT_FILE, EFBIG, 0);
  say(LIMIT_FILE, EACCES, 0);
}

START_TEST(otherwise_it_is_something_else) {
  ck_assert_str_eq(said(no_limit), "otherotherother");
}
END_TEST

static void need_many(void) {
  bound(RLIMIT_NOFILE, 8);
  limit_need_files(8);
  limit_need_files(9);
}

START_TEST(too_few_files_end_it) {
  char text[500];
  ck_assert_int_eq(check_child_exit(need_many, text, sizeof(text)), MSG_USAGE);
  ck_assert_str_eq(text, "pems: open files: too few for MPI: ulimit -n is 8: "
                         "raise it to 9 or more\n");
}
END_TEST

static rlim_t soft_files(void) {
  struct rlimit limit = {0, 0};
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

/* In a child, for it cannot be taken back. Of 2048 that are allowed. */
static void share_files(void) {
  struct rlimit limit = {64, 2048};
  int status = 1;
  setrlimit(RLIMIT_NOFILE, &limit);
  fprintf(stderr, "%llu ", (unsigned long long)limit_files(64));
  limit_share_files(3);
  const rlim_t more = soft_files();
  fprintf(stderr, "%llu %llu ", (unsigned long long)more,
          (unsigned long long)limit_files(more));
  limit_files_become(100);
  fprintf(stderr, "%llu %llu ", (unsigned long long)limit_files(more),
          (unsigned long long)limit_files(80));
  const pid_t pid = fork();
  if (pid == 0) {
    _exit(soft_files() != 100);
  }
  waitpid(pid, &status, 0);
  limit_share_files(1000);
  fprintf(stderr, "%d %llu", status, (unsigned long long)soft_files());
  _exit(0);
}

START_TEST(ranks_share_what_is_allowed) {
  char text[500];
  ck_assert_int_eq(check_child_exit(share_files, text, sizeof(text)), 0);
  ck_assert_str_eq(text, "64 1216 64 100 80 0 2048");
}
END_TEST

int main(void) {
  Suite *s = suite_create("limit");
  TCase *t = tcase_create("limit");
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
  tcase_add_test(t, addresses_are_named);
  tcase_add_test(t, data_is_named);
#endif
  tcase_add_test(t, files_are_named);
  tcase_add_test(t, threads_are_named);
  tcase_add_test(t, otherwise_it_is_something_else);
  tcase_add_test(t, too_few_files_end_it);
  tcase_add_test(t, ranks_share_what_is_allowed);
  suite_add_tcase(s, t);
  return check_run(s);
}
