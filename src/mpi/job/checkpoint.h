/* Checkpoints of a job: at the entry of a collective call on all ranks each
   rank writes its file, and waits there until all have; or, if they have asked
   for one in vain for a while, at the entry of a call for a message, when all
   have stopped. */
#ifndef PEMS_MPI_JOB_CHECKPOINT_H
#define PEMS_MPI_JOB_CHECKPOINT_H

#include "mpi/job/job.h"

#include <stddef.h>

/* 0, or an errno value with job->error filled in: the directory. */
int checkpoint_open_shelf(struct job_setup *job, int argc, char **argv);
/* Bytes of addresses for the heap of a context of `mu` bytes, the same in all
   processes; 0 where there are no checkpoints. */
size_t checkpoint_room(size_t mu);
/* Before am_start and VPs. */
void checkpoint_start(void);
/* After am_start. */
void checkpoint_watch(void);
void checkpoint_end(void);

#endif
