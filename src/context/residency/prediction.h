/* What a context will touch when it goes on from one place of its program: what
   it touched from there before. Some go on for a short while one time, since
   they have to wait again, and for long another time: then it is the little
   that they always touch, and the rest is read when it is touched. */
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
/* May what was touched be expected again? False: it was single pages here and
   there the last time. */
bool prediction_possible(const struct context_prediction *p);
/* Nothing was looked at this time. */
void prediction_unused(struct context_prediction *p);

/* Pages [start, end) were touched. */
void prediction_find(struct context_found *f, uintptr_t start, uintptr_t end,
                     bool written);
/* Rounded to units they would be many times as much. */
bool prediction_scattered(const struct context_found *f);
void prediction_forget(struct context_found *f);
void prediction_found_free(struct context_found *f);

/* Nothing was predicted, and *f was touched: kept if it says enough. What *f
   holds afterwards is of no use. */
void prediction_measured(struct context_prediction *p, struct context_found *f);
/* The same, and *f is as before. */
void prediction_measured_too(struct context_prediction *p,
                             const struct context_found *f);
/* It was read in advance, and *f touched beside. */
void prediction_used(struct context_prediction *p,
                     const struct context_found *f);

/* Where p is not known, what the same place of the program touches whatever it
   waits for tells more than nothing: which of the two to go by. A few times
   only, then p is measured; `place` may be NULL. */
struct context_prediction *prediction_choose(struct context_prediction *p,
                                             struct context_prediction *place);
/* p went by `place`, and *f was touched beside. */
void prediction_lent(struct context_prediction *p,
                     const struct context_prediction *place,
                     const struct context_found *f);

/* p is not known: may it go by what another context has found at its site? A
   few times in turn, then p is measured itself. */
bool prediction_may_be_told(const struct context_prediction *p);
/* That is *what, which it takes: p is known. */
void prediction_told(struct context_prediction *p, struct context_found *what);

/* Of a context that is read as a whole: is what is not expected to be written
   to be watched this time? Then *expected is what is: nothing, to find out. */
bool prediction_watches(struct context_prediction *p,
                        const struct ranges **expected);
/* It was watched, and f->written was written; of `all` bytes. */
void prediction_wrote(struct context_prediction *p, struct context_found *f,
                      uint64_t all);
void predictions_free(struct context_predictions *p);

#endif
