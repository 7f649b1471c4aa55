/* Random enqueue, local dequeue (Jeffrey, Subramanian, Yan, Emer, Sanchez,
   MICRO 2015): a queue for each thread, tasks go to any, and come from the
   thread's own. */
#include "tasks/queues.h"

static int open(struct pems_sched *sched, struct pems_error *error) {
  return cps_queues_open(sched, (uint32_t)sched->threads, error);
}

static const struct cps_record *take(struct pems_sched_handle *handle) {
  struct cps_queues *const queues = handle->sched->state;
  struct cps_queue *const queue = &queues->queue[handle->thread];
  if (cps_queue_empty(queue)) {
    return NULL;
  }
  cps_spin_lock(&queue->spin);
  return cps_queue_take(handle, queue);
}

const struct cps_kind cps_reld = {
    .name = "reld",
    .open = open,
    .join = cps_queues_join,
    .leave = cps_queues_leave,
    .close = cps_queues_close,
    .push = cps_queues_push,
    .take = take,
};
