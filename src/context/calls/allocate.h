/* Blocks of a context's heap, on behalf of malloc and free. All are
   thread-safe; a VP's helper threads may call them. */
#ifndef PEMS_CONTEXT_CALLS_ALLOCATE_H
#define PEMS_CONTEXT_CALLS_ALLOCATE_H

#include "context/context.h"

#include <stdbool.h>

/* NULL when mu is exhausted and it is no oversize block (oversize.h), the disk
   has no room for more, or the context is not resident. */
void *context_alloc(struct context *c, size_t n, size_t align);
/* The same without waiting for room. *lacking: that is why there is none, and
   after residency_charge there may be. */
void *context_alloc_now(struct context *c, size_t n, size_t align,
                        bool *lacking);
void *context_zalloc(struct context *c, size_t n);
void *context_realloc(struct context *c, void *p, size_t n);
size_t context_usable(struct context *c, const void *p);
/* The context that p is a block's address of, for a thread of `own`'s VP; NULL:
   it is no context's. */
struct context *context_of_block(struct context *own, const void *p);
/* A block of a context that is not resident is freed when it comes in. */
void context_free(struct context *c, void *p);

struct context_pages {
  void *at;     /* if not NULL: there, where all must be free */
  size_t n;     /* bytes: whole pages */
  size_t align; /* a power of two, at least PAGE */
  bool quiet;   /* no line to the user if there are none */
};
/* Whole pages that the program maps; NULL as above. The first *old bytes may
   have contents from before, the rest is zero. */
void *context_pages(struct context *c, const struct context_pages *pages,
                    size_t *old);
/* Gives those of [p, p + n) back that were mapped: in memory, c's range. */
void context_pages_free(struct context *c, void *p, size_t n);
/* How many bytes from p on, up to `end`, are alike: *mapped, or not. */
size_t context_pages_piece(struct context *c, const void *p, const void *end,
                           bool *mapped);

/* The block of a resident context's heap that holds p: heap_block. */
int context_block(struct context *c, const void *p, char **start, size_t *size);

/* Bytes of context_hint's text. */
enum { CONTEXT_HINT = 192 };
/* Part of a sentence about the end of c's VP: empty, or why it may be. */
const char *context_hint(const struct context *c, char *text, size_t size);

#endif
