#define _GNU_SOURCE
#include "os/memory_file.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check_child.h"
#include "check_main.h"
#include "check_refuse.h"

enum { GOOD = 7, BYTES = 4096 };

static int code;

static void check_file(bool runs) {
  struct stat st;
  const int fd = memory_file("pems-test", runs);
  ck_assert_int_ge(fd, 0);
  ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
  ck_assert_int_eq(fstat(fd, &st), 0);
  ck_assert_int_eq(st.st_nlink, 0);
  ck_assert_int_eq(ftruncate(fd, BYTES), 0);
  char *const at =
      mmap(NULL, BYTES, PROT_READ | (runs ? PROT_EXEC : PROT_WRITE),
           runs ? MAP_PRIVATE : MAP_SHARED, fd, 0);
  ck_assert(at != MAP_FAILED);
  munmap(at, BYTES);
  close(fd);
}

START_TEST(a_file_is_in_memory) {
  check_file(false);
  check_file(true);
  ck_assert_ptr_null(memory_file_directory());
}
END_TEST

static void be_refused(void) {
  if (check_refuse(SYS_memfd_create, code) == 0) {
    check_file(false);
    check_file(true);
    ck_assert_ptr_nonnull(memory_file_directory());
    _exit(GOOD);
  }
}

START_TEST(where_that_is_refused_it_has_no_name) {
  char said[500];
  code = EPERM;
  ck_assert_int_eq(check_child_exit(be_refused, said, sizeof(said)), GOOD);
  code = ENOSYS;
  ck_assert_int_eq(check_child_exit(be_refused, said, sizeof(said)), GOOD);
}
END_TEST

static void be_short(void) {
  if (check_refuse(SYS_memfd_create, EMFILE) == 0) {
    ck_assert_int_eq(memory_file("pems-test", false), -1);
    ck_assert_int_eq(errno, EMFILE);
    ck_assert_ptr_null(memory_file_directory());
    _exit(GOOD);
  }
}

START_TEST(another_failure_is_one) {
  char said[500];
  ck_assert_int_eq(check_child_exit(be_short, said, sizeof(said)), GOOD);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {a_file_is_in_memory,
                                where_that_is_refused_it_has_no_name,
                                another_failure_is_one, NULL};
  return check_main("memory_file", tests);
}
