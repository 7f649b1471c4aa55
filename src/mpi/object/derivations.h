/* Of MPI_Comm_create_group's calls on a communicator its members know only
   their own: those with one group and tag are counted, which all members of the
   group make. */
#ifndef PEMS_MPI_OBJECT_DERIVATIONS_H
#define PEMS_MPI_OBJECT_DERIVATIONS_H

#include "checkpoint/parcel.h"

#include <stdint.h>

struct derivations;

/* The number, from 1 on, that the next call with this key has: who makes it
   counts it up. *of may be NULL: it is made then. NULL: out of memory. */
uint64_t *derivations_next(struct derivations **of, uint64_t key);
/* In a checkpoint: NULL, too. The second one returns an errno value, or 0. */
void derivations_save(const struct derivations *d, struct parcel *to);
int derivations_load(struct derivations **d, struct parcel *from);
void derivations_free(struct derivations *d); /* NULL is allowed */

#endif
