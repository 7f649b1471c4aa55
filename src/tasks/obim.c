/* obim: a bag for each priority >> delta, for good. */
#include "tasks/bags.h"
#include "tasks/kind.h"

static int obim_open(struct pems_sched *sched, struct pems_error *error) {
  return cps_bags_open(sched, NULL, sched->options.delta, 0, error);
}

const struct cps_kind cps_obim = {
    .name = "obim",
    .open = obim_open,
    .join = cps_bags_join,
    .leave = cps_bags_leave,
    .close = cps_bags_close,
    .push = cps_bags_push,
    .take = cps_bags_take,
    .bind = cps_bags_bind,
    .counts = cps_bags_counts,
};
