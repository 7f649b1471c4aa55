/* How contexts come in under --pems-swapin=auto: as a whole, or mapped and read
   when they are touched. For each place at which VPs wait, what a residence
   takes both ways is compared: so many bytes and faults as there were, each at
   what they take on average in the whole job, so that one that had bad luck
   does not decide. The less is known of a place, the more counts what is true
   of the program's other ones. The way that seems worse is tried for a few
   residences in a hundred. Thread-safe. */
#ifndef PEMS_CONTEXT_RESIDENCY_WAY_H
#define PEMS_CONTEXT_RESIDENCY_WAY_H

#include "context/context.h"

#include <stdbool.h>
#include <stdint.h>

void way_start(void);

/* Is a context that comes in at `site` to be mapped? `ready`: it is known what
   it will touch, or that this cannot be known. Who is not has to find out
   first, which takes longer than being mapped will. */
bool way_choose(uintptr_t site, bool ready);

/* A residence that began there is over. */
void way_took(uintptr_t site, const struct context_took *t);

#endif
