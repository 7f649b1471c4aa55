/* Contexts that are in memory in part: a context whose VP waits gives up the
   pages that are due last, and before its VP goes on, those that it will touch
   are read again. The others are mapped from the file, and read when they are
   touched, by whomever. */
#ifndef PEMS_CONTEXT_RESIDENCY_PARTIAL_H
#define PEMS_CONTEXT_RESIDENCY_PARTIAL_H

#include "context/context.h"

/* wanted: contexts may be in memory in part, where store and system can. */
void partial_start(bool wanted);
bool partial_possible(void);

/* c's VP, the calling thread, calls MPI, and goes on with its program: reads
   what it will touch, unless it has waited. */
void partial_stops(struct context *c);
void partial_goes_on(struct context *c);

/* Counts what c, whose VP waits, could give up. Takes its io_lock. */
void partial_plan(struct context *c, struct context_plan *plan);
/* The level of what is to be given up next, or -1: all of c has to go. */
int partial_level(const struct context *c);
/* c, which is GOING, gives up pages of that level and above, about `most`
   bytes. */
void partial_trim(struct context *c, int level, uint64_t most);
/* c, which is COMING, gets what it will touch next. */
void partial_fill(struct context *c);

/* Under io_lock: what of `pages`, which are on disk, c will touch when it has
   come as a whole; the rest has been mapped; all has left, or is of no use. */
void partial_expect(struct context *c, const struct ranges *pages);
void partial_came(struct context *c);
void partial_forget(struct context *c);
void partial_free(struct context *c);

#endif
