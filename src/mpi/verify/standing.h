/* What each rank is doing, in few lines. */
#ifndef PEMS_MPI_VERIFY_STANDING_H
#define PEMS_MPI_VERIFY_STANDING_H

#include "base/text.h"

#include <stddef.h>
#include <stdint.h>

enum standing_is {
  STANDING_COMPUTES,
  STANDING_POLLS,   /* in `call`, in vain */
  STANDING_WAITS,   /* in `call` */
  STANDING_SLOT,    /* it can go on, after `call`, when others stop */
  STANDING_CONTEXT, /* or when its context has come from disk */
  STANDING_ENDED,
};

/* The same in all processes. */
struct standing {
  int rank;
  uint32_t is; /* enum standing_is */
  char call[48];
  uint64_t site; /* where it was called: name_site_of_all; 0: not told */
};

/* Fills in what the ranks of this process do, vps.n of them at most, and
   returns how many those are. With the scheduler's lock. */
size_t standing_own_locked(struct standing *s);
/* Adds a line for each group of ranks that do the same, 24 at most, each with
   "\n  " before it. Sorts them. Slow where sites are told. */
void standing_tell(struct text *t, struct standing *s, size_t n);

#endif
