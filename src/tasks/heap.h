/* A heap of records that grows: of one thread, or under a lock. */
#ifndef PEMS_TASKS_HEAP_H
#define PEMS_TASKS_HEAP_H

#include <stddef.h>
#include <stdint.h>

#include "tasks/kind.h"

struct cps_heap {
  char *records; /* the first is the least; NULL before the first push */
  size_t count, room;
  size_t stride; /* bytes of a record */
};

/* An empty one, without memory yet. */
void cps_heap_open(struct cps_heap *heap, size_t stride);
/* Frees it, whatever is in it. */
void cps_heap_close(struct cps_heap *heap);
/* Adds a copy of *record: 0, or ENOMEM with nothing changed. */
int cps_heap_push(struct cps_heap *heap, const struct cps_record *record);
/* Moves the least of count > 0 records to *record. */
void cps_heap_pop(struct cps_heap *heap, struct cps_record *record);
/* The priority of the least of count > 0 records. */
static inline uint64_t cps_heap_least(const struct cps_heap *heap) {
  return ((const struct cps_record *)heap->records)->priority;
}

#endif
