/* What a program has open that nobody could open again is named, and nothing
   else. */
#define _GNU_SOURCE
#include "mpi/job/checkpoint_files.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/self.h"
#include "check_main.h"
#include "interpose/descriptor.h"
#include "mpi/io/file.h"
#include "vp/vp.h"

static char dir[] = "/tmp/pems-files.XXXXXX", shelf[64];
static struct pems_error error;
static struct vp vp;
static struct rank rank;

static void begin(void) {
  ck_assert_ptr_nonnull(mkdtemp(dir));
  snprintf(shelf, sizeof(shelf), "%s/shelf", dir);
  ck_assert_int_eq(chdir(dir), 0);
  vp.mpi = &rank;
  vps.item = &vp;
  vps.n = vps.plan.v = 1;
  descriptors_start(1);
  checkpoint_files_note();
  ck_assert_int_eq(checkpoint_files_check(shelf, &error), 0);
}

static void finish(void) {
  char command[64];
  snprintf(command, sizeof(command), "rm -r %s", dir);
  ck_assert_int_eq(system(command), 0);
}

/* The program has opened fd, which is closed then. */
static void refuse(int fd, const char *why) {
  self.vp = &vp;
  (void)descriptor_take(fd);
  self.vp = NULL;
  ck_assert_int_eq(checkpoint_files_check(shelf, &error), ENOTSUP);
  ck_assert_msg(strstr(error.text, why), "%s", error.text);
  close(fd);
  ck_assert_int_eq(checkpoint_files_check(shelf, &error), 0);
}

START_TEST(what_the_program_has_open_is_named) {
  int ends[2];
  begin();
  ck_assert_int_eq(pipe(ends), 0);
  close(ends[1]);
  refuse(ends[0], "pipe:");
  refuse(socket(AF_UNIX, SOCK_STREAM, 0), "socket:");
  refuse(open(dir, O_RDONLY | O_DIRECTORY), dir);
  refuse(open("/dev/ptmx", O_RDWR | O_NOCTTY), "ptmx");
  finish();
}
END_TEST

START_TEST(what_is_no_rank_s_is_not) {
  begin();
  const int of_mpi = socket(AF_UNIX, SOCK_STREAM, 0);
  const int memory = memfd_create("of pems", 0);
  const int in_shelf = open("shelf", O_RDWR | O_CREAT, 0600);
  const int removed = open("scratch", O_RDWR | O_CREAT, 0600);
  unlink("scratch");
  Dl_info libc;
  ck_assert_int_ne(dladdr((void *)strlen, &libc), 0);
  const int loaded = open(libc.dli_fname, O_RDONLY);
  ck_assert_int_ge(loaded, 0);
  self.vp = &vp;
  const int of_rank = descriptor_take(open("rank", O_RDWR | O_CREAT, 0600));
  self.vp = NULL;
  ck_assert_int_ge(of_rank, 256);
  ck_assert_int_eq(checkpoint_files_check(shelf, &error), 0);
  /* A copy of it is not known. */
  const int copy = dup(of_rank);
  ck_assert_int_eq(checkpoint_files_check(shelf, &error), ENOTSUP);
  ck_assert_ptr_nonnull(strstr(error.text, "/rank"));
  close(copy);
  const int all[] = {of_mpi, memory, in_shelf, removed, loaded, of_rank};
  for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
    close(all[i]);
  }
  finish();
}
END_TEST

/* The real library opens it for the program. */
START_TEST(a_file_of_mpi_is_saved_as_such) {
  char path[128];
  struct file file = {.path = path};
  struct files files = {.first = &file};
  begin();
  snprintf(path, sizeof(path), "%s/file", dir);
  const int fd = open(path, O_RDWR | O_CREAT, 0600);
  ck_assert_int_eq(checkpoint_files_check(shelf, &error), ENOTSUP);
  rank.files = &files;
  ck_assert_int_eq(checkpoint_files_check(shelf, &error), 0);
  strcat(path, "s");
  ck_assert_int_eq(checkpoint_files_check(shelf, &error), ENOTSUP);
  close(fd);
  finish();
}
END_TEST

START_TEST(what_was_open_before_stays) {
  int ends[2];
  ck_assert_int_eq(pipe(ends), 0);
  begin();
  close(ends[0]);
  close(ends[1]);
  finish();
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      what_the_program_has_open_is_named, what_is_no_rank_s_is_not,
      a_file_of_mpi_is_saved_as_such, what_was_open_before_stays, NULL};
  return check_main("checkpoint_files", tests);
}
