#include "vp/run_queue_lock.h"

#include <check.h>
#include <pthread.h>

#include "check_main.h"
#include "os/futex.h"

enum { THREADS = 4, TIMES = 20000 };

static long counter; /* not atomic: the lock guards it */
static _Thread_local int calls;

static void count(void) {
  run_queue_lock(); /* it is free */
  calls++;
  run_queue_unlock();
}

static void *add(void *arg) {
  for (int i = 0; i < TIMES; i++) {
    run_queue_lock();
    counter++;
    run_queue_unlock();
  }
  ck_assert_int_eq(calls, 0); /* what others want called is not called here */
  return arg;
}

START_TEST(one_holds_it_at_a_time) {
  pthread_t thread[THREADS];
  run_queue_lock();
  for (int i = 0; i < THREADS; i++) {
    ck_assert_int_eq(pthread_create(&thread[i], NULL, add, NULL), 0);
  }
  ck_assert_int_eq(counter, 0);
  run_queue_after_locked(count);
  run_queue_unlock();
  for (int i = 0; i < THREADS; i++) {
    pthread_join(thread[i], NULL);
  }
  ck_assert_int_eq(counter, (long)THREADS * TIMES);
  ck_assert_int_eq(calls, 1);
}
END_TEST

START_TEST(what_comes_after_is_called_once_without_it) {
  calls = 0;
  run_queue_lock();
  run_queue_after_locked(count);
  run_queue_after_locked(count);
  ck_assert_int_eq(calls, 0);
  run_queue_unlock();
  ck_assert_int_eq(calls, 1);
  run_queue_lock();
  run_queue_unlock();
  ck_assert_int_eq(calls, 1);
}
END_TEST

/* What a thread does that sleeps until it is posted. */
struct sleeper {
  struct run_queue_go go;
  _Atomic int woken;
};

static void *sleep_once(void *arg) {
  struct sleeper *s = arg;
  run_queue_sleep(&s->go);
  s->woken = 1;
  return NULL;
}

START_TEST(who_is_posted_goes_on_once_the_lock_is_free) {
  static struct sleeper s[THREADS];
  pthread_t thread[THREADS];
  for (int i = 0; i < THREADS; i++) {
    ck_assert_int_eq(pthread_create(&thread[i], NULL, sleep_once, &s[i]), 0);
  }
  run_queue_lock();
  for (int i = 0; i < THREADS; i++) {
    run_queue_post_locked(&s[i].go);
  }
  for (int i = 0; i < THREADS; i++) { /* nobody is told under the lock */
    ck_assert(!futex_glance(&s[i].go.word, 0));
    ck_assert_int_eq(s[i].woken, 0);
  }
  run_queue_unlock();
  for (int i = 0; i < THREADS; i++) {
    pthread_join(thread[i], NULL);
    ck_assert_int_eq(s[i].woken, 1);
    ck_assert_int_eq(s[i].go.word, 0); /* it can sleep again */
  }
}
END_TEST

START_TEST(who_posts_itself_does_not_sleep) {
  struct run_queue_go go = {0};
  for (int i = 0; i < 2; i++) {
    run_queue_lock();
    run_queue_post_locked(&go);
    run_queue_unlock();
    run_queue_sleep(&go);
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      one_holds_it_at_a_time,
      what_comes_after_is_called_once_without_it,
      who_is_posted_goes_on_once_the_lock_is_free,
      who_posts_itself_does_not_sleep,
      NULL,
  };
  return check_main("run_queue_lock", tests);
}
