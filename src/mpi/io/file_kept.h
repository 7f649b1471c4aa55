/* Files of MPI that a rank has open in a checkpoint: they are opened again by
   name, at the same places. What is in them is not saved. */
#ifndef PEMS_MPI_IO_FILE_KEPT_H
#define PEMS_MPI_IO_FILE_KEPT_H

#include "checkpoint/parcel.h"
#include "checkpoint/stream.h"
#include "mpi/object/rank.h"

#include <stdbool.h>

/* On the rank's thread, when it stops: waits for collective writes that all
   ranks make before. */
void file_kept_settle(const struct rank *rank);
/* Is one under way? */
bool file_kept_writes(const struct rank *rank);
/* What one of them has that cannot be saved, or NULL. */
const char *file_kept_obstacle(const struct rank *rank);
/* On its thread. */
void file_kept_save(const struct rank *rank, struct parcel *to);
/* After its communicators. An errno value, or 0. */
int file_kept_load(struct rank *rank, struct parcel *from);

/* Does it own shared pointers? */
bool file_kept_any(const struct rank *rank);
/* On any thread, when all ranks have stopped: where they are. */
void file_kept_save_pointers(const struct rank *rank,
                             struct checkpoint_writer *to);
void file_kept_load_pointers(const struct rank *rank,
                             struct checkpoint_reader *from);

/* For each file that a rank, which has stopped, has open: its name, and whether
   the rank may write to it; until one call returns something else than 0. */
typedef int file_kept_fn(const char *path, bool writes, void *arg);
int file_kept_each(const struct rank *rank, file_kept_fn *f, void *arg);

#endif
