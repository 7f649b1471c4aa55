/* A kind of scheduler, and what all kinds share. */
#ifndef PEMS_TASKS_KIND_H
#define PEMS_TASKS_KIND_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <pems/sched.h>

#include "os/cycle.h"

#define TASK_LINE 64 /* bytes that cores fetch and keep as one */

/* A task in memory: `stride` bytes, aligned to 8. */
struct task_record {
  uint64_t priority;
  unsigned char task[];
};

/* The table of one kind. `state` in what follows is pems_sched.state or
   pems_sched_handle.state. */
struct task_kind {
  const char *name;
  /* Makes what all threads share, and then what each has of its own, thread by
     thread, before any of them runs. 0 or an errno value, with *error filled
     in; close and leave are called for what was made, even so. */
  int (*open)(struct pems_sched *sched, struct pems_error *error);
  int (*join)(struct pems_sched_handle *handle, struct pems_error *error);
  void (*leave)(struct pems_sched_handle *handle);
  void (*close)(struct pems_sched *sched);
  /* Adds a copy of *record (stride bytes). 0 or an errno value, which
     task_fail was told. */
  int (*push)(struct pems_sched_handle *handle,
              const struct task_record *record);
  /* Takes a task: it stays where it is until the handle's next take or leave (a
     push does not move it). NULL if none was found. */
  const struct task_record *(*take)(struct pems_sched_handle *handle);
  /* Called by a thread of pems_sched_run (but the caller's) when it begins;
     NULL: nothing is to be done. */
  void (*bind)(struct pems_sched_handle *handle);
  /* Fills in what is the kind's own; the fields are 0 before. NULL: nothing
     is. */
  void (*counts)(const struct pems_sched *sched,
                 struct pems_sched_counts *counts);
};

extern const struct task_kind task_obim, task_pmod, task_multiqueue, task_reld,
    task_spraylist;

struct task_log; /* rank.h */

/* One thread's. Only the thread writes to it; others read what is atomic. */
struct pems_sched_handle {
  _Alignas(TASK_LINE) struct pems_sched *sched;
  void *state; /* the kind's */
  const struct task_kind *kind;
  int thread;
  int busy;                   /* a task was taken and is not finished */
  int measured;               /* cycles or a log: off the straight way */
  pems_sched_ahead_fn *ahead; /* while pems_sched_run is at work */
  void *ahead_arg;
  uint64_t random; /* state of task_random */
  /* Termination: a task counts as finished after all that it pushed counts as
     pushed. */
  _Alignas(TASK_LINE) _Atomic uint64_t pushed;
  _Atomic uint64_t finished;
  uint64_t popped, useless, failed;
  uint64_t good_work, useless_work, enqueue, dequeue, failed_dequeue;
  uint64_t total;       /* cycles within pems_sched_run */
  struct task_log *log; /* NULL: none is kept */
};

struct pems_sched {
  const struct task_kind *kind;
  struct pems_sched_options options; /* with all defaults filled in */
  int threads;
  size_t stride;      /* bytes of a record: 16 to 40, a multiple of 8 */
  uint64_t born;      /* cycle */
  unsigned process;   /* forked_now, then */
  void *state;        /* the kind's */
  _Atomic int failed; /* 0 or the first failure's errno value */
  struct pems_error error;
  struct pems_sched_handle *handle; /* `threads` of them */
};

/* Notes a failure, unless there was one; returns its code. Thread-safe. */
int task_fail(struct pems_sched *sched, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ENOMEM, where a scheduler is made or run. */
int task_no_memory(struct pems_error *error);

/* A random number of 64 bits (xorshift*, with the handle's state). */
static inline uint64_t task_random(struct pems_sched_handle *handle) {
  uint64_t x = handle->random;
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  handle->random = x;
  return x * 0x2545f4914f6cdd1dU;
}

/* One below n, as likely as any other; n > 0. */
static inline uint32_t task_random_below(struct pems_sched_handle *handle,
                                         uint32_t n) {
  return (uint32_t)(((task_random(handle) >> 32) * n) >> 32);
}

#endif
