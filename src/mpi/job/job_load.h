/* The program: its file, and the copies of it. */
#ifndef PEMS_MPI_JOB_JOB_LOAD_H
#define PEMS_MPI_JOB_JOB_LOAD_H

#include "mpi/job/job.h"

/* Opens the file and finds its libraries. 0, or not with job->error filled in.
 */
int job_load_open(struct job_setup *job);
/* Makes the VPs, each with a copy of the program and arguments of its own, when
   there are contexts. 0, or an errno value with job->error filled in. */
int job_load_all(struct job_setup *job, int argc, char **argv);

#endif
