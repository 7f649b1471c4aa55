/* Descriptors of files that ranks have open: numbers that no two ranks share,
   and files that are opened again. */
#define _GNU_SOURCE
#include "interpose/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/self.h"
#include "check_blocks.h"
#include "check_main.h"
#include "vp/vp.h"

enum { RANKS = 3 };

static struct vp vp[RANKS];
static char dir[] = "/tmp/pems-descriptor.XXXXXX";

static void begin(void) {
  ck_assert_ptr_nonnull(mkdtemp(dir));
  ck_assert_int_eq(chdir(dir), 0);
  for (int i = 0; i < RANKS; i++) {
    vp[i].rank = vp[i].index = i;
  }
  vps.item = vp;
  vps.n = vps.plan.v = RANKS;
  descriptors_start(RANKS);
  self.vp = &vp[1];
}

static void finish(void) {
  char command[64];
  self.vp = NULL;
  snprintf(command, sizeof(command), "rm -r %s", dir);
  ck_assert_int_eq(system(command), 0);
}

static int open_file(const char *name, int flags) {
  const int fd = open(name, flags | O_CREAT, 0600);
  ck_assert_int_ge(fd, 0);
  return descriptor_take(fd);
}

static bool is_open(int fd) {
  return fcntl(fd, F_GETFD) >= 0;
}

START_TEST(numbers_are_of_one_rank) {
  int fd[RANKS][4];
  begin();
  for (int r = 0; r < RANKS; r++) {
    self.vp = &vp[r];
    for (int i = 0; i < 4; i++) {
      fd[r][i] = open_file("a", O_RDWR);
      ck_assert_int_ge(fd[r][i], 256);
      ck_assert_int_eq(fd[r][i] % RANKS, fd[r][0] % RANKS);
      ck_assert(descriptor_is_known(fd[r][i]));
      ck_assert_int_eq(descriptor_take(fd[r][i]), fd[r][i]);
    }
  }
  ck_assert_int_ne(fd[0][0] % RANKS, fd[1][0] % RANKS);
  ck_assert_int_ne(fd[0][0] % RANKS, fd[2][0] % RANKS);
  ck_assert_int_ne(fd[1][0] % RANKS, fd[2][0] % RANKS);
  /* What is closed is used again, by the same rank. */
  close(fd[2][1]);
  ck_assert_int_eq(open_file("b", O_RDWR), fd[2][1]);
  descriptors_end(&vp[2]);
  for (int i = 0; i < 4; i++) {
    ck_assert(!is_open(fd[2][i]));
    ck_assert(is_open(fd[0][i]));
  }
  finish();
}
END_TEST

START_TEST(what_is_no_file_stays_where_it_is) {
  int ends[2];
  struct stat st;
  begin();
  errno = ENOSPC;
  ck_assert_int_eq(descriptor_take(-1), -1);
  ck_assert_int_eq(errno, ENOSPC);
  ck_assert_int_eq(pipe(ends), 0);
  ck_assert_int_eq(descriptor_take(ends[0]), ends[0]);
  const int s = socket(AF_UNIX, SOCK_STREAM, 0);
  fstat(s, &st);
  ck_assert(!descriptor_is_programs(s, st.st_ino));
  ck_assert_int_eq(descriptor_take(s), s);
  ck_assert(descriptor_is_programs(s, st.st_ino));
  ck_assert(!descriptor_is_programs(s, st.st_ino + 1));
  ck_assert(!descriptor_is_known(s) && !descriptor_is_known(ends[0]));
  ck_assert_int_ge(open_file("/dev/null", O_RDWR), 256);
  finish();
}
END_TEST

START_TEST(where_somebody_has_the_number_another_is_taken) {
  begin();
  const int first = open_file("a", O_RDWR);
  close(first);
  ck_assert_int_eq(dup2(0, first), first);
  const int second = open_file("a", O_RDWR);
  ck_assert_int_ne(second, first);
  ck_assert_int_eq(second % RANKS, first % RANKS);
  finish();
}
END_TEST

START_TEST(files_are_opened_again) {
  char text[8] = "";
  begin();
  const int a = open_file("a", O_RDWR), b = open_file("b", O_WRONLY | O_APPEND);
  const int c = open_file("c", O_RDONLY | O_CLOEXEC);
  ck_assert_int_eq(write(a, "0123456789", 10), 10);
  ck_assert_int_eq(lseek(a, 4, SEEK_SET), 4);
  ck_assert_int_eq(write(b, "bb", 2), 2);
  ck_assert_int_eq(descriptors_check(&vp[1], NULL), 0);
  blocks_begin();
  ck_assert_int_eq(descriptors_save(&vp[1], &blocks_out, NULL), 0);
  blocks_turn();
  descriptors_end(&vp[1]);
  vp[1].files = 0;
  ck_assert(!is_open(a) && !is_open(b) && !is_open(c));
  ck_assert_int_eq(descriptors_load(&vp[1], &blocks_in, NULL), 0);
  blocks_end();
  ck_assert_int_eq(read(a, text, 3), 3);
  ck_assert_str_eq(text, "456");
  ck_assert_int_eq(write(a, "x", 1), 1);
  ck_assert_int_eq(write(b, "bb", 2), 2);
  ck_assert_int_eq(lseek(b, 0, SEEK_END), 4);
  ck_assert(fcntl(b, F_GETFL) & O_APPEND);
  ck_assert_int_eq(fcntl(c, F_GETFD), FD_CLOEXEC);
  ck_assert_int_eq(fcntl(a, F_GETFD), 0);
  ck_assert_int_eq(write(c, "x", 1), -1);
  ck_assert(descriptor_is_known(a) && descriptor_is_known(b));
  finish();
}
END_TEST

START_TEST(copies_share_their_offset_again) {
  char text[4] = "";
  begin();
  const int a = open_file("a", O_RDWR), other = open_file("a", O_RDWR);
  const int copy = descriptor_take(dup(a));
  ck_assert_int_ge(copy, 256);
  ck_assert_int_eq(write(a, "0123456789", 10), 10);
  ck_assert_int_eq(lseek(a, 4, SEEK_SET), 4);
  ck_assert_int_eq(lseek(other, 4, SEEK_SET), 4); /* by chance */
  ck_assert_int_eq(fcntl(copy, F_SETFD, FD_CLOEXEC), 0);
  blocks_begin();
  ck_assert_int_eq(descriptors_save(&vp[1], &blocks_out, NULL), 0);
  blocks_turn();
  ck_assert_int_eq(lseek(a, 0, SEEK_CUR), 4);
  descriptors_end(&vp[1]);
  vp[1].files = 0;
  ck_assert_int_eq(descriptors_load(&vp[1], &blocks_in, NULL), 0);
  blocks_end();
  ck_assert_int_eq(read(copy, text, 3), 3);
  ck_assert_str_eq(text, "456");
  ck_assert_int_eq(lseek(a, 0, SEEK_CUR), 7);
  ck_assert_int_eq(lseek(other, 0, SEEK_CUR), 4);
  ck_assert_int_eq(fcntl(copy, F_GETFD), FD_CLOEXEC);
  ck_assert_int_eq(fcntl(a, F_GETFD), 0);
  finish();
}
END_TEST

/* Of the files of the first rank, the one at `name` is lost before they are
   opened again. */
static int lose(void (*lose_it)(int fd), struct pems_error *error) {
  const int fd = open_file("lost", O_RDWR);
  blocks_begin();
  ck_assert_int_eq(descriptors_save(&vp[1], &blocks_out, NULL), 0);
  blocks_turn();
  descriptors_end(&vp[1]);
  lose_it(fd);
  return descriptors_load(&vp[1], &blocks_in, error);
}

static void unlink_it(int fd) {
  (void)fd;
  unlink("lost");
}

static void occupy(int fd) {
  ck_assert_int_eq(dup2(0, fd), fd);
}

static void limit(int fd) {
  const struct rlimit few = {fd, fd};
  ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
}

START_TEST(what_cannot_be_opened_again_is_said) {
  struct pems_error error;
  begin();
  ck_assert_int_eq(lose(unlink_it, &error), ENOENT);
  ck_assert_ptr_nonnull(strstr(error.text, "rank 1: "));
  ck_assert_ptr_nonnull(strstr(error.text, "/lost: No such file"));
  ck_assert_int_eq(lose(occupy, &error), EBUSY);
  ck_assert_ptr_nonnull(strstr(error.text, "its descriptor is in use"));
  descriptors_end(&vp[1]);
  ck_assert_int_eq(lose(limit, &error), EMFILE);
  ck_assert_ptr_nonnull(strstr(error.text, "ulimit"));
  finish();
}
END_TEST

START_TEST(what_could_not_be_opened_again_is_said) {
  struct pems_error error;
  begin();
  const int fd = open_file("a", O_RDWR);
  ck_assert_int_eq(descriptors_check(&vp[1], &error), 0);
  unlink("a");
  ck_assert_int_eq(descriptors_check(&vp[1], &error), ENOTSUP);
  ck_assert_ptr_nonnull(strstr(error.text, "removed"));
  /* What /proc calls it is there, but is another one. */
  close(creat("a", 0600));
  close(creat("a (deleted)", 0600));
  ck_assert_int_eq(descriptors_check(&vp[1], &error), ENOTSUP);
  ck_assert_int_eq(descriptors_check(&vp[2], &error), 0);
  close(fd);
  ck_assert_int_eq(descriptors_check(&vp[1], &error), 0);
  const int of_system = open("/proc/self/status", O_RDONLY);
  (void)descriptor_take(of_system);
  ck_assert_int_eq(descriptors_check(&vp[1], &error), ENOTSUP);
  ck_assert_ptr_nonnull(strstr(error.text, "of the system"));
  finish();
}
END_TEST

int main(void) {
  const TTest *const tests[] = {numbers_are_of_one_rank,
                                what_is_no_file_stays_where_it_is,
                                where_somebody_has_the_number_another_is_taken,
                                files_are_opened_again,
                                copies_share_their_offset_again,
                                what_cannot_be_opened_again_is_said,
                                what_could_not_be_opened_again_is_said,
                                NULL};
  return check_main("descriptor", tests);
}
