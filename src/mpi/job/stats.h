/* What was counted, at the end of a job: --pems-stats. */
#ifndef PEMS_MPI_JOB_STATS_H
#define PEMS_MPI_JOB_STATS_H

#include "base/text.h"

#include <stdint.h>

/* What processors were busy until now was for starting the job: ranks run from
   here. */
void stats_start(void);

/* The first process prints one line, "RESULT pems ...": sums over all processes
   and, of several, the most of one. `io`: the driver used. Called by all
   processes, before the real MPI ends. */
void stats_print(const char *io, uint64_t nanoseconds);
/* Adds, for a job that signal SIG`signal` ends, a line of this process alone,
   "RESULT pems ... process=1 ... ended_by=SIGTERM". From any thread. */
void stats_add_own(struct text *t, const char *io, uint64_t nanoseconds,
                   const char *signal);

#endif
