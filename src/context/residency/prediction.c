#include "context/residency/prediction.h"

#include "base/need.h"
#include "context/internal.h"
#include "os/bits.h"
#include "os/native.h"

#include <stddef.h>

enum {
  UNIT = PREDICTION_UNIT,
  /* Residences until a prediction is measured anew: more and more, while it
     stays about as it was. */
  FIRST_AGE = 16,
  MOST_AGE = 256,
  /* A few pages are predicted wherever they are: so much is soon read. */
  FEW = 4 << 20,
  /* Residences without one after pages were scattered. */
  FIRST_REST = 8,
  MOST_REST = 256,
  /* Written pages in shorter runs are few among others. */
  LONG_RUN = UNIT / 2,
  /* Residences that go by what is known of a place, until what is waited for
     there is looked at apart; and which share more says that it differs. */
  BORROWED = 4,
  DIFFERS = 4,
  /* The same for what others have found at the same site. */
  MOST_TOLD = 4,
  /* Who touches much more so often, of the last eight times, is expected to. */
  OFTEN = 4,
  /* Whole residences at a place before what is written there is looked at: it
     may be the last one. */
  FIRST_WHOLES = 2,
  /* At least one part in so many must stay unwritten. */
  WORTH_WATCHING = 4,
};

/* --- what is found --- */

static void add(struct ranges *r, uintptr_t start, uintptr_t end) {
  /* Short of memory: less is known, nothing is lost. */
  (void)ranges_add(r, start, end);
}

static void add_all(struct ranges *to, const struct ranges *from) {
  (void)ranges_add_all(to, from);
}

void prediction_find(struct context_found *f, uintptr_t start, uintptr_t end,
                     bool written) {
  const uintptr_t from = bits_align_down(start, UNIT);
  const uintptr_t to = bits_align_up(end, UNIT);
  f->bytes += end - start;
  add(&f->touched, from, to);
  if (written && end - start >= LONG_RUN) {
    add(&f->written, from, to);
  }
}

bool prediction_scattered(const struct context_found *f) {
  const uint64_t touched = ranges_total(&f->touched);
  return touched > FEW && touched > 4 * f->bytes;
}

void prediction_forget(struct context_found *f) {
  ranges_clear(&f->touched);
  ranges_clear(&f->written);
  f->bytes = 0;
}

void prediction_found_free(struct context_found *f) {
  ranges_free(&f->touched);
  ranges_free(&f->written);
}

/* --- what is predicted --- */

static void forget(struct context_prediction *p) {
  ranges_free(&p->touched);
  ranges_free(&p->written);
  ranges_free(&p->dirty);
}

struct context_prediction *prediction_at(struct context_predictions *p,
                                         uintptr_t site) {
  if (!p->item) {
    p->item = need_zalloc(CONTEXT_PREDICTIONS, sizeof(*p->item), "predicting");
  }
  struct context_prediction *oldest = &p->item[0], *at = NULL;
  for (int i = 0; i < CONTEXT_PREDICTIONS && !at; i++) {
    struct context_prediction *const q = &p->item[i];
    at = q->last_used && q->site == site ? q : NULL;
    oldest = q->last_used < oldest->last_used ? q : oldest;
  }
  if (!at) {
    at = oldest;
    forget(at);
    *at = (struct context_prediction){.site = site};
  }
  at->last_used = ++p->uses;
  return at;
}

bool prediction_possible(const struct context_prediction *p) {
  return p->rest == 0;
}

void prediction_unused(struct context_prediction *p) {
  p->rest -= p->rest > 0;
}

static void swap_sets(struct ranges *a, struct ranges *b) {
  const struct ranges c = *a;
  *a = *b;
  *b = c;
}

static bool much_more(uint64_t bytes, const struct context_prediction *p) {
  return bytes > p->bytes + p->bytes / 2;
}

static void note(struct context_prediction *p, bool more) {
  p->history = (uint8_t)(p->history << 1 | more);
}

static bool is_often(const struct context_prediction *p) {
  return __builtin_popcount(p->history) >= OFTEN;
}

static void adopt(struct context_prediction *p, struct context_found *f) {
  swap_sets(&p->touched, &f->touched);
  swap_sets(&p->written, &f->written);
  p->bytes = f->bytes;
  p->history = 0;
}

void prediction_measured(struct context_prediction *p,
                         struct context_found *f) {
  const bool possible = prediction_possible(p);
  const bool before = p->bytes, more = before && much_more(f->bytes, p);
  const bool less = before && f->bytes < p->bytes / 2;
  prediction_unused(p);
  p->known = false;
  if (possible && less && !p->doubted) {
    p->doubted = true;
    return;
  }
  p->doubted = false;
  p->apart |= p->told && (more || less);
  p->told = 0;
  if (possible && !prediction_scattered(f)) {
    p->known = true;
    p->last_age = before && !more && !less
                      ? back_off(p->last_age, FIRST_AGE, MOST_AGE)
                      : FIRST_AGE;
    p->age = p->last_age;
    note(p, more);
    if (!more || is_often(p)) {
      adopt(p, f);
    }
  } else if (possible) {
    p->last_rest = back_off(p->last_rest, FIRST_REST, MOST_REST);
    p->rest = p->last_rest;
  }
}

void prediction_measured_too(struct context_prediction *p,
                             const struct context_found *f) {
  struct context_found copy = {.bytes = f->bytes};
  add_all(&copy.touched, &f->touched);
  add_all(&copy.written, &f->written);
  prediction_measured(p, &copy);
  prediction_found_free(&copy);
}

struct context_prediction *prediction_choose(struct context_prediction *p,
                                             struct context_prediction *place) {
  const bool unknown = !p->known && !p->bytes && prediction_possible(p);
  return unknown && place && place->known && p->borrowed < BORROWED ? place : p;
}

void prediction_lent(struct context_prediction *p,
                     const struct context_prediction *place,
                     const struct context_found *f) {
  p->borrowed = f->bytes > place->bytes / DIFFERS ? BORROWED : p->borrowed + 1;
}

bool prediction_may_be_told(const struct context_prediction *p) {
  return prediction_possible(p) && !p->doubted && !p->apart &&
         p->told < MOST_TOLD;
}

void prediction_told(struct context_prediction *p, struct context_found *what) {
  adopt(p, what);
  p->known = p->untried = true;
  p->told++;
  p->last_age = back_off(p->last_age, FIRST_AGE, MOST_AGE);
  p->age = p->last_age;
}

/* What was told proved wrong at once: p is measured next. */
static bool disproved(struct context_prediction *p,
                      const struct context_found *f) {
  const bool wrong = p->untried && f->bytes > p->bytes / DIFFERS;
  p->untried = false;
  if (wrong) {
    p->known = false;
    p->told = MOST_TOLD;
  }
  return wrong;
}

void prediction_used(struct context_prediction *p,
                     const struct context_found *f) {
  const bool more = f->bytes > p->bytes / 2;
  if (disproved(p, f)) {
    return;
  }
  note(p, more);
  if (!more || is_often(p)) {
    add_all(&p->touched, &f->touched);
    add_all(&p->written, &f->written);
    p->bytes += f->bytes;
    p->history = more ? 0 : p->history;
  }
  p->known = --p->age > 0; /* old: measure it anew */
}

/* --- what will be written of all that is read --- */

bool prediction_watches(struct context_prediction *p,
                        const struct ranges **expected) {
  static const struct ranges nothing;
  if (p->wholes < FIRST_WHOLES) {
    p->wholes++;
    return false;
  }
  if (p->dirty_age == 0) {
    p->last_dirty_age = back_off(p->last_dirty_age, FIRST_AGE, MOST_AGE);
    p->dirty_age = p->last_dirty_age;
    p->dirty_known = false;
    *expected = &nothing;
    return true;
  }
  p->dirty_age--;
  *expected = &p->dirty;
  return p->dirty_known;
}

void prediction_wrote(struct context_prediction *p, struct context_found *f,
                      uint64_t all) {
  swap_sets(&p->dirty, &f->written);
  p->dirty_known = ranges_total(&p->dirty) < all - all / WORTH_WATCHING;
}

void predictions_free(struct context_predictions *p) {
  for (int i = 0; p->item && i < CONTEXT_PREDICTIONS; i++) {
    forget(&p->item[i]);
  }
  native_free(p->item);
  p->item = NULL;
}
