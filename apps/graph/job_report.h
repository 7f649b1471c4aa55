/* The RESULT lines of the graph programs. */
#ifndef APPS_GRAPH_JOB_REPORT_H
#define APPS_GRAPH_JOB_REPORT_H

#include "job.h"

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

/* One line about n repetitions, where there were several; orders `seconds`. */
void job_summary(const struct job *job, const char *graph, double *seconds,
                 uint64_t n);

#endif
