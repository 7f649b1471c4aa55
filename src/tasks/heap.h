/* A heap of records that grows: of one thread, or under a lock. */
#ifndef PEMS_TASKS_HEAP_H
#define PEMS_TASKS_HEAP_H

#include <stddef.h>
#include <stdint.h>

#include "tasks/kind.h"

struct task_heap {
  char *records; /* the first is the least; NULL before the first push */
  size_t count, room;
  size_t stride; /* bytes of a record */
};

/* An empty one, without memory yet. */
void task_heap_open(struct task_heap *heap, size_t stride);
/* Frees it, whatever is in it. */
void task_heap_close(struct task_heap *heap);
/* Adds a copy of *record: 0, or ENOMEM with nothing changed. */
int task_heap_push(struct task_heap *heap, const struct task_record *record);
/* Moves the least of count > 0 records to *record. */
void task_heap_pop(struct task_heap *heap, struct task_record *record);
/* The priority of the least of count > 0 records. */
static inline uint64_t task_heap_least(const struct task_heap *heap) {
  return ((const struct task_record *)heap->records)->priority;
}

#endif
