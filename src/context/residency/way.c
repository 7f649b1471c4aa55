#include "context/residency/way.h"

#include "context/internal.h"
#include "os/lock.h"

#include <string.h>

enum {
  SITES = 1024,
  /* Residences of a way at a site before it is compared. */
  ENOUGH = 2,
  /* Comparisons before one site tells about another. */
  ENOUGH_PAIRS = 4,
  /* Newer residences count more: the last so many. */
  LATELY = 4,
  /* Residences at a site until its other way is measured again, and until
     another context finds out what it touches for that. */
  FIRST_REST = 8,
  MOST_REST = 256,
  /* One residence in so many may go the worse way, and so many at first. */
  RARELY = 24,
  FREE = 8,
};

/* A change must be worth a twentieth: moves vary. */
static const double better = 0.95;

enum way { WHOLE, MAPPED, WAYS };

struct rest {
  unsigned left, last;
};

struct site {
  uintptr_t key;
  struct {
    double ns; /* for a byte on disk */
    unsigned n;
  } way[WAYS];
  bool decided; /* by its own residences */
  enum way best;
  struct rest other; /* until the other way is measured again */
  struct rest learn; /* until a context may learn what it touches */
};

static struct {
  struct lock lock;
  struct site site[SITES];
  double pair[WAYS]; /* ns of the same bytes, where both are known */
  unsigned pairs;
  uint64_t chosen, tried; /* residences, and those of the worse way */
} ways = {.lock = LOCK_INITIALIZER(LOCK_WAY)};

void way_start(void) {
  memset(ways.site, 0, sizeof(ways.site));
  ways.pair[WHOLE] = ways.pair[MAPPED] = 0;
  ways.pairs = 0;
  ways.chosen = ways.tried = 0;
}

/* Another site in the same place is forgotten. */
static struct site *site_at_locked(uintptr_t key) {
  struct site *s = &ways.site[(key * 0x9e3779b97f4a7c15u >> 32) % SITES];
  if (s->key != key) {
    *s = (struct site){.key = key};
  }
  return s;
}

static bool may_try_locked(void) {
  return ways.tried < ways.chosen / RARELY + FREE;
}

/* Has it rested? Then it does again, for longer. */
static bool is_rested(struct rest *r) {
  if (r->left) {
    r->left--;
    return false;
  }
  r->last = back_off(r->last, FIRST_REST, MOST_REST);
  r->left = r->last;
  return true;
}

/* The better way as far as is known. */
static enum way best_locked(const struct site *s) {
  if (s->decided) {
    return s->best;
  }
  return ways.pairs >= ENOUGH_PAIRS &&
                 ways.pair[MAPPED] < better * ways.pair[WHOLE]
             ? MAPPED
             : WHOLE;
}

/* Is the other way to be tried by this context? */
static bool is_tried_locked(struct site *s, enum way other, bool ready) {
  if (!may_try_locked()) {
    return false;
  }
  if (other == MAPPED && !ready) {
    return is_rested(&s->learn);
  }
  return s->way[other].n < ENOUGH || is_rested(&s->other);
}

bool way_choose(uintptr_t site, bool ready) {
  lock_take(&ways.lock);
  struct site *const s = site_at_locked(site);
  enum way way = best_locked(s);
  ways.chosen++;
  if (is_tried_locked(s, 1 - way, ready)) {
    ways.tried++;
    way = 1 - way;
  }
  lock_give(&ways.lock);
  return way == MAPPED;
}

static void compare(struct site *s) {
  const enum way before = s->decided ? s->best : WHOLE;
  const enum way other = 1 - before;
  if (s->way[WHOLE].n < ENOUGH || s->way[MAPPED].n < ENOUGH) {
    return;
  }
  const bool changes = s->way[other].ns < better * s->way[before].ns;
  if (changes || !s->decided) {
    s->other = (struct rest){FIRST_REST, FIRST_REST};
  }
  s->best = changes ? other : before;
  s->decided = true;
}

/* What a residence took, beside what the other way takes at its site. */
static void pair_locked(const struct site *s, enum way way, double ns,
                        double bytes) {
  enum { MOST = 64 };
  const enum way other = 1 - way;
  if (!s->way[other].n) {
    return;
  }
  if (++ways.pairs >= MOST) {
    ways.pairs /= 2;
    ways.pair[WHOLE] /= 2;
    ways.pair[MAPPED] /= 2;
  }
  ways.pair[way] += ns;
  ways.pair[other] += s->way[other].ns * bytes;
}

void way_took(uintptr_t site, bool mapped, uint64_t ns, uint64_t bytes) {
  const enum way way = mapped ? MAPPED : WHOLE;
  const double each = (double)ns / (double)bytes;
  lock_take(&ways.lock);
  struct site *const s = site_at_locked(site);
  pair_locked(s, way, (double)ns, (double)bytes);
  const unsigned n = ++s->way[way].n;
  s->way[way].ns += (each - s->way[way].ns) / (n < LATELY ? n : LATELY);
  compare(s);
  lock_give(&ways.lock);
}
