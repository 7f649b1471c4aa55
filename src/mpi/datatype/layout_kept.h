/* Where the bytes of a datatype lie, in a checkpoint. */
#ifndef PEMS_MPI_DATATYPE_LAYOUT_KEPT_H
#define PEMS_MPI_DATATYPE_LAYOUT_KEPT_H

#include "checkpoint/stream.h"
#include "mpi/datatype/layout.h"

/* NULL, too. */
void layout_kept_save(const struct layout *layout,
                      struct checkpoint_writer *to);
/* Held until layout_release. After an error, too, it may be NULL; a shortage of
   memory ends the job. */
const struct layout *layout_kept_load(struct checkpoint_reader *from);

#endif
