/* What the programs on time-forward processing share: their options, the run,
   and what they print. Each finds a number for every node. */
#ifndef APPS_TFP_JOB_H
#define APPS_TFP_JOB_H

#include <stddef.h>
#include <stdint.h>

#include <pems/tfp.h>

#include "dag.h"

struct tfp_job {
  const char *name;  /* of the program */
  const char *usage; /* as for settings_read */
  size_t message;    /* bytes */
  /* Fills in the number as its result; the argument is NULL. */
  pems_tfp_visit_fn *visit;
  /* Whether these are the numbers of all nodes; scans the graph's edges. */
  int (*right)(struct dag *dag, const uint64_t *number);
};

/* The program: reads the options, runs, prints a RESULT line. Returns the exit
   status: not 0 if --verify was asked for and a number is wrong. */
int tfp_job(int argc, char **argv, const struct tfp_job *job);

/* n numbers, all 0, for checking; ends the program if there is no memory. */
uint64_t *tfp_job_numbers(uint64_t n);

#endif
