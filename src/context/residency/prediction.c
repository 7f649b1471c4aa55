#include "context/residency/prediction.h"

#include "context/internal.h"

#include <stddef.h>

enum {
  /* Residences until a prediction is measured anew: more and more, while it
     stays about as it was. */
  FIRST_AGE = 16,
  MOST_AGE = 256,
  /* Residences without one after it was wrong. */
  FIRST_REST = 8,
  MOST_REST = 256,
};

struct context_prediction *prediction_at(struct context_predictions *p,
                                         uintptr_t site) {
  struct context_prediction *oldest = &p->item[0], *at = NULL;
  for (int i = 0; i < CONTEXT_PREDICTIONS && !at; i++) {
    struct context_prediction *const q = &p->item[i];
    at = q->last_used && q->site == site ? q : NULL;
    oldest = q->last_used < oldest->last_used ? q : oldest;
  }
  if (!at) {
    at = oldest;
    ranges_free(&at->touched);
    *at = (struct context_prediction){.site = site};
  }
  at->last_used = ++p->uses;
  return at;
}

bool prediction_possible(const struct context_prediction *p) {
  return p->rest == 0;
}

static void swap_sets(struct ranges *a, struct ranges *b) {
  const struct ranges c = *a;
  *a = *b;
  *b = c;
}

/* Scattered pages are not predicted: rounded to units they would be too much.
 */
static bool is_dense(const struct ranges *found, uint64_t bytes) {
  return ranges_total(found) <= 2 * bytes;
}

void prediction_unused(struct context_prediction *p) {
  p->rest -= p->rest > 0;
}

static void was_wrong(struct context_prediction *p) {
  p->last_rest = back_off(p->last_rest, FIRST_REST, MOST_REST);
  p->rest = p->last_rest;
  p->known = false;
}

void prediction_measured(struct context_prediction *p, struct ranges *found,
                         uint64_t bytes) {
  const bool alike = p->bytes && bytes > p->bytes - p->bytes / 4 &&
                     bytes < p->bytes + p->bytes / 4;
  p->last_age = alike ? back_off(p->last_age, FIRST_AGE, MOST_AGE) : FIRST_AGE;
  p->age = p->last_age;
  p->bytes = bytes;
  p->known = prediction_possible(p);
  prediction_unused(p);
  if (p->known && !is_dense(found, bytes)) {
    was_wrong(p);
  }
  swap_sets(&p->touched, found);
}

void prediction_used(struct context_prediction *p, const struct ranges *found,
                     uint64_t bytes) {
  if (bytes > p->bytes / 2) {
    was_wrong(p);
  } else if (--p->age == 0) {
    p->known = false; /* old: measure it anew */
  } else {
    p->last_rest = 0;
    for (size_t i = 0; i < found->n; i++) {
      /* Short of memory: less is known, nothing is lost. */
      (void)ranges_add(&p->touched, found->item[i].start, found->item[i].end);
    }
  }
}

void predictions_free(struct context_predictions *p) {
  for (int i = 0; i < CONTEXT_PREDICTIONS; i++) {
    ranges_free(&p->item[i].touched);
  }
}
