/* What a context will touch when it goes on from one place of its program: what
   it touched from there before. */
#ifndef PEMS_CONTEXT_RESIDENCY_PREDICTION_H
#define PEMS_CONTEXT_RESIDENCY_PREDICTION_H

#include "context/context.h"

#include <stdbool.h>
#include <stdint.h>

/* What is predicted is rounded to this. */
enum { PREDICTION_UNIT = 64 << 10 };

/* That of `site`, now in use: a new one takes the place of the one that has not
   been used for longest. Valid until the next call. */
struct context_prediction *prediction_at(struct context_predictions *p,
                                         uintptr_t site);
/* May the same be expected again? False: that was wrong lately, or single pages
   were touched here and there. */
bool prediction_possible(const struct context_prediction *p);
/* Nothing was looked at this time. */
void prediction_unused(struct context_prediction *p);
/* Nothing was predicted; `found`, units that have `bytes` in pages that were
   touched, is kept if it says enough. What it holds afterwards is of no use. */
void prediction_measured(struct context_prediction *p, struct ranges *found,
                         uint64_t bytes);
/* It was read in advance; `found`, `bytes` of pages, was touched beside. */
void prediction_used(struct context_prediction *p, const struct ranges *found,
                     uint64_t bytes);
void predictions_free(struct context_predictions *p);

#endif
