/* Running all tasks: threads, and the loop of each. */
#include <pems/sched.h>
#include <stdbool.h>

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "base/extensible.h"
#include "base/forked.h"
#include "base/limit.h"
#include "os/native.h"
#include "os/thread.h"
#include "tasks/sched.h"

struct job {
  const struct pems_sched_run_options *options;
  struct pems_sched_handle *handle;
};

static void run_task(const struct pems_sched_run_options *o,
                     struct pems_sched_handle *h, const struct task_record *r) {
  if (!h->measured) {
    h->useless += o->run(o->arg, h, r->task, r->priority) != PEMS_SCHED_GOOD;
    return;
  }
  const uint64_t begin = cycle_now(), enqueued = h->enqueue;
  const int useless =
      o->run(o->arg, h, r->task, r->priority) != PEMS_SCHED_GOOD;
  /* The task's pushes are not its work. */
  const uint64_t cycles = cycle_now() - begin - (h->enqueue - enqueued);
  h->useless += (uint64_t)useless;
  *(useless ? &h->useless_work : &h->good_work) += cycles;
}

static void *work(void *arg) {
  const struct job *job = arg;
  struct pems_sched_handle *h = job->handle;
  const struct pems_sched *s = h->sched;
  const uint64_t begin = cycle_now();
  unsigned idle = 0;
  if (s->kind->bind && h->thread) {
    s->kind->bind(h);
  }
  task_finish(h);
  while (!atomic_load_explicit(&s->failed, memory_order_relaxed)) {
    const struct task_record *r = task_take(h);
    if (r) {
      idle = 0;
      run_task(job->options, h, r);
      task_finish(h);
    } else {
      const uint64_t failed = h->measured ? cycle_now() : 0;
      if (pems_sched_finished(s)) {
        break;
      }
      cycle_relax(idle++);
      if (h->measured) {
        h->failed_dequeue += cycle_now() - failed;
      }
    }
  }
  h->total += cycle_now() - begin;
  return NULL;
}

/* Starts threads 1 to p - 1; says how many there are then, the caller's too. */
static int start_threads(struct pems_sched *s, pthread_t *thread,
                         struct job *job) {
  for (int t = 1; t < s->threads; t++) {
    const int code = thread_start(
        &thread[t], work, &job[t],
        &(struct thread_options){.name = "pems-sched", .faults = true});
    if (code) {
      char advice[LIMIT_TEXT];
      task_fail(s, code, "scheduler: thread %d of %d: %s: %s", t, s->threads,
                strerror(code),
                limit_advice(advice, LIMIT_THREAD, code, 0, "use fewer"));
      return t;
    }
  }
  return s->threads;
}

int pems_sched_run(struct pems_sched *s,
                   const struct pems_sched_run_options *options,
                   struct pems_error *error) {
  struct pems_sched_run_options o;
  const int wrong = extensible_copy(&o, sizeof(o), options, sizeof(o),
                                    "options of a run", error);
  if (wrong) {
    return wrong;
  }
  if (forked_since(s->process)) {
    return forked_refuse("scheduler", error);
  }
  pthread_t *thread = native_alloc((size_t)s->threads * sizeof(*thread));
  struct job *job = native_alloc((size_t)s->threads * sizeof(*job));
  if (thread && job) {
    for (int t = 0; t < s->threads; t++) {
      job[t] = (struct job){&o, &s->handle[t]};
      s->handle[t].ahead = o.ahead;
      s->handle[t].ahead_arg = o.arg;
    }
    const int started = start_threads(s, thread, job);
    work(&job[0]);
    for (int t = 1; t < started; t++) {
      pthread_join(thread[t], NULL);
    }
    for (int t = 0; t < s->threads; t++) {
      s->handle[t].ahead = NULL;
    }
  }
  const bool made = thread && job;
  native_free(thread);
  native_free(job);
  return made ? pems_sched_failure(s, error) : task_no_memory(error);
}
