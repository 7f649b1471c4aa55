/* When pmod merges and unmerges priorities (section 4.4, Figure 4). */
#ifndef PEMS_TASKS_MERGE_H
#define PEMS_TASKS_MERGE_H

#include <stdint.h>

/* What has happened since lmf changed last, in all threads together. */
struct task_observed {
  uint64_t enqueues, dequeues, synchronizing; /* synchronizing dequeues */
  uint64_t least, most; /* priorities enqueued; least > most: none */
};

struct task_merge_rule {
  double global_frequency;
  uint64_t max_pops, min_density, min_queues;
};

/* mergeCheck and unmergeCheck: lmf, or what it changes to, 0 to 63. `pops`:
   dequeues from the one bag that the thread comes from. */
int task_merge_check(const struct task_merge_rule *rule,
                     const struct task_observed *observed, int lmf);
int task_unmerge_check(const struct task_merge_rule *rule,
                       const struct task_observed *observed, int lmf,
                       uint64_t pops);

#endif
