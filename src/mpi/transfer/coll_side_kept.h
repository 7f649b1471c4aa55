/* A side of a collective call in a checkpoint. */
#ifndef PEMS_MPI_TRANSFER_COLL_SIDE_KEPT_H
#define PEMS_MPI_TRANSFER_COLL_SIDE_KEPT_H

#include "checkpoint/stream.h"
#include "mpi/transfer/coll_side.h"

void coll_side_kept_save(const struct coll_side *s,
                         struct checkpoint_writer *to);
/* What it holds is there even after an error. */
void coll_side_kept_load(struct coll_side *s, struct checkpoint_reader *from);

#endif
