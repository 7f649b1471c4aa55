#define _GNU_SOURCE
#include "os/lock_holder.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check_main.h"

static char path[] = "/tmp/pems-lock-holder.XXXXXX";

/* A child that has bytes 10 to 19, and waits to be killed. */
static pid_t holder(void) {
  int ready[2];
  char byte = 0;
  ck_assert_int_eq(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    struct flock l = {.l_type = F_WRLCK, .l_start = 10, .l_len = 10};
    const int own = open(path, O_RDWR);
    if (fcntl(own, F_OFD_SETLK, &l) == 0) {
      (void)!write(ready[1], &byte, 1);
    }
    pause();
    _exit(0);
  }
  close(ready[1]);
  ck_assert_int_eq(read(ready[0], &byte, 1), 1);
  close(ready[0]);
  return child;
}

START_TEST(who_has_a_lock_is_found) {
  struct stat st, other;
  const int fd = mkstemp(path);
  ck_assert_int_eq(fstat(fd, &st), 0);
  ck_assert_int_eq(stat("/proc/self/exe", &other), 0);
  ck_assert_int_eq(lock_holder_find(&st, 0, 100), -1);
  const pid_t child = holder();
  ck_assert_int_eq(lock_holder_find(&st, 0, 100), child);
  ck_assert_int_eq(lock_holder_find(&st, 19, 20), child);
  ck_assert_int_eq(lock_holder_find(&st, 20, 100), -1);
  ck_assert_int_eq(lock_holder_find(&st, 0, 10), -1);
  ck_assert_int_eq(lock_holder_find(&other, 0, 100), -1);
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  ck_assert_int_eq(lock_holder_find(&st, 0, 100), -1);
  close(fd);
  unlink(path);
}
END_TEST

int main(void) {
  return check_main("lock_holder",
                    (const TTest *[]){who_has_a_lock_is_found, NULL});
}
