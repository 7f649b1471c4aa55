/* What the manifests of all checkpoints of a job have in common. */
#ifndef PEMS_MPI_JOB_CHECKPOINT_ABOUT_H
#define PEMS_MPI_JOB_CHECKPOINT_ABOUT_H

#include "checkpoint/manifest.h"

/* The hosts of all processes, each once: "a, b"; for native_free. Collective.
 */
char *checkpoint_about_hosts(void);

/* Fills *m in for a job of v ranks, whose hosts these are; the arguments stay
   the caller's, or are those of the checkpoint from which the job goes on. 0,
   or an errno value with *error filled in. */
int checkpoint_about(struct manifest *m, int v, const char *hosts, int argc,
                     char **argv, struct pems_error *error);

#endif
