/* The job that pemsrun is to start, as its command line, the environment and
   Slurm describe it. */
#ifndef PEMS_WRAPPERS_PEMSRUN_JOB_H
#define PEMS_WRAPPERS_PEMSRUN_JOB_H

#include <limits.h>
#include <stdbool.h>

#include "config/options.h"
#include "wrappers/args.h"
#include "wrappers/hosts.h"

struct pemsrun_job {
  struct options options; /* from everywhere: variables, pemsrun's, program's */
  struct args pems;       /* "--pems-NAME=VALUE" given before the program */
  struct args mpirun;     /* options for mpirun, with their operands */
  struct args places;     /* those of them that name hosts */
  char **program;         /* its argv, NULL-terminated; [0] as the user says */
  char path[PATH_MAX];    /* where [0] was found */
  char **wrapper;         /* words of a command before it, or NULL */
  const char *starter;    /* what is to start a program of pems, or NULL */
  struct hosts hosts;     /* of --host and --hostfile, or of Slurm */
  bool maps, binds, slots; /* the user gave an mpirun option for it */
  const char *wdir;        /* where processes are to work, or NULL */
  int timeout;             /* seconds after which mpirun ends it, or 0 */
  bool show;
};

/* The number of real processes. */
int pemsrun_job_processes(const struct pemsrun_job *j);

/* The number of processes on the host that has most of them. */
int pemsrun_job_most_on_host(const struct pemsrun_job *j);

#endif
