#define _GNU_SOURCE
#include "em/core/team.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/futex.h"
#include "os/native.h"
#include "os/thread.h"

/* Enough for a radix sort, which works in a room of 128 KiB there. The
   program's thread-local data comes on top where it is part of stacks. */
#define STACK_BYTES ((size_t)384 << 10)

/* How often one looks again before going to sleep: some 20 us, the price of
   going to sleep and being woken. */
enum { SPINS = 500, LINE = 64 };

struct team;

struct member {
  _Alignas(LINE) struct team *team;
  int number;
  pthread_t thread; /* not of member 0, who is the caller */
  _Atomic long long cpu_ns;
};

struct team {
  int k;
  int threads; /* that were started */
  /* What is done; to be read only by who has taken a task of it. */
  team_fn *fn;
  void *arg;
  int n;
  /* Tasks that nobody has taken yet, or ENDING. The last to be written when
     there is work: who takes one by it sees the rest. */
  _Alignas(LINE) _Atomic uint32_t left;
  _Atomic uint32_t sleepers; /* threads that wait for `left` */
  /* Tasks that are not done: the caller waits for 0, and until then nothing
     above changes. */
  _Alignas(LINE) _Atomic uint32_t undone;
  struct member member[];
};

#define ENDING UINT32_MAX

static void pause_a_little(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/* Whether *word changes from `value` soon. */
static bool spin(_Atomic uint32_t *word, uint32_t value) {
  for (int i = 0; i < SPINS; i++) {
    if (atomic_load_explicit(word, memory_order_acquire) != value) {
      return true;
    }
    pause_a_little();
  }
  return false;
}

/* --- tasks --- */

/* The number of a task that is the caller's now, or -1. */
static int take(struct team *t) {
  uint32_t left = atomic_load_explicit(&t->left, memory_order_relaxed);
  while (left && left != ENDING) {
    if (atomic_compare_exchange_weak_explicit(&t->left, &left, left - 1,
                                              memory_order_acquire,
                                              memory_order_relaxed)) {
      return (int)((uint32_t)t->n - left);
    }
  }
  return -1;
}

static void add_cpu(struct member *m, long long ns) {
  atomic_fetch_add_explicit(&m->cpu_ns, ns, memory_order_relaxed);
}

/* The caller may be gone, or give new work, once its last task is done. */
static void task_done(struct team *t) {
  if (atomic_fetch_sub_explicit(&t->undone, 1, memory_order_acq_rel) == 1) {
    futex_wake(&t->undone, 1);
  }
}

/* A single task: the caller runs it, and no thread is woken. */
static void run_alone(struct team *t, team_fn *fn, void *arg) {
  const long long before = (long long)clock_thread_ns();
  fn(arg, 0, 0);
  add_cpu(&t->member[0], (long long)clock_thread_ns() - before);
}

static void work(struct member *m) {
  struct team *const t = m->team;
  int task = take(t);
  if (task < 0) {
    return;
  }
  long long before = (long long)clock_thread_ns();
  do {
    t->fn(t->arg, task, m->number);
    const long long now = (long long)clock_thread_ns();
    add_cpu(m, now - before);
    before = now;
    task_done(t);
    task = take(t);
  } while (task >= 0);
}

static void wait_all_done(struct team *t) {
  uint32_t undone;
  while ((undone = atomic_load_explicit(&t->undone, memory_order_acquire))) {
    if (!spin(&t->undone, undone)) {
      futex_wait(&t->undone, undone);
    }
  }
}

/* Sequentially consistent, as in sleep_until_work: either the sleeper sees the
   new value, or it is seen here. */
static void publish(struct team *t, uint32_t left, uint32_t helpers) {
  atomic_store(&t->left, left);
  if (atomic_load(&t->sleepers)) {
    futex_wake(&t->left, helpers);
  }
}

void team_run(struct team *t, int n, team_fn *fn, void *arg) {
  if (n <= 0) {
    return;
  }
  if (n == 1) {
    run_alone(t, fn, arg);
    return;
  }
  t->fn = fn;
  t->arg = arg;
  t->n = n;
  atomic_store_explicit(&t->undone, (uint32_t)n, memory_order_relaxed);
  publish(t, (uint32_t)n, (uint32_t)n - 1);
  work(&t->member[0]);
  wait_all_done(t);
}

/* --- threads --- */

static void sleep_until_work(struct team *t) {
  if (spin(&t->left, 0)) {
    return;
  }
  atomic_fetch_add(&t->sleepers, 1);
  while (!atomic_load(&t->left)) {
    futex_wait(&t->left, 0);
  }
  atomic_fetch_sub(&t->sleepers, 1);
}

static void *live(void *arg) {
  struct member *const m = arg;
  struct team *const t = m->team;
  while (atomic_load_explicit(&t->left, memory_order_acquire) != ENDING) {
    work(m);
    sleep_until_work(t);
  }
  return NULL;
}

static int start(struct member *m) {
  char name[16];
  snprintf(name, sizeof(name), "pems-team%d", m->number % 10000);
  const int error = thread_start(
      &m->thread, live, m,
      &(struct thread_options){.name = name, .stack = STACK_BYTES});
  if (!error) {
    m->team->threads++;
  }
  return error;
}

int team_new(struct team **team, int k) {
  const size_t bytes = sizeof(struct team) + (size_t)k * sizeof(struct member);
  struct team *const t = native_aligned(LINE, bytes);
  *team = NULL;
  if (!t) {
    return ENOMEM;
  }
  *t = (struct team){.k = k};
  for (int i = 0; i < k; i++) {
    t->member[i] = (struct member){.team = t, .number = i};
  }
  int error = 0;
  for (int i = 1; i < k && !error; i++) {
    error = start(&t->member[i]);
  }
  if (error) {
    team_free(t);
    return error;
  }
  *team = t;
  return 0;
}

void team_free(struct team *t) {
  if (!t) {
    return;
  }
  publish(t, ENDING, INT32_MAX);
  for (int i = 1; i <= t->threads; i++) {
    pthread_join(t->member[i].thread, NULL);
  }
  native_free(t);
}

int team_size(const struct team *t) {
  return t->k;
}

long long team_cpu_ns(const struct team *t) {
  long long sum = 0;
  for (int i = 0; i < t->k; i++) {
    sum += atomic_load_explicit(&t->member[i].cpu_ns, memory_order_relaxed);
  }
  return sum;
}
