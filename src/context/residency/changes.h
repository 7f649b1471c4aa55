/* What of a context that leaves memory is worth writing. */
#ifndef PEMS_CONTEXT_RESIDENCY_CHANGES_H
#define PEMS_CONTEXT_RESIDENCY_CHANGES_H

#include "base/ranges.h"
#include "context/context.h"

struct changes {
  struct ranges keep;  /* its pages that are not zero */
  struct ranges write; /* of them those that the disk does not have */
  uint64_t clean;      /* bytes that were watched and not written */
};

/* Looks at all pages of c, which is GOING, under its io_lock, and counts anew
   what it needs; what was touched and written is learnt (lazy.h, density.h).
   `found` is zeros before; the caller frees its ranges. Ends the job if memory
   is short. */
void changes_find(struct context *c, struct changes *found);

/* The same of the pages of `in` only, for a context that stays; what it needs
   stays as it is. */
void changes_find_in(struct context *c, const struct ranges *in,
                     struct changes *found);

#endif
