/* Small messages of a collective call: packed by their sender into the shared
   buffer, and taken from there when the receiver runs. */
#ifndef PEMS_MPI_COLL_MOVE_COLL_STAGE_H
#define PEMS_MPI_COLL_MOVE_COLL_STAGE_H

#include "mpi/coll/move/coll_part.h"

/* Packs the VP's small messages, if the shared buffer has room for them: else
   they go as the large ones do. The memory counts from coll_enter on. */
void coll_stage(struct coll *coll, struct coll_part *p);
/* Unpacks what `from` has packed for p, if anything, where p receives it. */
void coll_stage_take(struct coll *coll, const struct coll_part *from,
                     struct coll_part *p);

#endif
