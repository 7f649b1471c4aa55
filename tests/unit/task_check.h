/* A scheduler made by hand, for tests of what is behind the table of a kind;
   and many threads that use one. Linked with
   $(WRAP_MEMORY). */
#ifndef TESTS_TASK_CHECK_H
#define TESTS_TASK_CHECK_H

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check_memory.h"
#include "tasks/kind.h"

/* From any thread. (ck_assert writes to a file each time: too slow for every
   task.) */
static inline void must(int holds, const char *what) {
  if (!holds) {
    ck_abort_msg("wrong: %s", what);
  }
}

/* --- a scheduler --- */

enum { CHECK_THREADS = 8 };

struct check_sched {
  struct pems_sched sched;
  struct pems_sched_handle handle[CHECK_THREADS];
};

/* 0, or what open and join said; then all is closed again. */
static inline int check_open(struct check_sched *c,
                             const struct task_kind *kind, int threads,
                             size_t task, int queues) {
  struct pems_sched *const s = &c->sched;
  memset(c, 0, sizeof(*c));
  s->kind = kind;
  s->options = (struct pems_sched_options){.task = task, .queues = queues};
  s->threads = threads;
  s->stride = sizeof(struct task_record) + (task + 7) / 8 * 8;
  s->handle = c->handle;
  int code = kind->open(s, &s->error);
  for (int i = 0; i < threads; i++) {
    c->handle[i].sched = s;
    c->handle[i].kind = kind;
    c->handle[i].thread = i;
    c->handle[i].random = ((uint64_t)i + 1) * 0x9e3779b97f4a7c15U;
    if (!code) {
      code = kind->join(&c->handle[i], &s->error);
    }
  }
  return code;
}

static inline void check_close(struct check_sched *c) {
  for (int i = 0; i < c->sched.threads; i++) {
    c->sched.kind->leave(&c->handle[i]);
  }
  c->sched.kind->close(&c->sched);
}

/* --- tasks that know their number and priority --- */

enum check_order { ALL_LEAST, ALL_MOST, DISTINCT, RANDOM, EXTREMES, ORDERS };

static inline uint64_t check_mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

static inline uint64_t check_priority(enum check_order order, uint64_t number) {
  switch (order) {
  case ALL_LEAST:
    return 0;
  case ALL_MOST:
    return UINT64_MAX;
  case DISTINCT:
    return number * 0x9e3779b1U & UINT32_MAX;
  case RANDOM:
    return check_mix(number);
  default:
    return check_mix(number) & 1 ? UINT64_MAX : 0;
  }
}

union check_record {
  struct task_record record;
  uint64_t word[1 + PEMS_SCHED_TASK_MOST / 8];
};

/* The number, and other bytes that follow from it. */
static inline void check_task(uint64_t *word, size_t stride, uint64_t number) {
  word[0] = number;
  for (size_t i = 1; i < stride / 8 - 1; i++) {
    word[i] = check_mix(number + i);
  }
}

static inline int check_push(struct pems_sched_handle *h,
                             enum check_order order, uint64_t number) {
  union check_record r;
  r.record.priority = check_priority(order, number);
  check_task(r.word + 1, h->sched->stride, number);
  return h->kind->push(h, &r.record);
}

/* The number of a task that is as it was pushed. */
static inline uint64_t check_number(const struct pems_sched_handle *h,
                                    enum check_order order,
                                    const struct task_record *record) {
  const size_t bytes = h->sched->stride - sizeof(*record);
  uint64_t task[PEMS_SCHED_TASK_MOST / 8], want[PEMS_SCHED_TASK_MOST / 8];
  memcpy(task, record->task, bytes);
  check_task(want, h->sched->stride, task[0]);
  must(!memcmp(task, want, bytes), "a task");
  must(record->priority == check_priority(order, task[0]), "a priority");
  return task[0];
}

/* --- many threads --- */

struct check_run {
  struct check_sched c;
  enum check_order order;
  uint64_t tasks;              /* of each thread */
  _Atomic uint64_t popped;     /* by all */
  _Atomic unsigned char *seen; /* for each task */
};

struct check_thread {
  struct check_run *run;
  int thread;
};

static inline bool check_pop(struct check_run *r, struct pems_sched_handle *h) {
  const struct task_record *const record = h->kind->take(h);
  if (!record) {
    return false;
  }
  const uint64_t number = check_number(h, r->order, record);
  must(number < r->tasks * (uint64_t)r->c.sched.threads, "no such number");
  must(!atomic_fetch_add(&r->seen[number], 1), "it came before");
  atomic_fetch_add(&r->popped, 1);
  return true;
}

/* Pushes mostly, and pops between; then takes whatever is left. A task stays
   where it is while the thread pushes. */
static inline void *check_work(void *arg) {
  const struct check_thread *const t = arg;
  struct check_run *const r = t->run;
  struct pems_sched_handle *const h = &r->c.handle[t->thread];
  const uint64_t first = (uint64_t)t->thread * r->tasks;
  for (uint64_t i = 0; i < r->tasks; i++) {
    must(!check_push(h, r->order, first + i), "no memory");
    if (check_mix(first + i) % 3) {
      check_pop(r, h);
    }
  }
  const uint64_t all = r->tasks * (uint64_t)r->c.sched.threads;
  for (unsigned turn = 0; atomic_load(&r->popped) < all;) {
    if (check_pop(r, h)) {
      turn = 0;
    } else {
      cycle_relax(turn++);
    }
  }
  return NULL;
}

/* Nothing is lost, nothing comes twice, and nothing is left. */
static inline void check_threads(const struct task_kind *kind, int threads,
                                 size_t task, enum check_order order,
                                 uint64_t tasks) {
  static struct check_run r;
  ck_assert_int_eq(check_open(&r.c, kind, threads, task, 2), 0);
  r.order = order;
  r.tasks = tasks;
  atomic_store(&r.popped, 0);
  r.seen = calloc(tasks * (uint64_t)threads, 1);
  pthread_t id[CHECK_THREADS];
  struct check_thread t[CHECK_THREADS];
  for (int i = 0; i < threads; i++) {
    t[i] = (struct check_thread){&r, i};
    ck_assert_int_eq(pthread_create(&id[i], NULL, check_work, &t[i]), 0);
  }
  for (int i = 0; i < threads; i++) {
    pthread_join(id[i], NULL);
  }
  for (int i = 0; i < threads; i++) {
    ck_assert_ptr_null(kind->take(&r.c.handle[i]));
  }
  free((void *)r.seen);
  check_close(&r.c);
}

/* --- how good what comes is --- */

/* Tasks smaller than n that are left, by a tree of counts (Fenwick). */
struct check_left {
  uint64_t n;
  uint32_t *sum;
};

static inline void check_left_add(struct check_left *l, uint64_t i, int by) {
  for (i++; i <= l->n; i += i & -i) {
    l->sum[i] += (uint32_t)by;
  }
}

static inline uint64_t check_left_below(const struct check_left *l,
                                        uint64_t i) {
  uint64_t sum = 0;
  for (; i; i -= i & -i) {
    sum += l->sum[i];
  }
  return sum;
}

struct check_rank {
  double mean;
  uint64_t most;
};

/* The ranks of what p handles take in turn from n tasks (a power of two), with
   priorities 0 to n - 1, until half of them are left. */
static inline struct check_rank check_rank(const struct task_kind *kind, int p,
                                           int queues, uint64_t n) {
  struct check_sched c;
  ck_assert_int_eq(check_open(&c, kind, p, 8, queues), 0);
  struct check_left l = {n, calloc(n + 1, sizeof(*l.sum))};
  union check_record r = {{0}};
  for (uint64_t i = 0; i < n; i++) {
    /* An odd factor: each once. */
    r.record.priority = i * 0x9e3779b1U % n;
    must(!kind->push(&c.handle[i % (uint64_t)p], &r.record), "no memory");
    check_left_add(&l, r.record.priority, 1);
  }
  double sum = 0;
  uint64_t most = 0;
  for (uint64_t i = 0; i < n / 2; i++) {
    const struct task_record *const one =
        kind->take(&c.handle[i % (uint64_t)p]);
    must(one != NULL, "none was found");
    const uint64_t rank = check_left_below(&l, one->priority);
    sum += (double)rank;
    most = rank > most ? rank : most;
    check_left_add(&l, one->priority, -1);
  }
  free(l.sum);
  check_close(&c);
  return (struct check_rank){sum / (double)(n / 2), most};
}

#endif
