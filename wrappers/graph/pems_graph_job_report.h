/* The RESULT lines of the commands: on stdout, or on stderr where results go to
   stdout. */
#ifndef PEMS_WRAPPERS_GRAPH_JOB_REPORT_H
#define PEMS_WRAPPERS_GRAPH_JOB_REPORT_H

#include "wrappers/graph/pems_graph_job.h"

struct job_report {
  const char *graph;   /* a name without blanks */
  uint64_t repetition; /* from 1 */
  double seconds;
  int delta;
  int measure, rank; /* as asked for */
  uint64_t limit;    /* bytes for tasks; 0: none */
};

/* Prints what the job's scheduler did in a repetition. */
void job_report(const struct job *job, const struct job_report *report);

/* The same of a run without tasks: with the edges in the file, or swept. */
void job_report_swept(const struct job *job, const struct job_report *report);

/* One line about n repetitions, where there were several; orders `seconds`. */
void job_summary(const struct job *job, const char *graph, double *seconds,
                 uint64_t n);

#endif
