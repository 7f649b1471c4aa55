/* Whole pages of a heap that a program maps: they have no header, so that any
   of them can be given back by itself, and that they may be unreadable. The map
   of pages (heap_slab.h) marks them. Not thread-safe. Addresses and sizes are
   multiples of HEAP_SLAB_PAGE. */
#ifndef PEMS_CONTEXT_HEAP_HEAP_PAGES_H
#define PEMS_CONTEXT_HEAP_HEAP_PAGES_H

#include "context/heap/heap_slab.h"

#include <stdbool.h>
#include <stddef.h>

/* The lowest n bytes that are free and begin at a multiple of `align`, or NULL.
   They have any contents. */
char *heap_pages_take(struct heap_slabs *s, size_t n, size_t align);
/* [at, at + n), if all of it is free; else false. */
bool heap_pages_take_at(struct heap_slabs *s, char *at, size_t n);
/* Gives back those of [at, at + n) that were taken here; returns their bytes.
   Others stay as they are. */
size_t heap_pages_give(struct heap_slabs *s, char *at, size_t n);
/* How many bytes from `at` on, up to `end`, are alike: *taken here, or not. */
size_t heap_pages_piece(const struct heap_slabs *s, const char *at,
                        const char *end, bool *taken);
/* Is p, in the space, on a page that was taken here? */
bool heap_pages_has(const struct heap_slabs *s, const void *p);

#endif
