/* Active messages and jobs in a job of one process; what passes between
   processes: tests/mpi/am.sh. */
#define _GNU_SOURCE
#include "check_main.h"
#include "net/am.h"
#include "net/jobs.h"

#include <check.h>
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

static int threads(void) {
  DIR *const tasks = opendir("/proc/self/task");
  int n = 0;
  for (const struct dirent *d; (d = readdir(tasks));) {
    n += d->d_name[0] != '.';
  }
  closedir(tasks);
  return n;
}

static size_t never_asked(struct am_stream *s, char *out) {
  (void)s;
  (void)out;
  ck_abort_msg("a stream without a network was asked");
  return 0;
}

/* A thread that was joined may be in /proc for a moment; libcheck's limit ends
   a wait in vain. */
static void await_threads(int n) {
  while (threads() != n) {
    usleep(1000);
  }
}

START_TEST(one_process_has_no_threads) {
  struct am_stream stream = {.next = never_asked};
  uint64_t sent, handled;
  const int before = threads();
  am_start();
  await_threads(before);
  am_retry();
  am_send(0, AM_BOX, 0, "x", 1, NULL, 0);
  am_wait_room(0);
  am_stream_start(&stream);
  am_counts(&sent, &handled);
  ck_assert_uint_eq(sent, handled);
  am_stop();
  await_threads(before);
}
END_TEST

/* Jobs that wait until all of them run. */
enum { JOBS = 50 };
static atomic_int arrived, left;
static int wanted;

static void meet(void *arg) {
  (void)arg;
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  ck_assert(sigismember(&mask, SIGTERM));
  atomic_fetch_add(&arrived, 1);
  while (atomic_load(&arrived) < wanted) {
    usleep(100);
  }
  atomic_fetch_add(&left, 1);
}

static void run_jobs(int n) {
  wanted = n;
  arrived = left = 0;
  for (int i = 0; i < n; i++) {
    net_jobs_add(meet, NULL);
  }
  while (net_jobs_done() != net_jobs_started()) {
    usleep(100);
  }
  ck_assert_int_eq(left, n);
}

START_TEST(jobs_may_wait_for_each_other) {
  run_jobs(JOBS);
  ck_assert_uint_eq(net_jobs_started(), JOBS);
  net_jobs_stop();
}
END_TEST

START_TEST(threads_are_used_again) {
  const int before = threads();
  for (int i = 0; i < 200; i++) {
    run_jobs(3);
  }
  ck_assert_int_eq(threads() - before, 3);
  net_jobs_stop();
  await_threads(before);
}
END_TEST

START_TEST(jobs_after_a_stop) {
  run_jobs(2);
  am_stop();
  run_jobs(4);
  am_stop();
  net_jobs_stop();
}
END_TEST

static void start_another(void *arg) {
  const intptr_t depth = (intptr_t)arg;
  atomic_fetch_add(&arrived, 1);
  if (depth > 0) {
    net_jobs_add(start_another, (void *)(depth - 1));
  }
}

START_TEST(jobs_start_jobs) {
  arrived = 0;
  net_jobs_add(start_another, (void *)(intptr_t)99);
  while (atomic_load(&arrived) < 100) {
    usleep(100);
  }
  while (net_jobs_done() != net_jobs_started()) {
    usleep(100);
  }
  net_jobs_stop();
  ck_assert_int_eq(arrived, 100);
}
END_TEST

START_TEST(no_thread_ends_the_job) {
  const struct rlimit none = {0, 0};
  if (geteuid() == 0) {
    /* Limits of processes are not for root: stacks that no memory holds. */
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, (size_t)1 << 46);
    ck_assert_int_eq(pthread_setattr_default_np(&attr), 0);
  } else {
    setrlimit(RLIMIT_NPROC, &none);
  }
  wanted = 1;
  net_jobs_add(meet, NULL);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("am");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 30);
  tcase_add_test(t, one_process_has_no_threads);
  tcase_add_test(t, jobs_may_wait_for_each_other);
  tcase_add_test(t, threads_are_used_again);
  tcase_add_test(t, jobs_after_a_stop);
  tcase_add_test(t, jobs_start_jobs);
  tcase_add_exit_test(t, no_thread_ends_the_job, 1);
  suite_add_tcase(s, t);
  return check_run(s);
}
