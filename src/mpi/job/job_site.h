/* Where this process's part of a job is planned: its disks, and the room there.
 */
#ifndef PEMS_MPI_JOB_JOB_SITE_H
#define PEMS_MPI_JOB_JOB_SITE_H

#include <stdbool.h>

#include "config/plan.h"
#include "mpi/job/job.h"

struct driver;

/* The driver that was asked for, and the one that is used. */
const char *job_site_driver(const struct job_setup *job);
const char *job_site_driver_used(const struct job_setup *job);
/* The driver that really does it, whatever stands before it for tests; NULL if
   there is none of that name. */
const struct driver *job_site_innermost(const struct job_setup *job);
bool job_site_uses_disks(const struct job_setup *job);
/* For a process that may have n VPs. */
struct plan_site job_site_for(const struct job_setup *job, int n);
/* Do the processes run the same pems, and the same program where it has the
   same path? Collective. Warns, or, with --pems-strict, returns EINVAL with
   job->error filled in. */
int job_site_check_builds(struct job_setup *job);

#endif
