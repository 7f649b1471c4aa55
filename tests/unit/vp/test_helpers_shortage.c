/* Threads that a program starts, where an allocation fails, each in its turn:
   the thread cannot start, and the VP's own thread is counted all the same. */
#define _GNU_SOURCE
#include "vp/helpers.h"

#include <check.h>
#include <pthread.h>
#include <semaphore.h>

#include "check_main.h"
#include "check_memory.h"
#include "vp/vp.h"

enum { MOST = 4 };

static sem_t begun, end;

static void *helper(void *arg) {
  helpers_begin(arg);
  helpers_wait(arg); /* it is the one that waits in MPI */
  sem_post(&begun);
  sem_wait(&end);
  return NULL;
}

/* Only the VP's own thread and the waiting one are there: the first runs. */
static void expect_awake(struct vp *vp) {
  pthread_t thread;
  ck_assert_int_eq(pthread_create(&thread, NULL, helper, vp), 0);
  sem_wait(&begun);
  ck_assert(!helpers_asleep(vp));
  sem_post(&end);
  pthread_join(thread, NULL);
}

START_TEST(a_thread_that_cannot_start_changes_nothing) {
  sem_init(&begun, 0, 0);
  sem_init(&end, 0, 0);
  int failures = 0;
  for (int once = 0; once < 2; once++) {
    for (int n = 0; n < MOST; n++) {
      struct vp vp = {0};
      (once ? memory_but : memory_for)(n);
      const bool room = helpers_starting(&vp);
      const bool enough = !memory_was_out();
      memory_again();
      ck_assert_int_eq(room, enough);
      failures += !room;
      ck_assert(room || helpers_starting(&vp)); /* the next time it works */
      expect_awake(&vp);
    }
  }
  ck_assert_int_ge(failures, 4);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {a_thread_that_cannot_start_changes_nothing,
                                NULL};
  return check_main("helpers_shortage", tests);
}
