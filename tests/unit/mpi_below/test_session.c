#include "mpi_below/session.h"

#include <check.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check_main.h"

static char work[] = "/tmp/pems-session.XXXXXX";

static const char *at(const char *name) {
  static char path[512];
  snprintf(path, sizeof(path), "%s/%s", work, name);
  return path;
}

static void make(const char *name) {
  if (name[0] != '-') {
    ck_assert_int_eq(mkdir(at(name), 0700), 0);
  } else {
    const int fd = open(at(name + 1), O_CREAT | O_WRONLY, 0600);
    ck_assert_int_ge(fd, 0);
    close(fd);
  }
}

static bool exists(const char *name) {
  return access(at(name), F_OK) == 0;
}

static void make_all(void) {
  ck_assert_ptr_nonnull(mkdtemp(work));
  make("ompi.a.0");
  make("ompi.a.0/jf.1");
  make("ompi.a.0/jf.1/0");
  make("-ompi.a.0/jf.1/0/segment");
  make("ompi.a.0/pid.2");
  make("other");
  make("other/jf.1");
}

static void remove_all(void) {
  char command[600];
  snprintf(command, sizeof(command), "rm -rf %s", work);
  ck_assert_int_eq(system(command), 0);
}

START_TEST(test_only_sessions_go) {
  make_all();
  session_remove(at("other/jf.1"));
  session_remove(at("ompi.a.0"));
  session_remove(at("ompi.a.0/jf.1/0"));
  session_remove("");
  session_remove("/");
  ck_assert(exists("other/jf.1"));
  ck_assert(exists("ompi.a.0/jf.1/0/segment"));
  session_remove(at("ompi.a.0/jf.1"));
  ck_assert(!exists("ompi.a.0/jf.1"));
  ck_assert(exists("ompi.a.0/pid.2"));
  session_remove(at("ompi.a.0/pid.2"));
  ck_assert(!exists("ompi.a.0"));
  session_remove(at("ompi.a.0/pid.2"));
  remove_all();
}
END_TEST

START_TEST(test_sessions_of_prrte) {
  make_all();
  make("ompi.17");
  make("ompi.17/1");
  make("prte.a.0");
  make("prte.a.0/dvm.3");
  make("ompi.x17");
  make("prted.18");
  make("prted.18/1");
  make("prted.x");
  session_remove(at("ompi.x17"));
  session_remove(at("prted.x"));
  session_remove(at("ompi.17/1"));
  ck_assert(exists("ompi.x17") && exists("ompi.17/1") && exists("prted.x"));
  session_remove(at("ompi.17"));
  session_remove(at("prted.18"));
  session_remove(at("prte.a.0/dvm.3"));
  ck_assert(!exists("ompi.17") && !exists("prte.a.0") && !exists("prted.18"));
  ck_assert(exists("ompi.a.0"));
  remove_all();
}
END_TEST

static char segment[128];
static int segments;

static void count_segment(const char *path) {
  segments += strcmp(path, segment) == 0;
}

static const char *const segment_starts[] = {"sm_segment.h.", "mpich_shm_",
                                             "ucx_shm_posix_"};

START_TEST(test_mapped_segments_are_found) {
  segments = 0;
  snprintf(segment, sizeof(segment), "/dev/shm/%s%ld", segment_starts[_i],
           (long)getpid());
  const int fd = open(segment, O_CREAT | O_RDWR, 0600);
  ck_assert_int_eq(ftruncate(fd, 4096), 0);
  session_each_segment(count_segment);
  ck_assert_int_eq(segments, 0);
  void *const map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
  ck_assert_ptr_ne(map, MAP_FAILED);
  session_each_segment(count_segment);
  ck_assert_int_eq(segments, 1);
  session_remove_segment(segment);
  ck_assert_int_eq(access(segment, F_OK), 0);
  munmap(map, 4096);
  session_remove_segment(segment);
  ck_assert_int_ne(access(segment, F_OK), 0);
  session_each_segment(count_segment);
  ck_assert_int_eq(segments, 1);
  close(fd);
}
END_TEST

START_TEST(test_memory_of_one_job) {
  char one[128], other[128];
  const unsigned long uid = geteuid(), job = (unsigned long)getpid() << 32;
  snprintf(one, sizeof(one), "/dev/shm/vader_segment.h.%lu.%lx.0", uid, job);
  snprintf(other, sizeof(other), "/dev/shm/vader_segment.h.%lu.%lx.0", uid,
           job + 1);
  close(open(one, O_CREAT | O_WRONLY, 0600));
  close(open(other, O_CREAT | O_WRONLY, 0600));
  session_remove_memory(job);
  ck_assert_int_ne(access(one, F_OK), 0);
  ck_assert_int_eq(access(other, F_OK), 0);
  unlink(other);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("session");
  TCase *const c = tcase_create("session");
  tcase_add_test(c, test_only_sessions_go);
  tcase_add_test(c, test_sessions_of_prrte);
  tcase_add_loop_test(c, test_mapped_segments_are_found, 0, 3);
  tcase_add_test(c, test_memory_of_one_job);
  suite_add_tcase(suite, c);
  return check_run(suite);
}
