/* What multiqueue and reld are made of: many heaps, each with a lock, whose
   least priority all threads see without it. */
#ifndef PEMS_TASKS_QUEUES_H
#define PEMS_TASKS_QUEUES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "os/spin.h"
#include "tasks/heap.h"
#include "tasks/kind.h"

/* One cache line. The first two are hints for those without the lock: what they
   found may have changed when they have it. */
struct task_queue {
  _Alignas(TASK_LINE) _Atomic uint64_t least; /* UINT64_MAX if it is empty */
  _Atomic size_t count;
  struct spin spin;
  struct task_heap heap;
};

struct task_queues {
  uint32_t count;
  struct task_queue queue[];
};

/* For the table of a kind: sched->state is made of `count` queues, and
   handle->state of a place for the task that it took. */
int task_queues_open(struct pems_sched *sched, uint32_t count,
                     struct pems_error *error);
void task_queues_close(struct pems_sched *sched);
int task_queues_join(struct pems_sched_handle *handle,
                     struct pems_error *error);
void task_queues_leave(struct pems_sched_handle *handle);
/* Adds to a queue chosen at random among those that nobody is at. */
int task_queues_push(struct pems_sched_handle *handle,
                     const struct task_record *record);

/* Takes the least of a queue whose lock the caller has, and gives the lock
   back. NULL if it was empty. */
const struct task_record *task_queue_take(struct pems_sched_handle *handle,
                                          struct task_queue *queue);

/* Whether there seems to be nothing in it. A thread sees what itself put in. */
static inline bool task_queue_empty(struct task_queue *queue) {
  return !atomic_load_explicit(&queue->count, memory_order_relaxed);
}

#endif
