/* Where to cut v sorted lists into v parts of the whole order. */
#ifndef PEMS_CGM_SPLITTERS_H
#define PEMS_CGM_SPLITTERS_H

#include "cgm/machine.h"

/* Cuts of this rank's list, v + 1 numbers each: at least low[r] of its elements
   belong to lower ranks than r, and at most high[r]. All elements of all ranks
   are different: equal ones are ordered by rank, then place. */
struct pems_cgm_cuts {
  uint64_t *low, *high;
};

/* Two supersteps: regular samples of the sorted lists to rank 0, which tells
   all where to cut. `exact`: even shares lie between low and high, which are
   close; else both are the same, near even shares. Sets plan.total. `cuts`: two
   arrays of the caller's. */
int pems_cgm_split(struct pems_cgm *machine, const struct pems_cgm_list *list,
                   const struct pems_record *record, int exact,
                   const struct pems_cgm_cuts *cuts);

#endif
