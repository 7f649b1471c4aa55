/* Where the blocks of a heap lie, as bytes that a heap over the same addresses
   in another process can take over. Not thread-safe. */
#ifndef PEMS_CONTEXT_HEAP_HEAP_STATE_H
#define PEMS_CONTEXT_HEAP_HEAP_STATE_H

#include "context/heap/heap_slab.h"
#include "context/heap/heap_space.h"

/* Bytes that heap_state_save writes. No class keeps an empty slab. */
size_t heap_state_size(const struct heap_space *s);
void heap_state_save(const struct heap_space *s, const struct heap_slabs *slabs,
                     size_t live, void *to);
/* See heap_saved_top. */
size_t heap_state_top(const void *from, size_t n);
/* Whatever was there is gone. 0; ENOSPC: the space ends before the last block;
   EINVAL: those are no such bytes; ENOMEM. Only after 0 they can be used. */
int heap_state_load(struct heap_space *s, struct heap_slabs *slabs,
                    size_t *live, const void *from, size_t n);

#endif
