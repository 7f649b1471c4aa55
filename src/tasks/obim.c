/* obim: a bag for each priority >> delta, for good. */
#include "tasks/bags.h"
#include "tasks/kind.h"

static int obim_open(struct pems_sched *sched, struct pems_error *error) {
  return task_bags_open(sched, NULL, sched->options.delta, 0, error);
}

const struct task_kind task_obim = {
    .name = "obim",
    .open = obim_open,
    .join = task_bags_join,
    .leave = task_bags_leave,
    .close = task_bags_close,
    .push = task_bags_push,
    .take = task_bags_take,
    .bind = task_bags_bind,
    .counts = task_bags_counts,
};
