/* One thread's map of the bags: sorted, in blocks, so that a bag more costs
   little however many there are, and that looking at them in order is fast. */
#ifndef PEMS_TASKS_BAG_MAP_H
#define PEMS_TASKS_BAG_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "tasks/bag.h"

struct task_map_entry {
  uint64_t end; /* of the bag */
  struct task_bag *bag;
};

struct task_map_block;

struct task_bag_map {
  struct task_map_block **block; /* never empty ones, in order */
  uint64_t *last;                /* the end of the last bag in each */
  size_t n, most;                /* blocks; and that there is room for */
  size_t bags;
};

/* Where one is in the map; invalid once a bag is added. */
struct task_map_place {
  size_t block;
  int entry;
};

/* Zero bytes are an empty map. Frees what it holds, but not the bags. */
void task_map_free(struct task_bag_map *map);
/* Adds a bag that is not in it. 0 or ENOMEM. */
int task_map_add(struct task_bag_map *map, struct task_bag *bag);
/* Removes the bag before a place, which stays before the bag behind it. There
   is one. */
void task_map_remove(struct task_bag_map *map, struct task_map_place *place);
/* The bag (end, lmf), or NULL. */
struct task_bag *task_map_find(const struct task_bag_map *map, uint64_t end,
                               int lmf);
/* Goes to the first bag that ends at `end` or after it. */
struct task_map_place task_map_seek(const struct task_bag_map *map,
                                    uint64_t end);
/* Goes behind the last one. */
struct task_map_place task_map_behind(const struct task_bag_map *map);
/* The bag at a place, which moves on to the next; NULL behind the last. */
struct task_bag *task_map_next(const struct task_bag_map *map,
                               struct task_map_place *place);
/* The bag before a place, which moves back to it; NULL before the first. */
struct task_bag *task_map_previous(const struct task_bag_map *map,
                                   struct task_map_place *place);

#endif
