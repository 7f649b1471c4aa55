/* Which contexts get huge pages. They make faults and direct I/O several times
   cheaper where most of each is used; a program that touches a few pages here
   and there would take 512 times the memory that it needs, and swap it. */
#ifndef PEMS_CONTEXT_RESIDENCY_DENSITY_H
#define PEMS_CONTEXT_RESIDENCY_DENSITY_H

#include "context/context.h"

#include <stdbool.h>

/* Nothing is known of the program yet: contexts get small pages, and a thread
   looks at what they touch until there is enough to tell. Without it all get
   huge pages. Returns 0 or an errno value. */
int density_start(void);
void density_stop(void);

/* Whether c should have huge pages. Lock-free. */
bool density_huge(const struct context *c);

/* Tells what of c is in use: its pages that are not zero. Under c's io_lock. */
void density_learn(struct context *c, const struct ranges *live);

#endif
