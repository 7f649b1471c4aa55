#include "tasks/queues.h"

#include <errno.h>
#include <stdbool.h>

#include "base/failure.h"
#include "os/native.h"

int task_queues_open(struct pems_sched *sched, uint32_t count,
                     struct pems_error *error) {
  struct task_queues *const queues = native_aligned(
      TASK_LINE, sizeof(*queues) + count * sizeof(*queues->queue));
  if (!queues) {
    return failure(error, ENOMEM,
                   "scheduler: no memory for its queues: %u: use fewer threads",
                   (unsigned)count);
  }
  queues->count = count;
  for (uint32_t i = 0; i < count; i++) {
    struct task_queue *const queue = &queues->queue[i];
    atomic_init(&queue->least, UINT64_MAX);
    atomic_init(&queue->count, 0);
    atomic_init(&queue->spin.taken, 0);
    task_heap_open(&queue->heap, sched->stride);
  }
  sched->state = queues;
  return 0;
}

void task_queues_close(struct pems_sched *sched) {
  struct task_queues *const queues = sched->state;
  if (!queues) {
    return;
  }
  for (uint32_t i = 0; i < queues->count; i++) {
    task_heap_close(&queues->queue[i].heap);
  }
  native_free(queues);
  sched->state = NULL;
}

int task_queues_join(struct pems_sched_handle *handle,
                     struct pems_error *error) {
  handle->state = native_aligned(TASK_LINE, TASK_LINE);
  if (!handle->state) {
    return failure(error, ENOMEM,
                   "scheduler: no memory for a thread: %d: use fewer threads",
                   handle->thread);
  }
  return 0;
}

void task_queues_leave(struct pems_sched_handle *handle) {
  native_free(handle->state);
  handle->state = NULL;
}

/* Tells those without the lock what is in it, before it is given back. Relaxed,
   since the lock orders what matters. */
static void tell(struct task_queue *queue) {
  const struct task_heap *const heap = &queue->heap;
  atomic_store_explicit(&queue->least,
                        heap->count ? task_heap_least(heap) : UINT64_MAX,
                        memory_order_relaxed);
  atomic_store_explicit(&queue->count, heap->count, memory_order_relaxed);
}

/* A queue that was free, locked. While another may be free there is no need to
   wait. */
static struct task_queue *any_free(struct pems_sched_handle *handle) {
  struct task_queues *const queues = handle->sched->state;
  for (unsigned turn = 0;; turn++) {
    struct task_queue *const queue =
        &queues->queue[task_random_below(handle, queues->count)];
    if (task_spin_try(&queue->spin)) {
      return queue;
    }
    if (turn >= queues->count) {
      cycle_relax(turn - queues->count);
    }
  }
}

int task_queues_push(struct pems_sched_handle *handle,
                     const struct task_record *record) {
  struct task_queue *const queue = any_free(handle);
  const int code = task_heap_push(&queue->heap, record);
  const size_t count = queue->heap.count;
  tell(queue);
  task_spin_unlock(&queue->spin);
  if (!code) {
    return 0;
  }
  return task_fail(handle->sched, code,
                   "scheduler: no memory for a queue's tasks: %zu: "
                   "give the process more memory, or push fewer tasks",
                   count + 1);
}

const struct task_record *task_queue_take(struct pems_sched_handle *handle,
                                          struct task_queue *queue) {
  struct task_record *const taken = handle->state;
  const bool some = queue->heap.count > 0;
  if (some) {
    task_heap_pop(&queue->heap, taken);
    tell(queue);
  }
  task_spin_unlock(&queue->spin);
  return some ? taken : NULL;
}
