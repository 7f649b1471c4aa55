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
  /* Newer residences count more: about the last so many. */
  LATELY = 8,
  /* A residence that takes so many times what others take had bad luck. */
  OUTLIER = 4,
  /* Residences at a site until its other way is measured again, and until
     another context finds out what it touches for that. */
  FIRST_REST = 8,
  MOST_REST = 256,
  /* One residence in so many may go the worse way, and so many at first; and
     what that takes longer may be one part in so many of all. */
  RARELY = 24,
  FREE = 8,
  LITTLE = 32,
};

/* A change must be worth a twentieth: moves vary. */
static const double better = 0.95;

/* LEARNING: mapped, without knowing what will be touched. */
enum way { WHOLE, MAPPED, LEARNING, WAYS };

struct rest {
  unsigned left, last;
};

/* ns for a byte or a fault. */
struct rate {
  double ns, n;
};

struct site {
  uintptr_t key;
  struct cost {
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
  double gain; /* of mapping, where both are known: a share of what the worse
                  way takes, negative where it is mapping */
  unsigned pairs;
  uint64_t chosen, tried; /* residences, and those of the worse way */
  double spent, lost;     /* ns: of all, and what those took longer */
  double bytes;           /* of all */
  struct rate move[2];    /* bytes: of contexts as a whole, and mapped */
  struct rate fault;      /* without waiting for the disk */
  struct rate read;       /* bytes, one fault after another */
} ways = {.lock = LOCK_INITIALIZER(LOCK_WAY)};

void way_start(void) {
  memset(ways.site, 0, sizeof(ways.site));
  ways.gain = 0;
  ways.pairs = 0;
  ways.chosen = ways.tried = 0;
  ways.spent = ways.lost = ways.bytes = 0;
  memset(ways.move, 0, sizeof(ways.move));
  ways.fault = ways.read = (struct rate){0};
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
  return ways.tried < FREE || (ways.tried < ways.chosen / RARELY + FREE &&
                               ways.lost < ways.spent / LITTLE);
}

/* What mapping takes: no more than where it is not known what is touched. */
static const struct cost *mapped_cost(const struct site *s) {
  return s->way[MAPPED].n ? &s->way[MAPPED] : &s->way[LEARNING];
}

static const struct cost *cost_of(const struct site *s, enum way way) {
  return way == WHOLE ? &s->way[WHOLE] : mapped_cost(s);
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
  return ways.pairs >= ENOUGH_PAIRS && ways.gain > 1 - better ? MAPPED : WHOLE;
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
  bool mapped = best_locked(s) == MAPPED;
  ways.chosen++;
  if (is_tried_locked(s, mapped ? WHOLE : MAPPED, ready)) {
    ways.tried++;
    mapped = !mapped;
  }
  lock_give(&ways.lock);
  return mapped;
}

static void compare(struct site *s) {
  const enum way before = s->decided ? s->best : WHOLE;
  const enum way other = before == WHOLE ? MAPPED : WHOLE;
  if (s->way[WHOLE].n < ENOUGH || mapped_cost(s)->n < ENOUGH) {
    return;
  }
  const bool changes = cost_of(s, other)->ns < better * cost_of(s, before)->ns;
  if (changes || !s->decided) {
    s->other = (struct rest){FIRST_REST, FIRST_REST};
  }
  s->best = changes ? other : before;
  s->decided = true;
}

/* A site where both ways are known tells about others. */
static void tell_others_locked(const struct site *s) {
  enum { MOST = 32 };
  const double whole = s->way[WHOLE].ns, mapped = mapped_cost(s)->ns;
  if (whole > 0 && mapped > 0) {
    const double gain = (whole - mapped) / (whole > mapped ? whole : mapped);
    ways.pairs += ways.pairs < MOST;
    ways.gain += (gain - ways.gain) / ways.pairs;
  }
}

static void add(struct cost *c, double ns) {
  c->n++;
  if (c->n > ENOUGH && ns > OUTLIER * c->ns) {
    ns = OUTLIER * c->ns;
  }
  c->ns += (ns - c->ns) / (c->n < LATELY ? c->n : LATELY);
}

/* What a residence took, beside what the best way would have taken, or, where
   that is not known, others did. */
static void account_locked(const struct site *s, enum way way, double ns,
                           double bytes) {
  const enum way best = best_locked(s);
  const struct cost *const known = cost_of(s, best);
  const bool tried = (way == WHOLE) != (best == WHOLE);
  const double mean = ways.bytes > 0 ? ways.spent / ways.bytes : 0;
  const double least = (known->n ? known->ns : mean) * bytes;
  ways.spent += ns;
  ways.bytes += bytes;
  if (tried && ns > least) {
    ways.lost += ns - least;
  }
}

/* Newer ones count more: about the last `most`. */
static void learn_rate(struct rate *r, uint64_t ns, uint64_t n, double most) {
  r->ns += (double)ns;
  r->n += (double)n;
  if (r->n > 2 * most) {
    r->ns /= 2;
    r->n /= 2;
  }
}

static double at_rate(const struct rate *r, uint64_t n) {
  return r->n > 0 ? r->ns / r->n * (double)n : 0;
}

/* What it takes by the rates of all. */
static double usual_ns_locked(const struct context_took *s) {
  static const double bytes = 1 << 30, count = 1 << 18;
  learn_rate(&ways.move[s->mapped], s->moved_ns, s->moved, bytes);
  learn_rate(&ways.fault, s->fault_ns, s->faults, count);
  learn_rate(&ways.read, s->waited_ns, s->read, bytes);
  return at_rate(&ways.move[s->mapped], s->moved) +
         at_rate(&ways.fault, s->faults) + at_rate(&ways.read, s->read);
}

void way_took(uintptr_t key, const struct context_took *stay) {
  const enum way way = !stay->mapped ? WHOLE : stay->ready ? MAPPED : LEARNING;
  const double bytes = (double)stay->bytes;
  lock_take(&ways.lock);
  struct site *const s = site_at_locked(key);
  const double ns = usual_ns_locked(stay);
  account_locked(s, way, ns, bytes);
  add(&s->way[way], ns / bytes);
  tell_others_locked(s);
  compare(s);
  lock_give(&ways.lock);
}
