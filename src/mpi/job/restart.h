/* Jobs that are checkpointed, or go on from a checkpoint: addresses that are
   the same each time, and whether the program and the machine are. */
#ifndef PEMS_MPI_JOB_RESTART_H
#define PEMS_MPI_JOB_RESTART_H

#include "checkpoint/manifest.h"
#include "context/image/identity.h"
#include "mpi/job/job.h"

#include <stdbool.h>
#include <stdint.h>

/* What is wrong is told by restart_check. Called first of all, by a function
   that does not return: where checkpoints are asked for it may run the program
   anew. */
void restart_begin(int argc, char **argv, char **envp);
/* Are there to be checkpoints, or was there one? */
bool restart_fixed(void);
/* The checkpoint to go on from, and its folder; or NULL. */
const struct manifest *restart_from(void);
const char *restart_folder(void);
/* Of this process, when it had loaded nothing but what it is linked with; where
   restart_fixed. */
const struct identity *restart_identity(void);
/* A number that is the same where addresses are. */
uint64_t restart_landmark(void);

/* 0, or an errno value with job->error filled in: can it be done as asked? When
   options are known; sets those that the checkpoint decides. */
int restart_check(struct job_setup *job);
/* The program's arguments are in the memory of its ranks: are those that are
   given now, if any, the same? */
int restart_check_arguments(struct job_setup *job, int argc, char **argv);
/* When the program has been opened: are its copies what they were? And bytes of
   each, as of then. */
int restart_check_images(struct job_setup *job);
uint64_t restart_images(void);
/* When ranks are dealt: what the checkpoint has of this process's ranks, and
   the files that they had open. */
int restart_verify(struct job_setup *job);
/* When nothing else can be wrong: cuts those files to the length they had. */
int restart_cut(struct job_setup *job);
void restart_end(void);

#endif
