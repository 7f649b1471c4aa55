#include "tasks/merge.h"

/* Bags that the priorities of this time would take; at least one, since there
   are priorities. */
static double count_queues(const struct task_observed *o, int lmf) {
  const uint64_t n = (o->most >> lmf) - (o->least >> lmf);
  return n ? (double)n : 1;
}

/* The floor of log2(ratio) for a ratio of 1 or more: the cautious choice. */
static int whole_log2(double ratio) {
  int n = 0;
  for (; ratio >= 2; ratio /= 2) {
    n++;
  }
  return n;
}

int task_merge_check(const struct task_merge_rule *rule,
                     const struct task_observed *o, int lmf) {
  if (!o->dequeues || o->least > o->most || !o->enqueues) {
    return lmf;
  }
  if ((double)o->synchronizing / (double)o->dequeues <=
      rule->global_frequency) {
    return lmf;
  }
  const double fill = (double)o->enqueues / count_queues(o, lmf);
  if (fill >= (double)rule->min_density) {
    return lmf;
  }
  const int merged = lmf + whole_log2((double)rule->min_density / fill);
  return merged < 63 ? merged : 63;
}

int task_unmerge_check(const struct task_merge_rule *rule,
                       const struct task_observed *o, int lmf, uint64_t pops) {
  if (pops <= rule->max_pops || o->least > o->most) {
    return lmf;
  }
  const double queues = count_queues(o, lmf);
  if (queues >= (double)rule->min_queues) {
    return lmf;
  }
  const int unmerged = lmf - whole_log2((double)rule->min_queues / queues);
  return unmerged > 0 ? unmerged : 0;
}
