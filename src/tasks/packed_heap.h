/* Blocks of tasks that are on disk, by the first bag of each. */
#ifndef PEMS_TASKS_PACKED_HEAP_H
#define PEMS_TASKS_PACKED_HEAP_H

#include <stddef.h>
#include <stdint.h>

#include <pems/disk.h>

/* A block of tasks on disk, or on the way. */
struct task_packed {
  uint64_t first; /* end of the first bag that it has tasks of */
  struct pems_block block;
};

/* Zero bytes are an empty heap; `item`, of which the first one is first, is
   freed by native_free. */
struct task_packed_heap {
  struct task_packed *item;
  size_t n, room;
};

/* Room for one more: 0 or ENOMEM. */
int task_packed_room(struct task_packed_heap *h);
/* There is room. */
void task_packed_add(struct task_packed_heap *h, struct task_packed packed);
/* Takes the first one; there is one. */
struct task_packed task_packed_take(struct task_packed_heap *h);

#endif
