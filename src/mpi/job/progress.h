/* A line on stderr that says how far the job is. */
#ifndef PEMS_MPI_JOB_PROGRESS_H
#define PEMS_MPI_JOB_PROGRESS_H

#include <stdbool.h>

/* Starts printing once a second where `wanted`. */
void progress_start(bool wanted);
void progress_stop(void);

#endif
