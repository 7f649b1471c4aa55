/* A job that is being set up in this process: what its options ask for, and
   what there is here. */
#ifndef PEMS_MPI_JOB_JOB_H
#define PEMS_MPI_JOB_JOB_H

#include <stdbool.h>

#include <pems/status.h>

#include "config/machine.h"
#include "config/options.h"
#include "context/image/identity.h"

struct disks;
struct image_file;

struct job_setup {
  struct options options;
  struct machine machine;
  struct disks *disks;
  struct image_file *program;
  bool counted;               /* the number of ranks was given */
  bool fixed;                 /* addresses are the same each time: restart.h */
  struct identity identity;   /* of what runs, for a report */
  int place_rank, place_size; /* among processes that share its cores */
  struct pems_error error;    /* why the last check failed */
};

/* Says why the last check failed; where there are several hosts, of which. */
void job_say_error(const struct job_setup *job);
/* A check is made by all processes; if any failed, the first one that did says
   why and all end, before a rank has started. */
void job_agree(const struct job_setup *job, int failed);

#endif
