/* One rank in a checkpoint. */
#ifndef PEMS_MPI_JOB_CHECKPOINT_RANK_H
#define PEMS_MPI_JOB_CHECKPOINT_RANK_H

#include "checkpoint/blocks.h"
#include "vp/resume.h"

#include <pems/status.h>

#include <stdbool.h>

/* All return 0, or an errno value with *error filled in. */

/* On the rank's thread, at the entry of a call: ENOTSUP, and what the rank has
   that cannot be saved; EAGAIN: a collective call that others have not made
   before they stopped, later it can be. What all ranks have begun before is
   waited for, of files at a call that all make only. */
int checkpoint_rank_check(struct vp *vp, bool at_call_of_all,
                          struct pems_error *error);
/* Writes the file of a rank that has stopped (vp/resume.h), on its thread.
 *tail is for checkpoint_rank_add. */
int checkpoint_rank_save(struct vp *vp, struct resume *at, const char *path,
                         struct checkpoint_sum *sum,
                         struct checkpoint_tail *tail,
                         struct pems_error *error);
/* On any thread, when all ranks of the job have stopped and nothing is under
   way between them: adds the rank's requests and messages to its file. *any:
   there are some; else nothing is done. */
int checkpoint_rank_add(const struct vp *vp, const char *path,
                        const struct checkpoint_tail *tail,
                        struct checkpoint_sum *sum, bool *any,
                        struct pems_error *error);
/* Reads it, on a rank's thread that has not begun. */
int checkpoint_rank_load(struct vp *vp, struct resume *at, const char *path,
                         struct pems_error *error);

/* Before ranks are loaded: from then on MPI_Wtime goes on from where the latest
   of them was. */
void checkpoint_rank_start_clock(void);

#endif
