/* Large thread-local data of a VP's program, as parts of its context. */
#ifndef PEMS_CONTEXT_CALLS_THREAD_PARTS_H
#define PEMS_CONTEXT_CALLS_THREAD_PARTS_H

#include "context/context.h"

#include <stddef.h>

/* On the VP's thread while it runs, before its program does: whole pages of
   large thread-local data count within mu from here on, and leave memory with
   c. Where stacks do not leave, nothing happens. Returns 0, or the bytes for
   which there is no room. */
size_t thread_parts_add(struct context *c);

#endif
