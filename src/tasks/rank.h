/* Rank errors: what each thread pushed and popped, and when. */
#ifndef PEMS_TASKS_RANK_H
#define PEMS_TASKS_RANK_H

#include <stdint.h>

#include <pems/sched.h>

struct task_log;

/* A log for one thread, NULL if there is no memory. NULL may be freed. */
struct task_log *task_log_new(void);
void task_log_free(struct task_log *log);
/* Notes a push (before it begins) or a pop (after it ended) at a cycle. 0, or
   ENOMEM. Cycles of one log never go back. */
int task_log_push(struct task_log *log, uint64_t cycle, uint64_t priority);
int task_log_pop(struct task_log *log, uint64_t cycle, uint64_t priority);
/* Merges n logs by time, and gives each pop its rank. Takes O(n log n). ENOMEM
   or EINVAL (a pop of what nobody had pushed). */
int task_log_rank(struct task_log *const *logs, int n,
                  struct pems_sched_rank_error *rank, struct pems_error *error);

#endif
