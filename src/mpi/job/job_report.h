/* The record of a job (report/report.h), from its start to its files. */
#ifndef PEMS_MPI_JOB_JOB_REPORT_H
#define PEMS_MPI_JOB_JOB_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include <pems/status.h>

#include "config/options.h"

/* Starts recording if --pems-report was given; `driver` is the one used. ENOMEM
   with *error filled in. */
int job_report_start(const struct options *o, const char *driver,
                     struct pems_error *error);
struct identity;

/* Writes this process's files and, when all have, the job's, with what it runs
   as `identity` has it: collective. Returns false if a process failed; *mine if
   it was this one, with *error filled in. */
bool job_report_write(const struct options *o, const struct identity *identity,
                      bool *mine, struct pems_error *error);

#endif
