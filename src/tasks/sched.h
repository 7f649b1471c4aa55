/* What taking tasks one by one and pems_sched_run have in common. */
#ifndef PEMS_TASKS_SCHED_H
#define PEMS_TASKS_SCHED_H

#include "tasks/kind.h"

/* Marks the task that the
   handle took as finished; takes the next, counting and measuring. */
void task_finish(struct pems_sched_handle *handle);
const struct task_record *task_take(struct pems_sched_handle *handle);

#endif
