/* What a VP's stack has needed beyond the part that its context has from the
   start, in chunks, each a part of the context below the one before. */
#ifndef PEMS_CONTEXT_CALLS_STACK_CHUNKS_H
#define PEMS_CONTEXT_CALLS_STACK_CHUNKS_H

#include "context/context.h"

#include <stdbool.h>

/* The stack needs its addresses from `to` on, a page's. Counts what is new of
   that, which may wait for others to leave memory as malloc does, and gives it
   a place on disk. On a thread of the VP while no frame of its program has left
   the stack to MPI. False if the context can have no more, or the disk has no
   room: nothing has changed. */
bool stack_chunks_add(struct context *c, char *to);
/* The end of the lowest chunk, or NULL: there is none. */
char *stack_chunks_end(const struct context *c);
/* Takes the lowest one back: what it holds is of no use any more. */
void stack_chunks_drop(struct context *c);

#endif
