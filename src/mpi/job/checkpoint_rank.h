/* One rank in a checkpoint. */
#ifndef PEMS_MPI_JOB_CHECKPOINT_RANK_H
#define PEMS_MPI_JOB_CHECKPOINT_RANK_H

#include "checkpoint/blocks.h"
#include "vp/resume.h"

#include <pems/status.h>

/* All return 0, or an errno value with *error filled in. */

/* On the rank's thread, at the entry of a call: ENOTSUP, and what the rank has
   that cannot be saved. */
int checkpoint_rank_check(const struct vp *vp, struct pems_error *error);
/* On any thread, when all ranks of the job have stopped: have they got messages
   since? */
int checkpoint_rank_check_messages(const struct vp *vp,
                                   struct pems_error *error);
/* Writes the file of a rank that has stopped (vp/resume.h), on its thread. */
int checkpoint_rank_save(struct vp *vp, struct resume *at, const char *path,
                         struct checkpoint_sum *sum, struct pems_error *error);
/* Reads it, on a rank's thread that has not begun. */
int checkpoint_rank_load(struct vp *vp, struct resume *at, const char *path,
                         struct pems_error *error);

#endif
