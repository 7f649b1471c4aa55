/* The public functions of pems/sched.h, but for running. */
#include <pems/sched.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/extensible.h"
#include "base/failure.h"
#include "base/forked.h"
#include "em/core/defaults.h"
#include "os/copy.h"
#include "os/native.h"
#include "tasks/rank.h"
#include "tasks/sched.h"

static const struct task_kind *const kinds[] = {
    &task_pmod, &task_obim, &task_multiqueue, &task_reld, &task_spraylist};
#define KINDS (sizeof(kinds) / sizeof(*kinds))

static const char *names[KINDS + 1];

static void list_names(void) {
  for (size_t i = 0; i < KINDS; i++) {
    names[i] = kinds[i]->name;
  }
}

const char *const *pems_sched_kinds(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, list_names);
  return names;
}

/* --- options --- */

static const struct task_kind *find_kind(const char *name) {
  if (!name) {
    return kinds[0];
  }
  for (size_t i = 0; i < KINDS; i++) {
    if (!strcmp(kinds[i]->name, name)) {
      return kinds[i];
    }
  }
  return NULL;
}

struct range {
  const char *name;
  long value, least, most;
};

static int check_ranges(const struct range *range, size_t n,
                        struct pems_error *error) {
  for (size_t i = 0; i < n; i++) {
    if (range[i].value < range[i].least || range[i].value > range[i].most) {
      return failure(error, EINVAL, "scheduler: %s: %ld: give %ld to %ld",
                     range[i].name, range[i].value, range[i].least,
                     range[i].most);
    }
  }
  return 0;
}

static int check_options(const char *kind, int threads,
                         const struct pems_sched_options *o,
                         struct pems_error *error) {
  if (!find_kind(kind)) {
    return failure(error, EINVAL,
                   "scheduler: %s: no such kind: use pmod, obim, multiqueue, "
                   "reld or spraylist",
                   kind);
  }
  if (!o) {
    return failure(error, EINVAL,
                   "scheduler: no options: the bytes of a task are needed");
  }
  const struct range range[] = {
      {"threads", threads, 0, PEMS_SCHED_THREADS_MOST},
      {"bytes of a task", (long)o->task, 1, PEMS_SCHED_TASK_MOST},
      {"chunk", o->chunk, 0, 4096},
      {"domains", o->domains, 0, PEMS_SCHED_THREADS_MOST},
      {"delta", o->delta, 0, 63},
      {"max_pops", o->max_pops, 0, 1 << 30},
      {"min_density", o->min_density, 0, 1 << 30},
      {"min_queues", o->min_queues, 0, 1 << 30},
      {"queues", o->queues, 0, 1024},
  };
  if (check_ranges(range, sizeof(range) / sizeof(*range), error)) {
    return EINVAL;
  }
  if (!(o->global_frequency >= 0 && o->global_frequency <= 1)) {
    return failure(error, EINVAL,
                   "scheduler: global_frequency: %g: give 0 to 1",
                   o->global_frequency);
  }
  if (o->memory && find_kind(kind) != &task_pmod) {
    return failure(error, EINVAL,
                   "scheduler: memory: %s has no limit of memory: use pmod",
                   kind);
  }
  return 0;
}

static void fill_in_defaults(struct pems_sched_options *o) {
  o->chunk = o->chunk ? o->chunk : 64;
  o->max_pops = o->max_pops ? o->max_pops : 4 * o->chunk;
  o->min_density = o->min_density ? o->min_density : 64;
  o->min_queues = o->min_queues ? o->min_queues : 16;
  o->queues = o->queues ? o->queues : 4;
  if (o->global_frequency == 0) {
    o->global_frequency = 1.0 / o->chunk;
  }
}

/* --- making --- */

static int make_handle(struct pems_sched *s, int thread) {
  struct pems_sched_handle *h = &s->handle[thread];
  h->sched = s;
  h->kind = s->kind;
  h->thread = thread;
  /* Any number but 0 will do as a state; these are far from each other. */
  h->random = (s->options.seed + (uint64_t)thread + 1) * 0x9e3779b97f4a7c15U;
  h->random = h->random ? h->random : 1;
  if (s->options.log && !(h->log = task_log_new())) {
    return ENOMEM;
  }
  h->measured = s->options.measure || s->options.log;
  return 0;
}

static int make_handles(struct pems_sched *s, struct pems_error *error) {
  const size_t n = (size_t)s->threads * sizeof(*s->handle);
  s->handle = native_aligned(TASK_LINE, n);
  if (!s->handle) {
    return task_no_memory(error);
  }
  memset(s->handle, 0, n);
  int code = 0;
  for (int t = 0; t < s->threads && !code; t++) {
    code = make_handle(s, t);
  }
  if (code) {
    return task_no_memory(error);
  }
  code = s->kind->open(s, error);
  for (int t = 0; t < s->threads && !code; t++) {
    code = s->kind->join(&s->handle[t], error);
  }
  return code;
}

int pems_sched_new(struct pems_sched **sched, const char *kind, int threads,
                   const struct pems_sched_options *options,
                   struct pems_error *error) {
  *sched = NULL;
  struct pems_sched_options o;
  int code = extensible_copy(&o, sizeof(o), options, sizeof(o),
                             "scheduler options", error);
  code = code ? code : check_options(kind, threads, options ? &o : NULL, error);
  if (code) {
    return code;
  }
  struct pems_sched *s = native_zalloc(1, sizeof(*s));
  if (!s) {
    return task_no_memory(error);
  }
  s->kind = find_kind(kind);
  s->options = o;
  fill_in_defaults(&s->options);
  s->threads = threads ? threads : defaults_threads();
  if (s->threads > PEMS_SCHED_THREADS_MOST) {
    s->threads = PEMS_SCHED_THREADS_MOST;
  }
  s->stride = sizeof(struct task_record) + (o.task + 7) / 8 * 8;
  s->process = forked_now();
  s->born = cycle_now();
  code = make_handles(s, error);
  if (code) {
    pems_sched_free(s);
  } else {
    *sched = s;
  }
  return code;
}

void pems_sched_free(struct pems_sched *s) {
  /* A child cannot wait for what threads of its parent do. */
  if (!s || forked_since(s->process)) {
    return;
  }
  for (int t = 0; s->handle && t < s->threads; t++) {
    s->kind->leave(&s->handle[t]);
    task_log_free(s->handle[t].log);
  }
  s->kind->close(s);
  native_free(s->handle);
  native_free(s);
}

int pems_sched_threads(const struct pems_sched *s) {
  return s->threads;
}

const char *pems_sched_kind(const struct pems_sched *s) {
  return s->kind->name;
}

struct pems_sched_handle *pems_sched_handle(struct pems_sched *s, int thread) {
  return thread >= 0 && thread < s->threads ? &s->handle[thread] : NULL;
}

int pems_sched_thread(const struct pems_sched_handle *h) {
  return h->thread;
}

/* --- failures --- */

int pems_sched_failure(const struct pems_sched *s, struct pems_error *error) {
  if (forked_since(s->process)) {
    return forked_refuse("scheduler", error);
  }
  /* Acquire: what the text says was written before. */
  const int code = atomic_load_explicit(&s->failed, memory_order_acquire);
  if (code && error) {
    *error = s->error;
  }
  return code;
}

/* --- pushing and popping --- */

/* What only a thread itself writes, and others read. */
static void count_up(_Atomic uint64_t *count, memory_order order) {
  const uint64_t n = atomic_load_explicit(count, memory_order_relaxed);
  atomic_store_explicit(count, n + 1, order);
}

static int push_measured(struct pems_sched_handle *h,
                         const struct task_record *record) {
  const uint64_t begin = cycle_now();
  if (h->log && task_log_push(h->log, begin, record->priority)) {
    return task_fail(h->sched, ENOMEM,
                     "scheduler: log: no memory: run less, or without log");
  }
  const int code = h->kind->push(h, record);
  h->enqueue += cycle_now() - begin;
  return code;
}

int pems_sched_push(struct pems_sched_handle *h, const void *task,
                    uint64_t priority) {
  union {
    struct task_record record;
    uint64_t word[1 + PEMS_SCHED_TASK_MOST / 8];
  } r;
  if (forked_since(h->sched->process)) {
    return forked_refuse("scheduler", NULL);
  }
  r.record.priority = priority;
  copy_small(r.record.task, task, h->sched->options.task);
  /* Before the push: a task is never finished before it counts as pushed. Then
     the order of these two is the order in which another thread sees them, for
     it can only have the task by what the push releases. */
  count_up(&h->pushed, memory_order_relaxed);
  return h->measured ? push_measured(h, &r.record)
                     : h->kind->push(h, &r.record);
}

void task_finish(struct pems_sched_handle *h) {
  if (h->busy) {
    h->busy = 0;
    /* Release: what the task pushed counts as pushed for whoever sees this. */
    count_up(&h->finished, memory_order_release);
  }
}

const struct task_record *task_take(struct pems_sched_handle *h) {
  const uint64_t begin = h->measured ? cycle_now() : 0;
  const struct task_record *r = h->kind->take(h);
  if (r) {
    h->busy = 1;
    h->popped++;
  } else {
    h->failed++;
  }
  if (h->measured) {
    const uint64_t end = cycle_after();
    *(r ? &h->dequeue : &h->failed_dequeue) += end - begin;
    if (r && h->log && task_log_pop(h->log, end, r->priority)) {
      task_fail(h->sched, ENOMEM,
                "scheduler: log: no memory: run less, or without log");
    }
  }
  return r;
}

int pems_sched_pop(struct pems_sched_handle *h, void *task,
                   uint64_t *priority) {
  if (forked_since(h->sched->process)) {
    return 0;
  }
  task_finish(h);
  if (atomic_load_explicit(&h->sched->failed, memory_order_relaxed)) {
    return 0;
  }
  const struct task_record *r = task_take(h);
  if (!r) {
    return 0;
  }
  copy_small(task, r->task, h->sched->options.task);
  if (priority) {
    *priority = r->priority;
  }
  return 1;
}

/* Tasks are pushed before they are finished, and both counts only grow. So if
   as many had been finished, when that was read, as were pushed, when that was
   read later, then at the moment between all were finished. */
int pems_sched_finished(const struct pems_sched *s) {
  uint64_t finished = 0, pushed = 0;
  if (atomic_load_explicit(&s->failed, memory_order_relaxed) ||
      forked_since(s->process)) {
    return 1;
  }
  for (int t = 0; t < s->threads; t++) {
    finished +=
        atomic_load_explicit(&s->handle[t].finished, memory_order_acquire);
  }
  for (int t = 0; t < s->threads; t++) {
    pushed += atomic_load_explicit(&s->handle[t].pushed, memory_order_relaxed);
  }
  return finished == pushed;
}

/* --- counts --- */

void pems_sched_counts(const struct pems_sched *s,
                       struct pems_sched_counts *c) {
  memset(c, 0, sizeof(*c));
  if (s->kind->counts) {
    s->kind->counts(s, c);
  }
  uint64_t total = 0;
  for (int t = 0; t < s->threads; t++) {
    const struct pems_sched_handle *h = &s->handle[t];
    c->pushed += atomic_load_explicit(&h->pushed, memory_order_relaxed);
    c->popped += h->popped;
    c->useless += h->useless;
    c->failed += h->failed;
    if (!s->options.measure) {
      continue;
    }
    c->good_work += h->good_work;
    c->useless_work += h->useless_work;
    c->enqueue += h->enqueue;
    c->dequeue += h->dequeue;
    c->failed_dequeue += h->failed_dequeue;
    total += h->total;
  }
  const uint64_t known = c->good_work + c->useless_work + c->enqueue +
                         c->dequeue + c->failed_dequeue;
  c->other = total > known ? total - known : 0;
  c->cycles_per_second = (double)cycles_per_second();
}

int pems_sched_rank_error(const struct pems_sched *s,
                          struct pems_sched_rank_error *rank,
                          struct pems_error *error) {
  if (!s->options.log) {
    return failure(error, EINVAL,
                   "rank error: no log: make the scheduler with `log`");
  }
  struct task_log **logs = native_alloc((size_t)s->threads * sizeof(*logs));
  if (!logs) {
    return failure(error, ENOMEM, "rank error: no memory: free some");
  }
  for (int t = 0; t < s->threads; t++) {
    logs[t] = s->handle[t].log;
  }
  const int code = task_log_rank(logs, s->threads, rank, error);
  native_free(logs);
  return code;
}
