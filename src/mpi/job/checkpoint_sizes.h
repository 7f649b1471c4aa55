/* How long the files are that ranks have open, in a checkpoint: what was added
   to them later is cut off before a restarted job goes on. One list for each
   process, made when all ranks have stopped, for others may have added to a
   file after a rank had. */
#ifndef PEMS_MPI_JOB_CHECKPOINT_SIZES_H
#define PEMS_MPI_JOB_CHECKPOINT_SIZES_H

#include <stdint.h>

#include <pems/status.h>

/* All return 0, or an errno value with *error filled in. `sequence` is that of
   the checkpoint in `folder`. */

/* By each process, when all ranks of the job have stopped: what its ranks have
   written is on disk then. */
int checkpoint_sizes_save(const char *folder, uint64_t sequence,
                          struct pems_error *error);
/* By each process, when it knows its ranks: are their files there, and as long
   at least? */
int checkpoint_sizes_check(const char *folder, uint64_t sequence,
                           struct pems_error *error);
/* Then: cuts those that they write to. */
int checkpoint_sizes_cut(const char *folder, uint64_t sequence,
                         struct pems_error *error);

#endif
