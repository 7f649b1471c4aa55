/* A lock-free skip list of tasks in the order of their priorities, in which
   many threads add and take. Equal priorities are in the order of their
   numbers, which is that in which a thread added them. */
#ifndef PEMS_TASKS_SKIPLIST_H
#define PEMS_TASKS_SKIPLIST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tasks/kind.h"
#include "tasks/reclaim.h"

#define TASK_SKIP_LEVELS 24
/* Taken nodes in a row that are worth removing. */
#define TASK_SKIP_DEAD 8

/* A task, and a link at each level below its height, which is marked (bit 0)
   once the node is being removed at that level, and does not change from then
   on. */
struct task_skip_node {
  struct task_block block; /* its bits: what has been done with the node */
  uint64_t number;         /* all different; the low byte is the height */
  uint64_t priority;
  _Atomic uintptr_t link[]; /* and then the task */
};

struct task_skiplist {
  size_t task; /* bytes of a task */
  int threads;
  struct task_reclaim *reclaim;
  struct task_skip_node *head; /* before all others, of full height */
};

/* One thread's. */
struct task_skip_user {
  struct task_skiplist *list;
  struct task_guard *guard;
  uint64_t number; /* of the next that it adds */
};

/* 0 or ENOMEM; then there is nothing to close. */
int task_skiplist_open(struct task_skiplist *list, size_t stride, int threads);
/* Frees it, whatever is in it. */
void task_skiplist_close(struct task_skiplist *list);
void task_skiplist_join(struct task_skiplist *list, struct task_skip_user *user,
                        int thread);

/* Adds a copy of *record; `random` decides on its height. 0 or ENOMEM. */
int task_skiplist_add(struct task_skip_user *user,
                      const struct task_record *record, uint64_t random);
/* Takes the first: 1, or 0 if there was none. Removes nodes that were taken
   from the beginning of the list. */
int task_skiplist_take_first(struct task_skip_user *user,
                             struct task_record *record);

/* --- walking: all of it between task_guard_enter and task_guard_leave --- */

/* Takes the task of a node: 1 if nobody had, else 0. */
bool task_skip_claim(const struct task_skiplist *list,
                     struct task_skip_node *node, struct task_record *record);
/* The next at a level of a node that task_skip_next gave for this level or a
   higher one, or of the head; NULL at the end. It was not being removed. */
struct task_skip_node *task_skip_next(struct task_skip_node *node, int level);
/* The next at level 0, whether it is being removed or not; for the head, and
   for what this gave. */
struct task_skip_node *task_skip_follow(struct task_skip_node *node);
/* Removes taken nodes from one on, which is not the head. */
void task_skip_remove(struct task_skip_user *user, struct task_skip_node *node);

#endif
