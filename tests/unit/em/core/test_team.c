/* Teams of threads: every task once, by one member at a time, in order. */
#define _GNU_SOURCE
#include "em/core/team.h"

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "check_main.h"

enum { TASKS = 5000, MEMBERS = 4 };

struct job {
  struct team *team;
  _Atomic int begun; /* tasks */
  int done[TASKS];   /* how often; not atomic: team_run must order it */
  _Atomic int busy[MEMBERS];
  int by[MEMBERS]; /* tasks that each has done */
  int wrong;       /* order, or two tasks of one member at once */
};

static struct team *make(int k) {
  struct team *team;
  ck_assert_int_eq(team_new(&team, k), 0);
  ck_assert_int_eq(team_size(team), k);
  return team;
}

static void note(void *arg, int task, int member) {
  struct job *const j = arg;
  if (atomic_fetch_add(&j->busy[member], 1) != 0) {
    j->wrong = 1;
  }
  /* Others may have begun later tasks meanwhile, but at most one each. */
  if (task > atomic_fetch_add(&j->begun, 1) + MEMBERS) {
    j->wrong = 2;
  }
  j->done[task]++;
  j->by[member]++;
  atomic_fetch_sub(&j->busy[member], 1);
}

START_TEST(every_task_is_done_once) {
  struct team *const team = make(_i);
  struct job *const j = calloc(1, sizeof(*j));
  const int sizes[] = {0, 1, 2, 3, 7, TASKS};
  for (int round = 0; round < 200; round++) {
    const int n = sizes[round % 6];
    memset(j, 0, sizeof(*j));
    team_run(team, n, note, j);
    for (int i = 0; i < TASKS; i++) {
      ck_assert_int_eq(j->done[i], i < n);
    }
    int sum = 0;
    for (int i = 0; i < MEMBERS; i++) {
      sum += j->by[i];
    }
    ck_assert_int_eq(sum, n);
    ck_assert_int_eq(j->wrong, 0);
    if (round % 20 == 0) { /* time enough to fall asleep */
      usleep(2000);
    }
  }
  free(j);
  team_free(team);
}
END_TEST

/* A task that waits for all the others: only as many threads can do it. */
static void meet(void *arg, int task, int member) {
  _Atomic int *const there = arg;
  (void)task, (void)member;
  atomic_fetch_add(there, 1);
  while (atomic_load(there) < MEMBERS) {
    sched_yield();
  }
}

START_TEST(members_work_at_the_same_time) {
  struct team *const team = make(MEMBERS);
  for (int round = 0; round < 50; round++) {
    _Atomic int there = 0;
    team_run(team, MEMBERS, meet, &there);
    ck_assert_int_eq(there, MEMBERS);
  }
  team_free(team);
}
END_TEST

static void ask_thread(void *arg, int task, int member) {
  struct job *const j = arg;
  sigset_t set;
  meet(&j->begun, task, member);
  pthread_sigmask(SIG_SETMASK, NULL, &set);
  j->by[member] = sigismember(&set, SIGUSR1);
}

START_TEST(threads_block_signals_and_the_caller_is_a_member) {
  struct team *const team = make(MEMBERS);
  struct job *const j = calloc(1, sizeof(*j));
  team_run(team, MEMBERS, ask_thread, j);
  ck_assert_int_eq(j->by[0], 0);
  for (int i = 1; i < MEMBERS; i++) {
    ck_assert_int_eq(j->by[i], 1);
  }
  free(j);
  team_free(team);
}
END_TEST

static void burn(void *arg, int task, int member) {
  const long long *const ns = arg;
  struct timespec t;
  (void)task, (void)member;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  const long long end = (long long)t.tv_sec * 1000000000 + t.tv_nsec + *ns;
  do {
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  } while ((long long)t.tv_sec * 1000000000 + t.tv_nsec < end);
}

START_TEST(cpu_time_is_that_of_the_tasks) {
  struct team *const team = make(2);
  long long ns = 5000000;
  ck_assert_int_eq(team_cpu_ns(team), 0);
  team_run(team, 8, burn, &ns);
  const long long busy = team_cpu_ns(team);
  ck_assert_int_ge(busy, 40000000);
  ck_assert_int_lt(busy, 60000000);
  burn(&ns, 0, 0); /* not as a task */
  ck_assert_int_eq(team_cpu_ns(team), busy);
  team_free(team);
}
END_TEST

START_TEST(idle_teams_sleep) {
  struct team *const team = make(MEMBERS);
  usleep(20000);
  const clock_t before = clock();
  usleep(200000);
  ck_assert_int_lt(clock() - before, 20000);
  team_free(team);
  team_free(NULL);
}
END_TEST

START_TEST(a_shortage_of_memory_is_told) {
  struct team *team = (struct team *)&team;
  struct rlimit all, few;
  getrlimit(RLIMIT_AS, &all);
  few = all;
  few.rlim_cur = (rlim_t)256 << 20;
  setrlimit(RLIMIT_AS, &few);
  const int error = team_new(&team, 2000);
  setrlimit(RLIMIT_AS, &all);
  ck_assert_int_ne(error, 0);
  ck_assert_ptr_null(team);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("team");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 60);
  tcase_add_loop_test(t, every_task_is_done_once, 1, MEMBERS + 1);
  tcase_add_test(t, members_work_at_the_same_time);
  tcase_add_test(t, threads_block_signals_and_the_caller_is_a_member);
  tcase_add_test(t, cpu_time_is_that_of_the_tasks);
  tcase_add_test(t, idle_teams_sleep);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  puts("skipped: a shortage of memory, which no sanitizer bears");
  (void)a_shortage_of_memory_is_told;
#else
  tcase_add_test(t, a_shortage_of_memory_is_told);
#endif
  suite_add_tcase(s, t);
  return check_run(s);
}
