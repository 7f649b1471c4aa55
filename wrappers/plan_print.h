/* What pemsinfo --plan prints of a forecast: on stdout. */
#ifndef PEMS_WRAPPERS_PLAN_PRINT_H
#define PEMS_WRAPPERS_PLAN_PRINT_H

#include <stdbool.h>

#include "wrappers/plan/forecast.h"
#include "wrappers/plan_ask.h"

/* What is expected of the run asked about; `rate`, of all disks in bytes a
   second, is as given or was measured. */
void plan_print_forecast(const struct plan_ask *a, const struct forecast *f,
                         double rate, bool measured);
/* Which number of ranks and which memory to choose. */
void plan_print_advice(struct plan_ask *a, const struct forecast *f,
                       const struct forecast_shape *shape);
/* What all that rests on. */
void plan_print_assumptions(const struct plan_ask *a, const struct forecast *f,
                            const struct forecast_shape *shape, double rate,
                            bool measured);

#endif
