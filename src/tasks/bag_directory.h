/* The bags that a thread knows: those that are in its sorted map, which it
   searches, and those that it has retired from it. */
#ifndef PEMS_TASKS_BAG_DIRECTORY_H
#define PEMS_TASKS_BAG_DIRECTORY_H

#include <stdbool.h>
#include <stdint.h>

struct task_bag;
struct task_bags_worker;
struct task_map_place;

/* Adds what others have made since the last time. 0 or ENOMEM. */
int task_directory_catch_up(struct task_bags_worker *w);
/* The bag (end, w->lmf), made if there is none; NULL: no memory. */
struct task_bag *task_directory_find(struct task_bags_worker *w, uint64_t end);
/* Retires a bag that is empty, and of an lmf that is not in use: the one before
   a place in the map. Where there is no memory it stays. */
void task_directory_retire(struct task_bags_worker *w, struct task_bag *bag,
                           struct task_map_place *at);
/* A bag is searched again, if it had been retired. 0 or ENOMEM. */
int task_directory_relist(struct task_bags_worker *w,
                          const struct task_bag *bag);
/* The same of bags of the lmf that is in use now, or of `all`. */
int task_directory_reinstate(struct task_bags_worker *w, bool all);

#endif
