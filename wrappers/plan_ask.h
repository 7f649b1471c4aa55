/* What pemsinfo --plan is asked: the command line, and the run that it is
 * about.
 */
#ifndef PEMS_WRAPPERS_PLAN_ASK_H
#define PEMS_WRAPPERS_PLAN_ASK_H

#include <stdbool.h>
#include <stdint.h>

#include "config/machine.h"
#include "config/options.h"
#include "config/plan.h"
#include "wrappers/args.h"
#include "wrappers/plan/forecast.h"

struct plan_ask {
  uint64_t size; /* --plan=SIZE, or 0: ranks vary */
  uint64_t sizes[FORECAST_RUNS - 1];
  int n_sizes;
  bool sizes_chosen; /* not given, and so others may be better */
  uint64_t ranks[FORECAST_RUNS - 1];
  int n_ranks;
  double rate;         /* --rate, or 0: to be measured */
  struct args all;     /* pemsrun's options, as given */
  struct args options; /* the same without those that dry runs choose */
  char **program;      /* and its arguments */
  struct options o;    /* what they say */
  struct machine machine;
  struct plan plan; /* of the run asked about */
};

/* Is there a --plan before the first word that is no option? */
bool plan_ask_given(char **argv);
/* Reads the command line, but for machine and plan. Where something is wrong
   the process ends with one line. */
void plan_ask_read(struct plan_ask *a, char **argv);
/* The following when both are known. */
struct forecast_case plan_ask_full(const struct plan_ask *a);
/* Bytes for contexts of a process that has so much memory, 0 if that is too
   little: a forecast_room of a struct plan_ask. */
double plan_ask_room(void *data, int ranks, uint64_t memory);
/* The same beside the report that dry runs write. */
double plan_ask_room_dry(void *data, int ranks, uint64_t memory);

#endif
