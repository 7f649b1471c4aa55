#define _GNU_SOURCE
#include "net/jobs.h"

#include "base/need.h"
#include "base/threads.h"
#include "net/am.h"
#include "os/lock.h"
#include "os/native.h"

#include <stdatomic.h>
#include <stdbool.h>

struct job {
  struct job *next;
  void (*f)(void *arg);
  void *arg;
};

struct worker {
  struct worker *next;
  pthread_t thread;
};

static struct {
  struct lock lock;    /* for what follows */
  pthread_cond_t some; /* there is a job, or `ending` */
  struct job *first, **last;
  unsigned waiting; /* jobs that no thread has taken */
  unsigned idle;    /* threads that have none */
  struct worker *workers;
  bool ending;
  _Atomic uint64_t started, done;
} jobs = {.lock = LOCK_INITIALIZER(LOCK_JOBS),
          .some = PTHREAD_COND_INITIALIZER,
          .last = &jobs.first};

uint64_t net_jobs_started(void) {
  return atomic_load(&jobs.started);
}

uint64_t net_jobs_done(void) {
  return atomic_load(&jobs.done);
}

static struct job *take_job_locked(void) {
  while (!jobs.first && !jobs.ending) {
    lock_wait(&jobs.some, &jobs.lock);
  }
  struct job *const job = jobs.first;
  if (job) {
    jobs.first = job->next;
    if (!jobs.first) {
      jobs.last = &jobs.first;
    }
    jobs.waiting--;
    jobs.idle--;
  }
  return job;
}

static void *work(void *arg) {
  (void)arg;
  lock_take(&jobs.lock);
  for (struct job *job; (job = take_job_locked());) {
    lock_give(&jobs.lock);
    job->f(job->arg);
    native_free(job);
    lock_take(&jobs.lock);
    jobs.idle++;
    /* Who sees all jobs done needs no thread more for as many new ones. */
    atomic_fetch_add(&jobs.done, 1);
  }
  lock_give(&jobs.lock);
  return NULL;
}

static void add_worker_locked(void) {
  struct worker *const w = need_alloc(sizeof(*w), "a thread of the network");
  w->next = jobs.workers;
  jobs.workers = w;
  jobs.idle++;
  threads_start(&w->thread, work, NULL);
}

/* A job may wait for another one: each has a thread at once. */
void net_jobs_add(void (*f)(void *arg), void *arg) {
  struct job *const job = need_alloc(sizeof(*job), "a job of the network");
  *job = (struct job){.f = f, .arg = arg};
  atomic_fetch_add(&jobs.started, 1);
  lock_take(&jobs.lock);
  *jobs.last = job;
  jobs.last = &job->next;
  if (++jobs.waiting > jobs.idle) {
    add_worker_locked();
  }
  pthread_cond_signal(&jobs.some);
  lock_give(&jobs.lock);
}

void net_jobs_stop(void) {
  lock_take(&jobs.lock);
  jobs.ending = true;
  pthread_cond_broadcast(&jobs.some);
  lock_give(&jobs.lock);
  for (struct worker *w; (w = jobs.workers);) {
    pthread_join(w->thread, NULL);
    jobs.workers = w->next;
    native_free(w);
  }
  jobs.idle = 0;
  jobs.ending = false;
}
