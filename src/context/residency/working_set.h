/* Which pages a context touches after each call of MPI, and so which of its
   pages are due last: those can leave memory while the others stay (partial.h).
   A call is known by where the program makes it and by the two different ones
   before it: loops that share a function are told apart. All of one context
   under its io_lock. */
#ifndef PEMS_CONTEXT_RESIDENCY_WORKING_SET_H
#define PEMS_CONTEXT_RESIDENCY_WORKING_SET_H

#include "context/context.h"

enum { WORKING_SET_UNIT = 64 << 10 };

/* c's VP, the calling thread, calls MPI from `site`. */
void working_set_stops(struct context *c, uintptr_t site);
/* c's VP goes on; waited: others ran meanwhile. */
void working_set_goes_on(struct context *c, bool waited);
/* Adds to `pages` those of `of` that c will touch from where it is until it
   waits; false: that is not known, then all of them. */
bool working_set_soon(struct context *c, const struct ranges *of,
                      struct ranges *pages);
/* For each unit from `start` on, how many waits of c's VP, which waits, pass
   until it is touched; CONTEXT_LEVELS - 1: no touch is known. */
void working_set_levels(struct context *c, uintptr_t start, uint8_t *level,
                        size_t units);
/* Others may have written to missing pages: those are there. */
void working_set_settle(struct context *c);
void working_set_free(struct context *c);

#endif
