/* Blocks of a heap that were freed while their context was not in memory. */
#ifndef PEMS_CONTEXT_LATE_FREES_H
#define PEMS_CONTEXT_LATE_FREES_H

#include "context/context.h"

/* Ends the job: c's rank gave `p` to `what`, and it is no block of its. */
_Noreturn void context_bad_block(const struct context *c, const void *p,
                                 const char *what);
/* Notes p, to be freed when c has come in. With the heap's lock held. */
void late_frees_add_locked(struct context *c, void *p);
/* Frees what was noted; c has come in. With the heap's lock held, or alone. */
void late_frees_apply(struct context *c);
/* For the end of c. */
void late_frees_end(struct context *c);

#endif
