/* pemsinfo --predict and --measure: what a job would cost on machines like this
   one, and what this one does. */
#ifndef PEMS_WRAPPERS_PREDICT_H
#define PEMS_WRAPPERS_PREDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pems/status.h>

#include "config/machine.h"
#include "config/options.h"
#include "config/plan.h"

/* Numbers that can be given, else are measured. */
enum predict_parameter {
  PARAMETER_g,
  PARAMETER_l,
  PARAMETER_G,
  PARAMETER_S,
  PARAMETER_L,
  PARAMETER_c,
  PARAMETERS
};

enum predict_algorithm { PREDICT_PSRS, PREDICT_ALLTOALLV, ALGORITHMS };

struct predict {
  bool measure;         /* --measure */
  bool network;         /* --measure=network: one of two processes */
  bool of[ALGORITHMS];  /* --predict: of what */
  uint64_t n;           /* --n: elements */
  int hosts;            /* --hosts; 0: one per process */
  int cores, disks;     /* of a host, --cores and --D; 0: as here */
  double x[PARAMETERS]; /* seconds, or seconds per byte; < 0: not given */
};

/* Takes what is meant for it from argv and *argc. 0, or an errno value with the
   sentence in *error. */
int predict_read(struct predict *p, int *argc, char **argv,
                 struct pems_error *error);

bool predict_asked(const struct predict *p);

/* Where something is to be predicted: makes *m and *site those of the hosts
   that it is for, whose disks have room. */
void predict_adapt(const struct predict *p, struct machine *m,
                   struct plan_site *site);

/* Measures what is needed and not given, prints it, and then the prediction for
   this plan, as far as asked for. 0, or an errno value with the sentence in
   *error. */
int predict_run(const struct predict *p, const struct options *o,
                const struct plan *plan, const struct machine *m,
                struct pems_error *error);

#endif
