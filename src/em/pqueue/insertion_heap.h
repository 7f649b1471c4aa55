/* A heap of records, in the user's form, in memory of the caller. */
#ifndef PEMS_EM_PQUEUE_INSERTION_HEAP_H
#define PEMS_EM_PQUEUE_INSERTION_HEAP_H

#include <stddef.h>

#include "em/kernel/record.h"

/* Records [0, heap) are a heap (the first is the least): afterwards [0, n) are.
   From nothing (heap = 0), or where there are more new ones than old, in linear
   time. */
void insertion_heap_grow(const struct record_order *o, void *records,
                         size_t heap, size_t n);
/* Removes the first of n > 0: afterwards [0, n - 1) are a heap. */
void insertion_heap_pop(const struct record_order *o, void *records, size_t n);
/* The number of the least of n > 0 records in any order. */
size_t insertion_heap_least(const struct record_order *o, const void *records,
                            size_t n);

#endif
