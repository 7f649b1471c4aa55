/* Blocks of a context's heap, on behalf of malloc and free. All are
   thread-safe; a VP's helper threads may call them. */
#ifndef PEMS_CONTEXT_CALLS_ALLOCATE_H
#define PEMS_CONTEXT_CALLS_ALLOCATE_H

#include "context/context.h"

/* NULL when mu is exhausted, the disk has no room for more, or the context is
   not resident. */
void *context_alloc(struct context *c, size_t n, size_t align);
void *context_zalloc(struct context *c, size_t n);
void *context_realloc(struct context *c, void *p, size_t n);
size_t context_usable(struct context *c, const void *p);
/* A block of a context that is not resident is freed when it comes in. */
void context_free(struct context *c, void *p);

/* The block of a resident context's heap that holds p: heap_block. */
int context_block(struct context *c, const void *p, char **start, size_t *size);

/* Part of a sentence about the end of c's VP: empty, or why it may be. */
const char *context_hint(const struct context *c, char *text, size_t size);

#endif
