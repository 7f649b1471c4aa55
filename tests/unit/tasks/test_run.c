/* Every kind of scheduler under load: nothing is lost, nothing comes twice, and
   it ends; whatever the priorities are, and however tasks make others. */
#define _GNU_SOURCE

#include <pems/sched.h>
#include <stdbool.h>

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"

enum {
  THREADS = 8, /* at most, on two cores or so */
  ROOM = 200000,
  LENGTHS = 33 /* of a task, 0 to 32 bytes */
};

static struct pems_error error;

/* --- a program --- */

/* Which tasks a task makes: task 0 is there at first, or (ALONE) all are. */
enum shape {
  ALONE,
  CHAIN,  /* task i makes i + 1: there is one task at a time */
  BINARY, /* 2 i + 1 and 2 i + 2 */
  WIDE,   /* 40 others */
  BURSTS, /* each 300th makes the next 300, and others none */
  SHAPES
};

enum priorities {
  EQUAL,
  ASCENDING, /* by number: all are distinct */
  DESCENDING,
  SCATTERED, /* over 64 bits */
  ENDS,      /* the least or the greatest one */
  FEW,
  REAL,
  PRIORITIES
};

struct program {
  enum shape shape;
  enum priorities priorities;
  uint32_t n;  /* tasks, numbers 0 to n - 1 */
  size_t task; /* bytes of one; the number first, as much of it as there is room
                  for */
};

static struct program program;
/* How often each number was taken. */
static _Atomic uint32_t taken[ROOM];
/* Written before a task is pushed, read when it is run. Not atomic: what makes
   a task happens before it. */
static uint32_t maker[ROOM];
static _Atomic uint64_t ran, useless;

static uint64_t mixed(uint64_t x) {
  x = (x + UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

/* From any thread. (ck_assert writes to a file each time: too slow for every
   task.) */
static void must(int holds, const char *what) {
  if (!holds) {
    ck_abort_msg("wrong: %s", what);
  }
}

static uint64_t priority_of(uint32_t i) {
  switch (program.priorities) {
  case ASCENDING:
    return i;
  case DESCENDING:
    return program.n - i;
  case SCATTERED:
    return mixed(i);
  case ENDS:
    return mixed(i) % 2 ? UINT64_MAX : 0;
  case FEW:
    return mixed(i) % 5;
  case REAL:
    return pems_sched_real(1e-3 * (double)(i / 4));
  default:
    return 42;
  }
}

static void write_task(unsigned char *bytes, uint32_t i) {
  memset(bytes, (int)(i * 7 + 1), program.task);
  memcpy(bytes, &i, program.task < 4 ? program.task : 4);
}

/* The number, as far as it is there; all bytes must be as they were written. */
static uint32_t read_task(const void *task) {
  unsigned char want[PEMS_SCHED_TASK_MOST] = {0};
  uint32_t i = 0;
  memcpy(&i, task, program.task < 4 ? program.task : 4);
  write_task(want, i);
  must(memcmp(task, want, program.task) == 0, "the bytes of a task");
  return i;
}

static void make(struct pems_sched_handle *h, uint32_t i, uint32_t by) {
  unsigned char task[PEMS_SCHED_TASK_MOST];
  write_task(task, i);
  maker[i] = by;
  must(pems_sched_push(h, task, priority_of(i)) == 0, "a push");
}

static uint32_t least(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

/* The tasks that task i makes: [*first, end), which is returned. */
static uint32_t made_by(uint32_t i, uint32_t *first) {
  static const uint32_t width[SHAPES] = {
      [CHAIN] = 1, [BINARY] = 2, [WIDE] = 40};
  uint32_t n = width[program.shape];
  *first = i * n + 1;
  if (program.shape == BURSTS) {
    n = i % 300 == 0 ? 300 : 0;
    *first = i + 1;
  }
  return n == 0 ? *first : least(*first + n, program.n);
}

/* The work of a task of this number: once it is known to be right. */
static enum pems_sched_work work(struct pems_sched_handle *h, uint32_t i) {
  uint32_t child;
  const uint32_t end = made_by(i, &child);
  for (; child < end; child++) {
    make(h, child, i);
  }
  must(atomic_fetch_add_explicit(&taken[i], 1, memory_order_relaxed) == 0,
       "a task came twice");
  atomic_fetch_add_explicit(&ran, 1, memory_order_relaxed);
  if (i % 3 > 0) {
    return PEMS_SCHED_GOOD;
  }
  atomic_fetch_add_explicit(&useless, 1, memory_order_relaxed);
  return PEMS_SCHED_USELESS;
}

/* What tasks touch may be mapped, or protected: handlers learn of it. */
static void check_faults(void) {
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, NULL, &blocked);
  must(!sigismember(&blocked, SIGBUS) && !sigismember(&blocked, SIGSEGV),
       "a fault that handlers learn of");
}

static enum pems_sched_work run_task(void *arg, struct pems_sched_handle *h,
                                     const void *task, uint64_t priority) {
  const uint32_t i = read_task(task);
  uint32_t first;
  must(arg == &program, "the argument");
  must((uintptr_t)task % 8 == 0, "where a task lies");
  must(i < program.n, "a number");
  must(priority == priority_of(i), "a priority");
  must(maker[i] == i || made_by(maker[i], &first) > i, "what was written");
  if (i % 256 == 0) {
    check_faults();
  }
  return work(h, i);
}

static void look_ahead(void *arg, const void *task, int step) {
  must(arg == &program, "the argument of a hint");
  must(read_task(task) < program.n, "the task of a hint");
  must(step == 0 || step == 1, "the step of a hint");
}

/* Before the first, all tasks are there that nobody makes. */
static void prepare(struct pems_sched *s) {
  const int p = pems_sched_threads(s);
  const uint32_t n = program.shape == ALONE ? program.n : 1;
  for (uint32_t i = 0; i < program.n; i++) {
    taken[i] = 0;
  }
  ran = useless = 0;
  for (uint32_t i = 0; i < n; i++) {
    make(pems_sched_handle(s, (int)(i % (uint32_t)p)), i, i);
  }
}

static void check_taken(void) {
  for (uint32_t i = 0; i < program.n; i++) {
    must(taken[i] == 1, "a task did not come");
  }
}

/* `before` is what there was before the run. */
static void check_counts(struct pems_sched *s,
                         const struct pems_sched_counts *before, bool told) {
  struct pems_sched_counts c;
  pems_sched_counts(s, &c);
  ck_assert_uint_eq(c.pushed - before->pushed, program.n);
  ck_assert_uint_eq(c.popped - before->popped, program.n);
  ck_assert_uint_eq(c.useless - before->useless, told ? useless : 0);
  ck_assert_uint_ge(c.failed, before->failed);
}

static void check_end(struct pems_sched *s) {
  unsigned char task[PEMS_SCHED_TASK_MOST];
  ck_assert_int_eq(pems_sched_finished(s), 1);
  ck_assert_int_eq(pems_sched_failure(s, &error), 0);
  for (int t = 0; t < pems_sched_threads(s); t++) {
    ck_assert_int_eq(pems_sched_pop(pems_sched_handle(s, t), task, NULL), 0);
  }
  ck_assert_int_eq(pems_sched_finished(s), 1);
}

/* Runs the program once more on this scheduler. */
static void run(struct pems_sched *s) {
  struct pems_sched_counts before;
  pems_sched_counts(s, &before);
  prepare(s);
  const int code =
      pems_sched_run(s,
                     &(struct pems_sched_run_options){
                         .run = run_task,
                         .ahead = program.n % 2 ? look_ahead : NULL,
                         .arg = &program,
                     },
                     &error);
  ck_assert_msg(code == 0, "%s", error.text);
  check_taken();
  check_counts(s, &before, true);
  check_end(s);
}

/* --- threads of the user --- */

/* Each goes on until all is finished. */
static void *pop_all(void *arg) {
  struct pems_sched *const s = ((struct pems_sched **)arg)[0];
  struct pems_sched_handle *const h =
      (struct pems_sched_handle *)((void **)arg)[1];
  _Alignas(8) unsigned char task[PEMS_SCHED_TASK_MOST];
  uint64_t priority;
  while (!pems_sched_finished(s)) {
    if (pems_sched_pop(h, task, &priority)) {
      run_task(&program, h, task, priority);
    } else {
      sched_yield();
    }
  }
  return NULL;
}

static void pop(struct pems_sched *s) {
  struct pems_sched_counts before;
  const int p = pems_sched_threads(s);
  pthread_t thread[THREADS];
  void *arg[THREADS][2];
  pems_sched_counts(s, &before);
  prepare(s);
  ck_assert_int_eq(pems_sched_finished(s), 0);
  for (int t = 0; t < p; t++) {
    arg[t][0] = s;
    arg[t][1] = pems_sched_handle(s, t);
    ck_assert_int_eq(pthread_create(&thread[t], NULL, pop_all, arg[t]), 0);
  }
  for (int t = 0; t < p; t++) {
    pthread_join(thread[t], NULL);
  }
  check_taken();
  check_counts(s, &before, false);
  check_end(s);
}

/* --- cases --- */

/* PEMS_TEST_LONG: more of them; PEMS_TEST_FEW, which valgrind needs: few. */
static uint32_t tasks(uint32_t n) {
#ifdef __SANITIZE_THREAD__
  n /= 3; /* takes minutes otherwise */
#endif
  return getenv("PEMS_TEST_LONG") ? n * 5 : getenv("PEMS_TEST_FEW") ? 50 : n;
}

static const char *kind_of(int i) {
  return pems_sched_kinds()[i];
}

static struct pems_sched *new_sched(const char *kind, int threads,
                                    const struct pems_sched_options *o) {
  struct pems_sched *s = NULL;
  const int code = pems_sched_new(&s, kind, threads, o, &error);
  ck_assert_msg(code == 0, "%s: %s", kind, error.text);
  ck_assert_ptr_nonnull(s);
  return s;
}

/* Options of some kind or other, small ones mostly, so that what is rare is
   not. `variant` is any number. */
static struct pems_sched_options some_options(int variant) {
  static const int chunk[] = {1, 3, 64}, delta[] = {0, 5, 40, 63};
  return (struct pems_sched_options){
      .task = program.task,
      .seed = (uint64_t)variant,
      .measure = variant % 5 == 1,
      .log = variant % 7 == 1,
      .chunk = chunk[variant % 3],
      .delta = delta[variant % 4],
      /* As the machine is takes some milliseconds to find out. */
      .domains = variant % 11 == 0 ? 0 : 1 + variant / 3 % 3,
      .global_frequency = variant % 4 == 2 ? 1e-9 : 0,
      .max_pops = variant % 4 == 2 ? 2 : 0,
      .min_density = variant % 4 == 1 ? 2 : 0,
      .min_queues = variant % 4 == 3 ? 1000 : 0,
      .queues = variant % 5,
  };
}

/* Every shape with all priorities, for each kind and number of threads. */
START_TEST(any_program) {
  const char *const kind = kind_of(_i / THREADS);
  const int threads = 1 + _i % THREADS;
  static const size_t size[] = {8, 4, 32, 13, 16, 31, 24};
  for (int i = 0; i < SHAPES * PRIORITIES; i++) {
    program.shape = (enum shape)(i % SHAPES);
    program.priorities = (enum priorities)(i / SHAPES);
    program.n = tasks(program.shape == CHAIN ? 150 : 800) + (uint32_t)i % 2;
    program.task = size[(i + _i) % 7];
    const int variant = i / SHAPES + i % SHAPES * 5 + threads;
    const struct pems_sched_options o = some_options(variant);
    struct pems_sched *const s = new_sched(kind, threads, &o);
    run(s);
    pems_sched_free(s);
  }
}
END_TEST

/* A task of one byte can only tell its number apart if there are few. */
START_TEST(any_length) {
  for (size_t task = 1; task < LENGTHS; task++) {
    program = (struct program){BINARY, SCATTERED, tasks(2000), task};
    if (task < 2) {
      program.n = 256;
    }
    const struct pems_sched_options o = some_options((int)task);
    struct pems_sched *const s = new_sched(kind_of(_i), 2, &o);
    run(s);
    pems_sched_free(s);
  }
}
END_TEST

/* One scheduler for many runs: priorities go back to where they were. */
START_TEST(many_runs) {
  program = (struct program){ALONE, EQUAL, 0, 8};
  for (int variant = 0; variant < 6; variant++) {
    const struct pems_sched_options o = some_options(variant);
    struct pems_sched *const s = new_sched(kind_of(_i), 3, &o);
    for (int i = 0; i < 12; i++) {
      program.shape = (enum shape)(i % SHAPES);
      program.priorities = (enum priorities)((i + variant) % PRIORITIES);
      program.n = tasks(program.shape == CHAIN ? 100 : 700) + (uint32_t)i % 2;
      if (i % 4 < 3) {
        run(s);
      } else {
        pop(s);
      }
    }
    pems_sched_free(s);
  }
}
END_TEST

START_TEST(threads_of_the_user) {
  program.task = 12;
  for (int threads = 1; threads <= THREADS; threads++) {
    for (int i = 0; i < SHAPES; i++) {
      program.shape = (enum shape)i;
      program.priorities = (enum priorities)((i + threads) % PRIORITIES);
      program.n = tasks(program.shape == CHAIN ? 100 : 700);
      const struct pems_sched_options o = some_options(i + threads);
      struct pems_sched *const s = new_sched(kind_of(_i), threads, &o);
      pop(s);
      pems_sched_free(s);
    }
  }
}
END_TEST

/* One thread, which is all of them in turn. */
START_TEST(one_thread_for_all_handles) {
  _Alignas(8) unsigned char task[PEMS_SCHED_TASK_MOST];
  uint64_t priority;
  program = (struct program){WIDE, SCATTERED, tasks(3000), 8};
  const struct pems_sched_options o = some_options(3);
  struct pems_sched *const s = new_sched(kind_of(_i), 5, &o);
  prepare(s);
  for (int t = 0; !pems_sched_finished(s); t = (t + 1) % 5) {
    struct pems_sched_handle *const h = pems_sched_handle(s, t);
    ck_assert_int_eq(pems_sched_thread(h), t);
    if (pems_sched_pop(h, task, &priority)) {
      run_task(&program, h, task, priority);
    }
  }
  check_taken();
  check_end(s);
  pems_sched_free(s);
}
END_TEST

/* A scheduler may be freed with tasks in it, and some taken. */
START_TEST(freed_with_tasks) {
  unsigned char task[PEMS_SCHED_TASK_MOST];
  program = (struct program){ALONE, SCATTERED, tasks(3000), 8};
  for (int variant = 0; variant < 6; variant++) {
    const struct pems_sched_options o = some_options(variant);
    struct pems_sched *const s = new_sched(kind_of(_i), 4, &o);
    prepare(s);
    for (int i = 0; i < 500; i++) {
      pems_sched_pop(pems_sched_handle(s, i % 4), task, NULL);
    }
    ck_assert_int_eq(pems_sched_finished(s), 0);
    pems_sched_free(s);
  }
}
END_TEST

/* Asks all the time whether all is finished; if so, all tasks must have run. */
static void *watch(void *arg) {
  while (!pems_sched_finished(arg))
    ;
  must(ran == program.n, "finished too early");
  return NULL;
}

START_TEST(not_finished_too_early) {
  program.task = 8;
  for (int i = 0; i < 12; i++) {
    program.shape = i % 2 ? CHAIN : BINARY;
    program.priorities = (enum priorities)(i % PRIORITIES);
    program.n = tasks(1000);
    const struct pems_sched_options o = some_options(i);
    struct pems_sched *const s = new_sched(kind_of(_i), 1 + i % 3, &o);
    pthread_t watcher;
    prepare(s);
    ck_assert_int_eq(pthread_create(&watcher, NULL, watch, s), 0);
    const struct pems_sched_run_options all = {.run = run_task,
                                               .arg = &program};
    ck_assert_int_eq(pems_sched_run(s, &all, &error), 0);
    pthread_join(watcher, NULL);
    check_taken();
    pems_sched_free(s);
  }
}
END_TEST

/* What is told about many runs at once: logs are whole, cycles were counted. */
START_TEST(logs_of_many_threads) {
  struct pems_sched_rank_error rank;
  struct pems_sched_counts c;
  for (int threads = 1; threads <= THREADS; threads++) {
    program = (struct program){BINARY, SCATTERED, tasks(5000), 8};
    program.priorities = (enum priorities)(threads % PRIORITIES);
    struct pems_sched_options o = {.task = 8, .log = 1, .measure = 1};
    struct pems_sched *const s = new_sched(kind_of(_i), threads, &o);
    run(s);
    run(s);
    const int code = pems_sched_rank_error(s, &rank, &error);
    ck_assert_msg(code == 0, "%s", error.text);
    ck_assert_uint_eq(rank.pops, 2 * program.n);
    ck_assert_uint_le(rank.median, rank.p99);
    ck_assert_uint_le(rank.p99, rank.most);
    ck_assert_uint_lt(rank.most, 2 * program.n);
    ck_assert_int_eq(rank.inverted > 0, rank.most > 0);
    ck_assert_int_eq(rank.inverted > 0, rank.mean > 0);
    if (program.priorities == EQUAL) {
      ck_assert_uint_eq(rank.most, 0);
    }
    pems_sched_counts(s, &c);
    ck_assert_uint_gt(c.good_work, 0);
    ck_assert_uint_gt(c.useless_work, 0);
    pems_sched_free(s);
  }
}
END_TEST

/* Adds a test for each kind, times n. */
static void add(TCase *t, const TTest *test, int n) {
  int kinds = 0;
  while (kind_of(kinds)) {
    kinds++;
  }
  tcase_add_loop_test(t, test, 0, kinds * n);
}

int main(void) {
  Suite *const s = suite_create("task_run");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, getenv("PEMS_TEST_LONG") ? 600 : 60);
  add(t, any_program, THREADS);
  add(t, any_length, 1);
  add(t, many_runs, 1);
  add(t, threads_of_the_user, 1);
  add(t, one_thread_for_all_handles, 1);
  add(t, freed_with_tasks, 1);
  add(t, not_finished_too_early, 1);
  add(t, logs_of_many_threads, 1);
  suite_add_tcase(s, t);
  return check_run(s);
}
