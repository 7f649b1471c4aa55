/* Communicators without a parent: all that their members have in common is a
   group and a string (MPI_Comm_create_from_group). */
#ifndef PEMS_MPI_COMM_COMM_FROM_GROUP_H
#define PEMS_MPI_COMM_COMM_FROM_GROUP_H

#include "mpi/object/group.h"

#include <stdint.h>

/* What such a call is told by: the same on all members who make it. */
uint64_t comm_from_group_key(uint64_t seed, const struct group *g,
                             const char *tag);
/* Which of the calling rank's calls with this key the next one is: who makes it
   counts it up. NULL: out of memory. */
uint64_t *comm_from_group_next(uint64_t key);
/* An id for the new communicator of that call. */
uint64_t comm_from_group_id(uint64_t key, uint64_t number, int leader);

#endif
