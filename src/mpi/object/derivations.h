/* Of MPI_Comm_create_group's calls on a communicator its members know only
   their own: those with one group and tag are counted, which all members of the
   group make. */
#ifndef PEMS_MPI_OBJECT_DERIVATIONS_H
#define PEMS_MPI_OBJECT_DERIVATIONS_H

#include <stdint.h>

struct derivations;

/* How many calls with this key *of has counted before, and counts this one.
 *of may be NULL: it is made then. */
uint64_t derivations_count(struct derivations **of, uint64_t key);
void derivations_free(struct derivations *d); /* NULL is allowed */

#endif
