#include "tasks/queues.h"

#include <errno.h>

#include "base/failure.h"
#include "os/native.h"

int cps_queues_open(struct pems_sched *sched, uint32_t count,
                    struct pems_error *error) {
  struct cps_queues *const queues = native_aligned(
      CPS_LINE, sizeof(*queues) + count * sizeof(*queues->queue));
  if (!queues) {
    return failure(error, ENOMEM,
                   "scheduler: no memory for its queues: %u: use fewer threads",
                   (unsigned)count);
  }
  queues->count = count;
  for (uint32_t i = 0; i < count; i++) {
    struct cps_queue *const queue = &queues->queue[i];
    atomic_init(&queue->least, UINT64_MAX);
    atomic_init(&queue->count, 0);
    atomic_init(&queue->spin.taken, 0);
    cps_heap_open(&queue->heap, sched->stride);
  }
  sched->state = queues;
  return 0;
}

void cps_queues_close(struct pems_sched *sched) {
  struct cps_queues *const queues = sched->state;
  if (!queues) {
    return;
  }
  for (uint32_t i = 0; i < queues->count; i++) {
    cps_heap_close(&queues->queue[i].heap);
  }
  native_free(queues);
  sched->state = NULL;
}

int cps_queues_join(struct pems_sched_handle *handle,
                    struct pems_error *error) {
  handle->state = native_aligned(CPS_LINE, CPS_LINE);
  if (!handle->state) {
    return failure(error, ENOMEM,
                   "scheduler: no memory for a thread: %d: use fewer threads",
                   handle->thread);
  }
  return 0;
}

void cps_queues_leave(struct pems_sched_handle *handle) {
  native_free(handle->state);
  handle->state = NULL;
}

/* Tells those without the lock what is in it, before it is given back. Relaxed,
   since the lock orders what matters. */
static void tell(struct cps_queue *queue) {
  const struct cps_heap *const heap = &queue->heap;
  atomic_store_explicit(&queue->least,
                        heap->count ? cps_heap_least(heap) : UINT64_MAX,
                        memory_order_relaxed);
  atomic_store_explicit(&queue->count, heap->count, memory_order_relaxed);
}

/* A queue that was free, locked. While another may be free there is no need to
   wait. */
static struct cps_queue *any_free(struct pems_sched_handle *handle) {
  struct cps_queues *const queues = handle->sched->state;
  for (unsigned turn = 0;; turn++) {
    struct cps_queue *const queue =
        &queues->queue[cps_random_below(handle, queues->count)];
    if (cps_spin_try(&queue->spin)) {
      return queue;
    }
    if (turn >= queues->count) {
      cps_relax(turn - queues->count);
    }
  }
}

int cps_queues_push(struct pems_sched_handle *handle,
                    const struct cps_record *record) {
  struct cps_queue *const queue = any_free(handle);
  const int code = cps_heap_push(&queue->heap, record);
  const size_t count = queue->heap.count;
  tell(queue);
  cps_spin_unlock(&queue->spin);
  if (!code) {
    return 0;
  }
  return cps_fail(handle->sched, code,
                  "scheduler: no memory for a queue's tasks: %zu: "
                  "give the process more memory, or push fewer tasks",
                  count + 1);
}

const struct cps_record *cps_queue_take(struct pems_sched_handle *handle,
                                        struct cps_queue *queue) {
  struct cps_record *const taken = handle->state;
  const int some = queue->heap.count > 0;
  if (some) {
    cps_heap_pop(&queue->heap, taken);
    tell(queue);
  }
  cps_spin_unlock(&queue->spin);
  return some ? taken : NULL;
}
