/* A member of a collective call meets those of this process that came before
   it: messages to and from all of them are under way together. */
#ifndef PEMS_MPI_COLL_MOVE_COLL_MEET_H
#define PEMS_MPI_COLL_MOVE_COLL_MEET_H

#include "mpi/coll/move/coll_part.h"

#include <stdbool.h>

/* What can be moved at once between this VP and each that came before.
   earlier[i] becomes: does i still wait for its message to be taken? */
void coll_meet_earlier(struct coll *coll, struct coll_part *p, bool *earlier);
/* The VP runs again: takes what was left with those that came before. */
void coll_meet_later(struct coll *coll, struct coll_part *p,
                     const bool *pending);

#endif
