/* Shared memory of the MPI is noted in time to be removed if the process is
   killed. */
#include "interpose/descriptor.h"
#include "interpose/malloc.h"
#include "interpose/record_lock.h"
#include "mpi_below/keeper.h"
#include "vp/vp.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check_main.h"

static char noted[PATH_MAX];
static bool existed;

/* mpi_below/keeper.c's. */
void keeper_note_segment(const char *path) {
  snprintf(noted, sizeof(noted), "%s", path);
  existed = access(path, F_OK) == 0;
}

/* interpose/malloc.c's. */
bool malloc_is_program(const void *caller) {
  (void)caller;
  return false;
}

/* interpose/descriptor.c's. */
void descriptor_lacks(void) {
}
int descriptor_take(int fd) {
  return fd;
}

/* interpose/record_lock.c's. */
void record_lock_close(int fd) {
  (void)fd;
}
bool record_lock_is(int fd, int command) {
  (void)fd, (void)command;
  return false;
}
int record_lock_control(int fd, int command, struct flock *l) {
  (void)fd, (void)command, (void)l;
  return 0;
}

/* vp/vp.c's. */
bool vp_in_job(void) {
  return false;
}

START_TEST(shared_memory_is_noted_before_it_is_made) {
  char name[64], path[128];
  snprintf(name, sizeof(name), "/pems-test-open.%ld", (long)getpid());
  snprintf(path, sizeof(path), "/dev/shm%s", name);
  noted[0] = '\0';
  ck_assert_int_lt(shm_open(name, O_RDWR, 0600), 0);
  ck_assert_str_eq(noted, "");
  const int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
  ck_assert_int_ge(fd, 0);
  ck_assert_str_eq(noted, path);
  ck_assert(!existed);
  ck_assert_int_eq(access(path, F_OK), 0);
  ck_assert_int_eq(shm_unlink(name), 0);
  close(fd);
}
END_TEST

START_TEST(a_file_is_noted_when_it_has_a_name) {
  char path[] = "/dev/shm/pems-test-open.XXXXXX";
  const int fd = mkstemp(path);
  ck_assert_int_ge(fd, 0);
  ck_assert_str_eq(noted, path);
  ck_assert(existed);
  unlink(path);
  close(fd);
  char none[] = "/dev/shm/missing/XXXXXX";
  noted[0] = '\0';
  ck_assert_int_lt(mkstemp(none), 0);
  ck_assert_str_eq(noted, "");
}
END_TEST

int main(void) {
  return check_main(
      "open", (const TTest *[]){shared_memory_is_noted_before_it_is_made,
                                a_file_is_noted_when_it_has_a_name, NULL});
}
