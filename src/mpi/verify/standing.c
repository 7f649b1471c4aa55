#include "mpi/verify/standing.h"

#include "context/residency/residency.h"
#include "mpi/object/naming.h"
#include "mpi/object/rank.h"
#include "os/clock.h"
#include "vp/vp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- of this process --- */

/* Between two looks a rank does something else for a moment. */
static bool polls(const struct vp *vp) {
  enum { MOMENT = 100 * 1000 * 1000 }; /* ns */
  const struct rank_looks *const l = &vp->mpi->looks;
  return l->on || (vp->state == VP_RUNNING && l->over_at && !vp->mpi->found &&
                   clock_ns() - l->over_at < MOMENT);
}

static enum standing_is state_of(const struct vp *vp) {
  switch (vp->state) {
  case VP_RUNNING:
    return vp->awake   ? STANDING_WAITS
           : polls(vp) ? STANDING_POLLS
                       : STANDING_COMPUTES;
  case VP_READY:
    return polls(vp)                                       ? STANDING_POLLS
           : !vp->context || context_resident(vp->context) ? STANDING_SLOT
                                                           : STANDING_CONTEXT;
  case VP_BLOCKED:
    return polls(vp) ? STANDING_POLLS : STANDING_WAITS;
  default:
    return STANDING_ENDED;
  }
}

static void describe(struct standing *s, const struct vp *vp) {
  const struct rank_looks *const l = &vp->mpi->looks;
  *s = (struct standing){.rank = vp->rank, .is = state_of(vp)};
  const bool vain = s->is == STANDING_POLLS;
  const char *const call = vain ? l->in : vp->waits_in;
  const void *const site = vain ? l->site : vp->site;
  if (s->is != STANDING_COMPUTES && s->is != STANDING_ENDED && call) {
    snprintf(s->call, sizeof(s->call), "%s", call);
    s->site = site ? name_site_of_all(vp, site) : 0;
  }
}

size_t standing_own_locked(struct standing *s) {
  size_t n = 0;
  for (int i = 0; i < vps.n; i++) {
    if (!vps.item[i].dormant) {
      describe(&s[n++], &vps.item[i]);
    }
  }
  return n;
}

/* --- telling --- */

/* With ranks that do the same, in ascending order. */
static int by_rank(const void *a, const void *b) {
  return ((const struct standing *)a)->rank -
         ((const struct standing *)b)->rank;
}

static bool same(const struct standing *a, const struct standing *b) {
  return a->is == b->is && a->site == b->site && strcmp(a->call, b->call) == 0;
}

static bool is_first(const struct standing *s, size_t i) {
  size_t j = 0;
  while (j < i && !same(&s[j], &s[i])) {
    j++;
  }
  return j == i;
}

static void tell_what(struct text *t, const struct standing *s, bool many) {
  static const char *const what[][2] = {
      [STANDING_COMPUTES] = {"computes", "compute"},
      [STANDING_POLLS] = {"polls in ", "poll in "},
      [STANDING_WAITS] = {"waits in ", "wait in "},
      [STANDING_SLOT] = {"waits for a slot", "wait for slots"},
      [STANDING_CONTEXT] = {"waits for its context", "wait for their contexts"},
      [STANDING_ENDED] = {"has ended", "have ended"},
  };
  const bool ready = s->is == STANDING_SLOT || s->is == STANDING_CONTEXT;
  text_add(t, " %s", what[s->is][many]);
  if (ready && *s->call) {
    text_add(t, " after ");
  }
  text_add(t, "%s", s->call);
  name_site_everywhere(t, s->site);
}

/* Runs of ranks need no memory, which may be short. */
static size_t tell_ranks(struct text *t, const struct standing *s, size_t n,
                         size_t first) {
  size_t many = 0;
  for (size_t i = first; i < n; i++) {
    many += same(&s[i], &s[first]);
  }
  text_add(t, many > 1 ? "ranks" : "rank");
  const char *before = " ";
  for (size_t i = first; i < n; i++) {
    size_t end = i;
    while (same(&s[i], &s[first]) && end + 1 < n &&
           same(&s[end + 1], &s[first]) && s[end + 1].rank == s[end].rank + 1) {
      end++;
    }
    if (same(&s[i], &s[first])) {
      text_add(t, end > i ? "%s%d-%d" : "%s%d", before, s[i].rank, s[end].rank);
      before = ", ";
    }
    i = end;
  }
  return many;
}

void standing_tell(struct text *t, struct standing *s, size_t n) {
  enum { LINES = 24 };
  int lines = 0;
  qsort(s, n, sizeof(*s), by_rank);
  for (size_t i = 0; i < n; i++) {
    if (is_first(s, i) && lines++ < LINES) {
      text_add(t, "\n  ");
      tell_what(t, &s[i], tell_ranks(t, s, n, i) > 1);
    }
  }
  if (lines > LINES) {
    text_add(t, "\n  and %d more groups of ranks", lines - LINES);
  }
}
