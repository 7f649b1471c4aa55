/* Single messages to and from a context.
   p may also be memory outside the context (a stack), which is always there. */
#ifndef PEMS_CONTEXT_DELIVERY_ACCESS_H
#define PEMS_CONTEXT_DELIVERY_ACCESS_H

#include "context/context.h"

/* Copies from / to a pinned context wherever it is: by memory copy when IN,
   else by aligned direct I/O with the unaligned ends of writes kept in the
   boundary cache. Done when they return; delivery.h has those that are not. I/O
   errors end the job. */
void context_read(struct context *c, const void *p, void *out, size_t n);
void context_write(struct context *c, void *p, const void *in, size_t n);

#endif
