/* Shares of the memory that are idle belong to contexts until their consumers
   need them (config/memory_used.h). A consumer that has had half of its limit
   gets a larger one as soon as contexts have made room for that, by leaving
   memory if need be; until then it does what it does when its share is used up:
   letters and boundary blocks go to disk, and staging buffers are waited for.
   So the sum never exceeds the memory. What was given back once stays. */
#ifndef PEMS_CONTEXT_RESIDENCY_LENDING_H
#define PEMS_CONTEXT_RESIDENCY_LENDING_H

#include "config/memory_used.h"

#include <stdint.h>

/* Before any context is in memory. */
void lending_start(void);
/* The consumer keeps `least` bytes of its share, more than 0: contexts have the
   others. */
void lending_add(enum memory_use use, uint64_t share, uint64_t least);
/* Nothing is lent any more. */
void lending_end(void);

/* With the ledger's lock, given up meanwhile. Gives back what consumers want,
   as far as it is free. Returns bytes that contexts must make room for yet, or
   0. */
uint64_t lending_repay_locked(void);

#endif
