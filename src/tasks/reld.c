/* Random enqueue, local dequeue (Jeffrey, Subramanian, Yan, Emer, Sanchez,
   MICRO 2015): a queue for each thread, tasks go to any, and come from the
   thread's own. */
#include "tasks/queues.h"

static int open(struct pems_sched *sched, struct pems_error *error) {
  return task_queues_open(sched, (uint32_t)sched->threads, error);
}

static const struct task_record *take(struct pems_sched_handle *handle) {
  struct task_queues *const queues = handle->sched->state;
  struct task_queue *const queue = &queues->queue[handle->thread];
  if (task_queue_empty(queue)) {
    return NULL;
  }
  task_spin_lock(&queue->spin);
  return task_queue_take(handle, queue);
}

const struct task_kind task_reld = {
    .name = "reld",
    .open = open,
    .join = task_queues_join,
    .leave = task_queues_leave,
    .close = task_queues_close,
    .push = task_queues_push,
    .take = take,
};
