/* Windows of a rank in a checkpoint: epochs may be open, and locks held.
   Accesses are over when the rank stops; but others go on, and may change its
   memory after it was saved: what they change is saved once more. */
#ifndef PEMS_MPI_RMA_WIN_KEPT_H
#define PEMS_MPI_RMA_WIN_KEPT_H

#include "checkpoint/parcel.h"
#include "checkpoint/stream.h"
#include "mpi/object/rank.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pems/status.h>

/* On the rank's thread, when it stops: waits until its accesses are done. */
void win_kept_settle(const struct rank *rank);
/* What one of them has that cannot be saved, or NULL. */
const char *win_kept_obstacle(const struct rank *rank);
/* On its thread, before its memory is saved: what the rank has. */
void win_kept_save(const struct rank *rank, struct parcel *to);
/* After its communicators. An errno value, or 0. */
int win_kept_load(struct rank *rank, struct parcel *from);
/* Its memory is being saved from now on, or the checkpoint is over. */
void win_kept_watch(const struct rank *rank, bool on);

/* Is there anything? */
bool win_kept_any(const struct rank *rank);
/* On any thread, when all ranks have stopped: what others have done to it. */
void win_kept_save_target(const struct rank *rank,
                          struct checkpoint_writer *to);
void win_kept_load_target(const struct rank *rank,
                          struct checkpoint_reader *from);
/* Then: memory of windows that was changed since it was saved, and memory that
   it shares with others, as blocks of CHECKPOINT_MEMORY. 0, or an errno value
   with *error filled in. */
int win_kept_save_memory(const struct rank *rank, struct checkpoint_out *o,
                         struct pems_error *error);
/* Are these addresses of memory that ranks share? It is there when
   win_kept_load_target is over. */
bool win_kept_shares(const struct rank *rank, uint64_t at, size_t n);

/* By one thread of each process, when all ranks of the job have been loaded:
   members know each other's memory when these messages have been handled. */
void win_kept_bind(void);
/* Then, on the thread of each: it has what others have made. */
void win_kept_join(const struct rank *rank);

#endif
