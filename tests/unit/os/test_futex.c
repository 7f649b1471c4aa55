#define _GNU_SOURCE
#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/futex.h"

#include "check_main.h"

enum { THREADS = 4 };

static _Atomic uint32_t word;
static _Atomic int woken;

static void *sleeper(void *arg) {
  (void)arg;
  while (atomic_load(&word) == 0) {
    futex_wait(&word, 0);
  }
  atomic_fetch_add(&woken, 1);
  return NULL;
}

/* A wake that is lost leaves a thread asleep, and the test runs out of time. */
START_TEST(all_sleepers_wake) {
  pthread_t thread[THREADS];
  const struct timespec doze = {0, 20000000};
  for (int i = 0; i < THREADS; i++) {
    ck_assert_int_eq(pthread_create(&thread[i], NULL, sleeper, NULL), 0);
  }
  nanosleep(&doze, NULL);
  ck_assert_int_eq(atomic_load(&woken), 0);
  atomic_store(&word, 1);
  futex_wake(&word, 1);
  futex_wake_all(&word);
  for (int i = 0; i < THREADS; i++) {
    pthread_join(thread[i], NULL);
  }
  ck_assert_int_eq(atomic_load(&woken), THREADS);
}
END_TEST

START_TEST(a_glance_does_not_wait_for_long) {
  static _Atomic uint32_t never, posted;
  const uint64_t start = clock_ns();
  ck_assert(!futex_glance(&never, 1000000));
  ck_assert_uint_ge(clock_ns() - start, 1000000);
  futex_post(&posted);
  ck_assert(futex_glance(&posted, UINT64_MAX / 2));
  ck_assert(futex_glance(&posted, 0)); /* it is not taken */
  futex_await(&posted);
  ck_assert(!futex_glance(&posted, 0));
}
END_TEST

START_TEST(what_is_posted_is_taken_once) {
  static _Atomic uint32_t word_posted;
  ck_assert(!futex_is_posted(&word_posted));
  ck_assert(!futex_take(&word_posted));
  futex_post(&word_posted);
  ck_assert(futex_is_posted(&word_posted));
  ck_assert(futex_take(&word_posted));
  ck_assert(!futex_take(&word_posted));
}
END_TEST

START_TEST(a_word_that_has_changed_is_not_waited_for) {
  static uint32_t changed = 7;
  futex_wait(&changed, 6);
  futex_shared_wait(&changed, 6, 60000000000);
}
END_TEST

START_TEST(a_shared_wait_ends_in_time) {
  static uint32_t same;
  const uint64_t start = clock_ns();
  futex_shared_wait(&same, 0, 20000000);
  ck_assert_uint_ge(clock_ns() - start, 20000000);
}
END_TEST

START_TEST(another_process_wakes) {
  _Atomic uint32_t *const shared =
      mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ck_assert_ptr_ne(shared, MAP_FAILED);
  const pid_t child = fork();
  ck_assert_int_ge(child, 0);
  if (child == 0) {
    const struct timespec doze = {0, 20000000};
    nanosleep(&doze, NULL);
    atomic_store(shared, 1);
    futex_shared_wake(shared, 1);
    _exit(0);
  }
  const uint64_t start = clock_ns();
  while (atomic_load(shared) == 0) {
    futex_shared_wait(shared, 0, 20000000000);
  }
  ck_assert_uint_lt(clock_ns() - start, 10000000000);
  ck_assert_int_eq(waitpid(child, NULL, 0), child);
  munmap(shared, sizeof(*shared));
}
END_TEST

static uint32_t written; /* before the post */
static _Atomic uint32_t event, answer;

static void *answerer(void *arg) {
  for (uint32_t i = 1; i <= 1000; i++) {
    futex_await(&event);
    ck_assert_uint_eq(written, i);
    futex_post(&answer);
  }
  return arg;
}

START_TEST(an_event_is_awaited_each_time) {
  pthread_t thread;
  ck_assert_int_eq(pthread_create(&thread, NULL, answerer, NULL), 0);
  for (uint32_t i = 1; i <= 1000; i++) {
    written = i;
    futex_post(&event);
    (void)(i % 2 && futex_glance(&answer, 2000));
    futex_await(&answer);
    ck_assert_uint_eq(atomic_load(&answer), 0);
  }
  pthread_join(thread, NULL);
  ck_assert_uint_eq(atomic_load(&event), 0);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      all_sleepers_wake,
      a_word_that_has_changed_is_not_waited_for,
      a_shared_wait_ends_in_time,
      another_process_wakes,
      an_event_is_awaited_each_time,
      a_glance_does_not_wait_for_long,
      what_is_posted_is_taken_once,
      NULL,
  };
  return check_main("futex", tests);
}
