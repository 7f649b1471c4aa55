/* Memory whose contents a program gave up, though not the memory itself. */
#ifndef PEMS_CONTEXT_CALLS_DISCARD_H
#define PEMS_CONTEXT_CALLS_DISCARD_H

#include <stddef.h>

struct context;

/* c's VP will not read [p, p + n) before it writes it: the contents need
   neither be written to disk nor read back, and are undefined from now on.
   Called by c's VP while it runs, so that c is held. Returns 0, or -1 without
   effect if [p, p + n) is not all in c's heap or all in its data. n may be 0;
   then p does not matter. */
int context_discard_range(struct context *c, void *p, size_t n);

#endif
