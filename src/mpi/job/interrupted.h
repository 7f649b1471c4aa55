/* What is told of a job that is interrupted: --pems-stats. */
#ifndef PEMS_MPI_JOB_INTERRUPTED_H
#define PEMS_MPI_JOB_INTERRUPTED_H

#include <stdint.h>

/* While VPs run: a signal that ends the job first has the counters and what
   each rank does printed, by a thread of its own. `io`: the driver used;
   `start`: when the job began, by clock_ns. */
void interrupted_start(const char *io, uint64_t start);
void interrupted_stop(void);

#endif
