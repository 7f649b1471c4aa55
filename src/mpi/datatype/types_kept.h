/* Datatypes of a rank in a checkpoint: how they were made. Those that the
   program has freed but made others of are made anew, too. */
#ifndef PEMS_MPI_DATATYPE_TYPES_KEPT_H
#define PEMS_MPI_DATATYPE_TYPES_KEPT_H

#include "checkpoint/parcel.h"
#include "checkpoint/stream.h"
#include "mpi/object/rank.h"

#include <mpi.h>
#include <stdbool.h>

/* What one of them is that cannot be saved, or NULL. */
const char *types_kept_obstacle(const struct rank *rank);
/* On the rank's thread. */
void types_kept_save(const struct rank *rank, struct parcel *to);
/* An errno value, or 0. */
int types_kept_load(struct rank *rank, struct parcel *from);

/* One datatype of the real library, with all that it is made of, and one that
   looks like it: to be freed by the real library unless it is predefined. */
bool types_kept_knows(MPI_Datatype type);
void types_kept_save_one(MPI_Datatype type, struct parcel *to);
int types_kept_load_one(MPI_Datatype *type, struct parcel *from);
/* The same elsewhere in a checkpoint. After an error *type is
   MPI_DATATYPE_NULL. */
void types_kept_write(MPI_Datatype type, struct checkpoint_writer *to);
void types_kept_read(MPI_Datatype *type, struct checkpoint_reader *from);

#endif
