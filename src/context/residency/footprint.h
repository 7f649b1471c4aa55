/* How much memory a context really takes. */
#ifndef PEMS_CONTEXT_RESIDENCY_FOOTPRINT_H
#define PEMS_CONTEXT_RESIDENCY_FOOTPRINT_H

#include "context/context.h"

/* Bytes of memory that c's pages take now, with the tables that map them: its
   program's data in full, of its heap what has been touched. Takes a moment (1
   ms/GiB, 10 where the kernel is older than 6.7) and the heap's lock. If c
   moves or runs meanwhile the result is of no use, but nothing else happens. */
uint64_t footprint(struct context *c);

#endif
