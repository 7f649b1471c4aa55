#define _GNU_SOURCE
#include "mpi_below/mark.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check_main.h"

static char folder[] = "/tmp/pems-mark.XXXXXX";

static void begin(void) {
  ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void end(void) {
  char command[128];
  snprintf(command, sizeof(command), "rm -rf %s", folder);
  ck_assert_int_eq(system(command), 0);
}

static int make_mark(void) {
  const int fd = mark_open(folder, O_CREAT);
  ck_assert_int_ge(fd, 0);
  return fd;
}

START_TEST(a_mark_is_this_users_file) {
  char path[PATH_MAX];
  struct stat st;
  errno = 0;
  ck_assert_int_eq(mark_open(folder, 0), -1);
  ck_assert_int_eq(errno, ENOENT);
  const int fd = make_mark();
  ck_assert_int_eq(fstat(fd, &st), 0);
  ck_assert_uint_eq(st.st_mode & 0777, 0600);
  ck_assert_int_ne(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
  const int again = mark_open(folder, 0);
  ck_assert_int_ge(again, 0);
  close(again);
  snprintf(path, sizeof(path), "%s/pems-mark", folder);
  ck_assert(!mark_is_removed(fd));
  ck_assert_int_eq(unlink(path), 0);
  ck_assert(mark_is_removed(fd));
  close(fd);
  /* A link is none, nor is what lies behind one. */
  ck_assert_int_eq(symlink("/dev/null", path), 0);
  ck_assert_int_eq(mark_open(folder, O_CREAT), -1);
  ck_assert_int_eq(errno, ELOOP);
}
END_TEST

START_TEST(no_folder_no_mark) {
  char path[PATH_MAX + 1];
  memset(path, 'x', PATH_MAX);
  path[PATH_MAX] = '\0';
  ck_assert_int_eq(mark_open(path, O_CREAT), -1);
  ck_assert_int_eq(errno, ENAMETOOLONG);
  snprintf(path, sizeof(path), "%s/file", folder);
  close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  ck_assert_int_eq(mark_open(path, O_CREAT), -1);
  ck_assert_int_eq(errno, EPERM);
  snprintf(path, sizeof(path), "%s/none", folder);
  ck_assert_int_eq(mark_open(path, O_CREAT), -1);
  ck_assert_int_eq(errno, ENOENT);
}
END_TEST

START_TEST(the_lock_is_of_who_lives) {
  const int fd = make_mark(), other = mark_open(folder, 0);
  ck_assert_int_eq(mark_lock(fd, LOCK_SH), 0);
  ck_assert_int_ne(mark_lock(other, LOCK_EX | LOCK_NB), 0);
  close(fd);
  ck_assert_int_eq(mark_lock(other, LOCK_EX | LOCK_NB), 0);
  close(other);
}
END_TEST

START_TEST(a_process_holds_the_mark_that_it_was_handed) {
  const int fd = make_mark();
  ck_assert(mark_is_held(fd, folder, getpid()));
  ck_assert(!mark_is_held(fd, "/tmp", getpid()));
  ck_assert(!mark_is_held(fd + 1, folder, getpid()));
  const pid_t child = fork();
  if (child == 0) {
    _exit(0);
  }
  ck_assert_int_eq(waitpid(child, NULL, 0), child);
  ck_assert(!mark_is_held(fd, folder, child));
  close(fd);
}
END_TEST

static char seen[1024];

static bool see(const char *kind, const char *rest) {
  const size_t n = strlen(seen);
  snprintf(seen + n, sizeof(seen) - n, "%s=%s;", kind, rest);
  return strcmp(kind, "last") != 0;
}

START_TEST(lines_come_in_turn) {
  const int fd = make_mark();
  mark_note(-1, "file", "nowhere");
  mark_note(fd, "file", "/a b");
  mark_note(fd, "file", "two\nlines");
  mark_note(fd, "memory", "17");
  ck_assert(mark_each(fd, see));
  ck_assert_str_eq(seen, "file=/a b;memory=17;");
  mark_note(fd, "last", "x");
  mark_note(fd, "file", "unseen");
  seen[0] = '\0';
  ck_assert(!mark_each(fd, see));
  ck_assert_str_eq(seen, "file=/a b;memory=17;last=x;");
  ck_assert(!mark_each(-1, see));
  close(fd);
}
END_TEST

START_TEST(only_what_has_ended_here_may_go) {
  int fd = make_mark();
  mark_note_boot(fd);
  mark_note(fd, "file", "/any");
  ck_assert(mark_each(fd, mark_may_go));
  ck_assert(!mark_may_go("boot", "of another machine"));
  mark_note_mpirun(fd, getpid());
  ck_assert(!mark_each(fd, mark_may_go));
  close(fd);
  end();
  ck_assert_int_eq(mkdir(folder, 0700), 0);
  fd = make_mark();
  const pid_t child = fork();
  if (child == 0) {
    _exit(0);
  }
  ck_assert_int_eq(waitpid(child, NULL, 0), child);
  mark_note_mpirun(fd, child);
  ck_assert(mark_each(fd, mark_may_go));
  ck_assert(!mark_may_go("mpirun", "1 1"));
  ck_assert(!mark_may_go("mpirun", "nonsense"));
  close(fd);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      a_mark_is_this_users_file, no_folder_no_mark,
      the_lock_is_of_who_lives,  a_process_holds_the_mark_that_it_was_handed,
      lines_come_in_turn,        only_what_has_ended_here_may_go};
  Suite *const suite = suite_create("mark");
  TCase *const all = tcase_create("all");
  tcase_set_timeout(all, 60);
  tcase_add_checked_fixture(all, begin, end);
  for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
    tcase_add_test(all, tests[i]);
  }
  suite_add_tcase(suite, all);
  return check_run(suite);
}
