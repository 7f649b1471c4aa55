/* MultiQueue (Rihani, Sanders, Dementiev, SPAA 2015): c p queues, a task goes
   to any of them, and comes from the better of two. So nobody waits for a lock,
   and the rank of what comes is about c p on average, however full it is. */
#include "tasks/queues.h"

#include <stdbool.h>

enum { TRIES = 4 /* of two queues each, before all are looked at */ };

static int open(struct pems_sched *sched, struct pems_error *error) {
  return task_queues_open(
      sched, (uint32_t)sched->threads * (uint32_t)sched->options.queues, error);
}

static bool is_empty(struct task_queue *queue, uint64_t least) {
  return least == UINT64_MAX && task_queue_empty(queue);
}

/* The better of two queues, NULL if both are empty. Their tops are read without
   a lock: relaxed, since they only choose. */
static struct task_queue *better(struct task_queue *a, struct task_queue *b) {
  const uint64_t x = atomic_load_explicit(&a->least, memory_order_relaxed);
  const uint64_t y = atomic_load_explicit(&b->least, memory_order_relaxed);
  if (x < y || (x == y && !is_empty(a, x))) {
    return a;
  }
  return is_empty(b, y) ? NULL : b;
}

static struct task_queue *better_of_two(struct pems_sched_handle *handle,
                                        struct task_queues *queues) {
  if (queues->count == 1) {
    return better(&queues->queue[0], &queues->queue[0]);
  }
  const uint64_t random = task_random(handle);
  const uint32_t n = queues->count;
  const uint32_t a = (uint32_t)((random >> 32) * n >> 32);
  const uint32_t b = (uint32_t)((random & UINT32_MAX) * (n - 1) >> 32);
  return better(&queues->queue[a], &queues->queue[b + (b >= a)]);
}

/* From whichever queue has something, if one has: waits for locks. */
static const struct task_record *take_any(struct pems_sched_handle *handle,
                                          struct task_queues *queues) {
  const uint32_t first = task_random_below(handle, queues->count);
  for (uint32_t i = 0; i < queues->count; i++) {
    const uint32_t at = first + i;
    struct task_queue *const queue =
        &queues->queue[at < queues->count ? at : at - queues->count];
    if (task_queue_empty(queue)) {
      continue;
    }
    task_spin_lock(&queue->spin);
    const struct task_record *const record = task_queue_take(handle, queue);
    if (record) {
      return record;
    }
  }
  return NULL;
}

static const struct task_record *take(struct pems_sched_handle *handle) {
  struct task_queues *const queues = handle->sched->state;
  for (int i = 0; i < TRIES; i++) {
    struct task_queue *const queue = better_of_two(handle, queues);
    if (!queue || !task_spin_try(&queue->spin)) {
      continue;
    }
    const struct task_record *const record = task_queue_take(handle, queue);
    if (record) {
      return record;
    }
  }
  return take_any(handle, queues);
}

const struct task_kind task_multiqueue = {
    .name = "multiqueue",
    .open = open,
    .join = task_queues_join,
    .leave = task_queues_leave,
    .close = task_queues_close,
    .push = task_queues_push,
    .take = take,
};
