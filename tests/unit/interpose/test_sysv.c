/* System V's shared memory is counted where the program attaches it. */
#include "base/self.h"
#include "interpose/malloc.h"
#include "vp/vp.h"

#include <stdint.h>
#include <sys/ipc.h>
#include <sys/shm.h>

#include "check_main.h"

static struct vp vp;
static bool of_program;

/* interpose/malloc.c's. */
bool malloc_is_program(const void *caller) {
  (void)caller;
  return of_program;
}

static int segment(void) {
  const int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
  ck_assert_int_ge(id, 0);
  return id;
}

START_TEST(what_a_program_attaches_is_counted_until_it_is_detached) {
  const int id = segment();
  self.vp = &vp;
  of_program = true;
  char *const one = shmat(id, NULL, 0), *const two = shmat(id, NULL, 0);
  ck_assert_int_eq(shmctl(id, IPC_RMID, NULL), 0);
  ck_assert_int_eq((int)vp.attached, 2);
  *one = 7;
  ck_assert_int_eq(*two, 7);
  ck_assert_int_eq(shmdt(one), 0);
  ck_assert_int_eq((int)vp.attached, 1);
  ck_assert_int_eq(shmdt(two), 0);
  ck_assert_int_eq((int)vp.attached, 0);
}
END_TEST

START_TEST(what_fails_is_not) {
  self.vp = &vp;
  of_program = true;
  vp.attached = 1;
  ck_assert_int_eq((int)(intptr_t)shmat(-1, NULL, 0), -1);
  ck_assert_int_eq(shmdt(&vp), -1);
  ck_assert_int_eq((int)vp.attached, 1);
}
END_TEST

START_TEST(what_libraries_attach_is_not) {
  const int id = segment();
  self.vp = &vp;
  vp.attached = 0;
  of_program = false;
  void *const p = shmat(id, NULL, 0);
  ck_assert_int_eq(shmctl(id, IPC_RMID, NULL), 0);
  ck_assert_int_eq((int)vp.attached, 0);
  ck_assert_int_eq(shmdt(p), 0);
  ck_assert_int_eq((int)vp.attached, 0);
}
END_TEST

int main(void) {
  return check_main(
      "sysv",
      (const TTest *[]){what_a_program_attaches_is_counted_until_it_is_detached,
                        what_fails_is_not, what_libraries_attach_is_not, NULL});
}
