/* Checkpoints of a job: at the entry of a collective call on all ranks each
   rank writes its file, and waits there until all have. */
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
void checkpoint_end(void);

#endif
