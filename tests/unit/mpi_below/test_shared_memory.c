/* Memory that two processes share; the other one is a child. */
#define _GNU_SOURCE
#include "mpi_below/shared_memory.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check_host.h"
#include "check_main.h"

enum { BYTES = 100000 };

/* Every page of it is there: it is in no file system, which could be full. */
START_TEST(another_process_has_it) {
  struct shared_memory first, second;
  int status;
  ck_assert_int_eq(shared_memory_make(&first, MPI_COMM_WORLD, BYTES), 0);
  const pid_t child = fork();
  if (child == 0) {
    me = OTHER;
    if (shared_memory_make(&second, MPI_COMM_WORLD, BYTES) ||
        second.at == first.at) {
      _exit(1);
    }
    memset(second.at, 7, BYTES);
    shared_memory_free(&second);
    _exit(0);
  }
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_int_eq(status, 0);
  for (int i = 0; i < BYTES; i++) {
    ck_assert_int_eq(((char *)first.at)[i], 7);
  }
  shared_memory_free(&first);
  ck_assert_ptr_null(first.at);
}
END_TEST

static void check_none(int code) {
  struct shared_memory m;
  ck_assert_int_eq(shared_memory_make(&m, MPI_COMM_WORLD, BYTES), code);
  ck_assert_ptr_null(m.at);
}

START_TEST(a_file_that_is_not_the_one_is_refused) {
  struct shared_memory m;
  ck_assert_int_eq(shared_memory_make(&m, MPI_COMM_WORLD, BYTES), 0);
  me = OTHER;
  file.inode++;
  check_none(ENOENT);
  file.process = (uint64_t)getpid() << 32; /* there is none */
  check_none(ENOENT);
  shared_memory_free(&m);
}
END_TEST

START_TEST(what_one_lacks_all_lack) {
  shares = false;
  check_none(EPERM);
}
END_TEST

START_TEST(ulimit_f_does_not_end_the_job) {
  const struct rlimit little = {BYTES - 1, BYTES - 1};
  ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &little), 0);
  check_none(EFBIG);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      another_process_has_it, a_file_that_is_not_the_one_is_refused,
      what_one_lacks_all_lack, ulimit_f_does_not_end_the_job, NULL};
  return check_main_around("shared_memory", tests, set_up, tear_down);
}
