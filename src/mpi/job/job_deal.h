/* Which ranks a process has: those of the start, and those that MPI_Comm_spawn
   may start. */
#ifndef PEMS_MPI_JOB_JOB_DEAL_H
#define PEMS_MPI_JOB_JOB_DEAL_H

#include "mpi/job/job.h"

/* All processes must deal the same ranks in the same way: where v is not given
   it is one for each. Collective; 0, or EINVAL with job->error filled in. */
int job_deal_check_same(struct job_setup *job);
int job_deal_check_universe(struct job_setup *job);
/* Fills in what vps says of them. Collective. */
void job_deal_ranks(struct job_setup *job);
/* The most that any process has. */
int job_deal_most(const struct job_setup *job);

#endif
