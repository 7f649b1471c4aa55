/* Which threads of a rank sleep so that only another of them wakes them. */
#define _GNU_SOURCE
#include "vp/helpers.h"

#include <check.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "check_main.h"
#include "os/thread.h"
#include "vp/vp.h"

static struct vp vp;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static atomic_int stop, begun;

static void *sleeper(void *arg) {
  helpers_begin(&vp);
  begun++;
  pthread_mutex_lock(&lock);
  while (!stop) {
    pthread_cond_wait(&wake, &lock);
  }
  pthread_mutex_unlock(&lock);
  return arg;
}

static void *spinner(void *arg) {
  helpers_begin(&vp);
  begun++;
  while (!stop)
    ;
  return arg;
}

static void *napper(void *arg) {
  helpers_begin(&vp);
  begun++;
  while (!stop) {
    usleep(20000);
  }
  return arg;
}

/* They wake each other in turn: at any moment one of them runs, or will. */
enum { RING = 3 };
static sem_t turn[RING];

static void *passer(void *arg) {
  const int me = (int)(intptr_t)arg;
  helpers_begin(&vp);
  begun++;
  for (;;) {
    sem_wait(&turn[me]);
    if (stop) {
      break;
    }
    sem_post(&turn[(me + 1) % RING]);
  }
  sem_post(&turn[(me + 1) % RING]);
  return NULL;
}

static pthread_t start_with(void *(*run)(void *), void *arg) {
  pthread_t thread;
  const int before = begun;
  ck_assert(helpers_starting(&vp));
  ck_assert(!helpers_asleep(&vp)); /* it may begin any moment */
  ck_assert_int_eq(pthread_create(&thread, NULL, run, arg), 0);
  while (begun == before) {
    usleep(100);
  }
  return thread;
}

static pthread_t start(void *(*run)(void *)) {
  return start_with(run, NULL);
}

static void end(pthread_t thread) {
  pthread_mutex_lock(&lock);
  stop = 1;
  pthread_cond_broadcast(&wake);
  pthread_mutex_unlock(&lock);
  pthread_join(thread, NULL);
  stop = 0;
}

/* Soon, or within a minute on a busy machine. */
static bool fall_asleep(void) {
  for (int i = 0; i < 60000; i++) {
    if (helpers_asleep(&vp)) {
      return true;
    }
    usleep(1000);
  }
  return false;
}

static bool ever_asleep(void) {
  for (int i = 0; i < 100; i++) {
    if (helpers_asleep(&vp)) {
      return true;
    }
    usleep(1000);
  }
  return false;
}

START_TEST(test_none) {
  ck_assert(helpers_asleep(&vp));
}
END_TEST

START_TEST(test_sleeper) {
  const pthread_t thread = start(sleeper);
  helpers_wait(&vp);
  ck_assert(fall_asleep());
  end(thread);
  ck_assert(fall_asleep()); /* it has ended */
}
END_TEST

START_TEST(test_who_waits) {
  /* The main thread runs, and did not say that it waits in MPI. */
  const pthread_t thread = start(sleeper);
  ck_assert(!ever_asleep());
  end(thread);
}
END_TEST

START_TEST(test_spinner) {
  const pthread_t thread = start(spinner);
  helpers_wait(&vp);
  ck_assert(!ever_asleep());
  end(thread);
  ck_assert(fall_asleep());
}
END_TEST

START_TEST(test_napper) {
  const pthread_t thread = start(napper);
  helpers_wait(&vp);
  ck_assert(!ever_asleep());
  end(thread);
}
END_TEST

/* Each may be seen asleep, but never all at one instant. */
START_TEST(test_ring) {
  pthread_t threads[RING];
  for (int i = 0; i < RING; i++) {
    ck_assert_int_eq(sem_init(&turn[i], 0, 0), 0);
  }
  for (intptr_t i = 0; i < RING; i++) {
    threads[i] = start_with(passer, (void *)i);
  }
  helpers_wait(&vp);
  ck_assert(fall_asleep()); /* nobody's turn yet */
  sem_post(&turn[0]);
  const time_t until = time(NULL) + 2;
  while (time(NULL) < until) {
    ck_assert(!helpers_asleep(&vp));
  }
  stop = 1;
  for (int i = 0; i < RING; i++) {
    pthread_join(threads[i], NULL);
  }
  ck_assert(fall_asleep());
}
END_TEST

/* Called when a thread is asked about first, if not NULL. */
static void (*on_look)(pid_t thread);

bool __real_thread_tells(pid_t thread, const char *file, char *text,
                         size_t size);
bool __wrap_thread_tells(pid_t thread, const char *file, char *text,
                         size_t size) {
  void (*const look)(pid_t) = on_look;
  on_look = NULL;
  if (look) {
    look(thread);
  }
  return __real_thread_tells(thread, file, text, size);
}

static sem_t may_end;

static void *ender(void *arg) {
  helpers_begin(&vp);
  begun++;
  sem_wait(&may_end);
  return arg;
}

/* The call in which the thread sleeps. */
static void see_asleep(pid_t thread, char *text, size_t size) {
  do {
    usleep(1000);
    ck_assert(__real_thread_tells(thread, "syscall", text, size));
  } while (strtol(text, NULL, 10) != SYS_futex);
}

/* Lets the thread end, and waits until it is asleep elsewhere than before: it
   wants to tell that. */
static void let_end(pid_t thread) {
  char before[256], now[256];
  see_asleep(thread, before, sizeof(before));
  sem_post(&may_end);
  do {
    see_asleep(thread, now, sizeof(now));
  } while (strcmp(before, now) == 0);
}

START_TEST(test_who_ends_is_awake) {
  ck_assert_int_eq(sem_init(&may_end, 0, 0), 0);
  const pthread_t thread = start(ender);
  helpers_wait(&vp);
  on_look = let_end;
  ck_assert(!helpers_asleep(&vp));
  ck_assert_ptr_null(on_look);
  pthread_join(thread, NULL);
  ck_assert(fall_asleep());
}
END_TEST

START_TEST(test_many) {
  enum { N = 30 };
  pthread_t threads[N];
  for (int i = 0; i < N; i++) {
    threads[i] = start(sleeper);
  }
  helpers_wait(&vp);
  ck_assert(fall_asleep());
  const pthread_t last = start(spinner);
  ck_assert(!ever_asleep());
  end(last);
  for (int i = 0; i < N; i++) {
    end(threads[i]);
  }
  ck_assert(fall_asleep());
}
END_TEST

START_TEST(test_settle) {
  ck_assert(helpers_settle(&vp)); /* none */
  const pthread_t thread = start(sleeper);
  ck_assert(helpers_settle(&vp));
  end(thread);
  ck_assert(helpers_settle(&vp)); /* it has ended */
  const pthread_t running = start(spinner);
  ck_assert(!helpers_settle(&vp));
  end(running);
  ck_assert(helpers_settle(&vp));
}
END_TEST

static void *brief(void *arg) {
  helpers_begin(&vp);
  begun++;
  return arg;
}

/* Those that have ended are forgotten. */
START_TEST(test_ended) {
  for (int i = 0; i < 200; i++) {
    const pthread_t thread = start(brief);
    pthread_join(thread, NULL);
  }
  helpers_wait(&vp);
  ck_assert(fall_asleep());
}
END_TEST

START_TEST(test_not_started) {
  ck_assert(helpers_starting(&vp));
  helpers_wait(&vp);
  ck_assert(!helpers_asleep(&vp));
  helpers_not_started(&vp);
  ck_assert(helpers_asleep(&vp));
}
END_TEST

int main(void) {
  Suite *s = suite_create("helpers");
  TCase *tc = tcase_create("helpers");
  tcase_add_test(tc, test_none);
  tcase_add_test(tc, test_sleeper);
  tcase_add_test(tc, test_who_waits);
  tcase_add_test(tc, test_spinner);
  tcase_add_test(tc, test_napper);
  tcase_add_test(tc, test_ring);
  tcase_add_test(tc, test_who_ends_is_awake);
  tcase_add_test(tc, test_many);
  tcase_add_test(tc, test_settle);
  tcase_add_test(tc, test_ended);
  tcase_add_test(tc, test_not_started);
  suite_add_tcase(s, tc);
  return check_run(s);
}
