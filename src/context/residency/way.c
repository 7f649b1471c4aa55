#include "context/residency/way.h"

#include "context/internal.h"
#include "context/residency/rate.h"
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
  /* One residence in so many may go the worse way, and so many more; and what
     that takes longer may be one part in so many of all, and one of what
     mapping has gained; of those of a site, half as much after each trial in
     turn that was worse, but not less than one in 256. */
  RARELY = 24,
  FREE = 8,
  LITTLE = 64,
  OF_GAIN = 8,
  LITTLE_OF_SITE = 32,
  MOST_FAILED = 3,
  /* What a trial has told is waited for, for so many residences at most. */
  PATIENCE = 16,
};

/* A change must be worth a twentieth: moves vary. */
static const double better = 0.95;

/* The program itself is slower in pages of a file, which are small ones; nobody
   measures that. */
static const double small_pages = 1.05;

/* LEARNING: mapped, without knowing what will be touched. */
enum way { WHOLE, MAPPED, LEARNING, WAYS };

struct rest {
  unsigned left, last;
};

struct cost {
  double ns; /* for 1 ns of moving it as a whole, and a wait; newer residences
                count more */
  unsigned n;
};

/* What the worse way costs, at one site or all. */
struct trials {
  double spent, lost; /* ns: of all residences, and what trials took longer */
};

struct site {
  uintptr_t key;
  struct cost way[WAYS];
  enum way best;     /* as far as is known */
  struct rest other; /* until the other way is measured again */
  struct rest learn; /* until a context may learn what it touches */
  struct trials trials;
  unsigned failed; /* trials in turn that were worse */
};

static struct {
  struct lock lock;
  struct site site[SITES];
  struct cost whole; /* of all sites */
  double gain; /* of mapping, where both are known: a share of what the worse
                  way takes, negative where it is mapping */
  unsigned pairs;
  uint64_t chosen, tried; /* residences, and those of the worse way */
  double gained;          /* ns, by mapping where that is better */
  unsigned patience;      /* residences to come until another may begin */
  struct trials trials;
  struct rate move[2]; /* bytes: of contexts as a whole, and mapped */
  struct rate fault;   /* without waiting for the disk */
  struct rate read;    /* bytes, one fault after another */
} ways = {.lock = LOCK_INITIALIZER(LOCK_WAY)};

void way_start(void) {
  memset(ways.site, 0, sizeof(ways.site));
  ways.whole = (struct cost){0};
  ways.gain = 0;
  ways.pairs = 0;
  ways.chosen = ways.tried = 0;
  ways.patience = 0;
  ways.gained = 0;
  ways.trials = (struct trials){0};
  memset(ways.move, 0, sizeof(ways.move));
  ways.fault = ways.read = (struct rate){0};
}

/* Another site in the same place is forgotten. */
static struct site *site_at_locked(uintptr_t key) {
  struct site *s = &ways.site[site_slot(key, SITES)];
  if (s->key != key) {
    *s = (struct site){.key = key, .other = {FIRST_REST, FIRST_REST}};
  }
  return s;
}

static bool lost_little(const struct trials *t, double part) {
  return t->lost * part <= t->spent;
}

/* Where mapping gains, finding out where else it does is worth more. */
static bool all_lost_little_locked(void) {
  return ways.trials.lost <= ways.trials.spent / LITTLE + ways.gained / OF_GAIN;
}

/* Several at once could all be for nothing. A site where they fail leaves to
   others what may be lost. */
static bool may_try_locked(const struct site *s) {
  const unsigned failed = s->failed < MOST_FAILED ? s->failed : MOST_FAILED;
  return ways.whole.n >= ENOUGH && !ways.patience &&
         ways.tried < ways.chosen / RARELY + FREE && all_lost_little_locked() &&
         lost_little(&s->trials, LITTLE_OF_SITE << failed);
}

/* What mapping takes: no more than where it is not known what is touched. */
static const struct cost *mapped_cost(const struct site *s) {
  return s->way[MAPPED].n ? &s->way[MAPPED] : &s->way[LEARNING];
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

/* What a residence has taken at a site, for its size, and, as long as that is
   known of few residences, what others take. */
static double blend(const struct cost *c, double usual) {
  enum { OTHERS = 4 };
  const double n = c->n < LATELY ? c->n : LATELY;
  return (n * c->ns + OTHERS * usual) / (n + OTHERS);
}

/* The same of one to come. Mapped, others gain so much there,
   as far as they tell. */
static double expected_locked(const struct site *s, enum way way) {
  const double whole = blend(&s->way[WHOLE], ways.whole.ns);
  if (way == WHOLE) {
    return whole;
  }
  const double gain = ways.pairs < ENOUGH_PAIRS ? 0 : ways.gain;
  return blend(mapped_cost(s),
               gain > 0 ? whole * (1 - gain) : whole / (1 + gain));
}

static enum way other_than(enum way way) {
  return way == WHOLE ? MAPPED : WHOLE;
}

/* Changes a site's way if the other one has become better. */
static void compare_locked(struct site *s) {
  const enum way other = other_than(s->best);
  if (ways.whole.n >= ENOUGH &&
      expected_locked(s, other) < better * expected_locked(s, s->best)) {
    s->best = other;
    s->other = (struct rest){FIRST_REST, FIRST_REST};
  }
}

/* Is the other way to be tried by this context? */
static bool is_tried_locked(struct site *s, enum way other, bool ready) {
  if (!may_try_locked(s)) {
    return false;
  }
  if (other == MAPPED && !ready) {
    return is_rested(&s->learn);
  }
  return (other == MAPPED && s->way[MAPPED].n < ENOUGH) || is_rested(&s->other);
}

bool way_choose(uintptr_t site, bool ready) {
  lock_take(&ways.lock);
  struct site *const s = site_at_locked(site);
  compare_locked(s);
  bool mapped = s->best == MAPPED;
  ways.chosen++;
  if (is_tried_locked(s, other_than(s->best), ready)) {
    ways.tried++;
    ways.patience = PATIENCE;
    mapped = !mapped;
  } else if (ways.patience) {
    ways.patience--;
  }
  lock_give(&ways.lock);
  return mapped;
}

/* A site that is mapped tells about others: what a whole context takes for its
   size hardly depends on the site. */
static void tell_others_locked(const struct site *s) {
  enum { MOST = 32 };
  const double whole = s->way[WHOLE].n ? s->way[WHOLE].ns : ways.whole.ns;
  const double mapped = mapped_cost(s)->ns;
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

static void spend(struct trials *t, double ns, double longer) {
  t->spent += ns;
  t->lost += longer > 0 ? longer : 0;
}

/* What a residence took, beside what the best way would have. A trial that was
   better is made again at once. To find out what is touched takes longer and is
   needed once: it does not tell that mapping does. */
static void account_locked(struct site *s, enum way way, double ns,
                           double size) {
  const bool trial = (way == WHOLE) != (s->best == WHOLE);
  const double best = expected_locked(s, s->best) * size;
  const double longer = trial ? ns - best : 0;
  spend(&ways.trials, ns, longer);
  spend(&s->trials, ns, longer);
  if (!trial) {
    const double whole = expected_locked(s, WHOLE) * size;
    ways.gained += way != WHOLE && ns < whole ? whole - ns : 0;
    return;
  }
  ways.patience = 0;
  if (longer > 0) {
    s->failed += way != LEARNING;
  } else if (ns < better * best) {
    s->other = (struct rest){0};
    ways.tried -= ways.tried > 0;
    s->failed = 0;
  }
}

/* What `amount` takes by the rate of all, which learns what it took. */
static double usual_part(struct rate *r, uint64_t amount, uint64_t ns,
                         double most) {
  rate_learn(r, (double)amount, (double)ns, most);
  return rate_at(r, (double)amount);
}

/* What it takes for each wait by the rates of all: who has less memory stays
   for more of them. */
static double usual_ns_locked(const struct context_took *s) {
  static const double bytes = 1 << 30, count = 1 << 18;
  double ns = usual_part(&ways.move[s->mapped], s->moved, s->moved_ns, bytes);
  if (s->faults) {
    ns += usual_part(&ways.fault, s->faults, s->fault_ns, count);
  }
  if (s->read) {
    ns += usual_part(&ways.read, s->read, s->waited_ns, bytes);
  }
  return (s->mapped ? small_pages * ns : ns) / (s->waits > 1 ? s->waits : 1);
}

/* How large a residence is: what moving it as a whole would take, by the rate
   of all. By the byte, contexts would seem slow where they were small when that
   was measured, for each move takes something, however little it moves. */
static double size_locked(const struct context_took *stay) {
  const double bytes = (double)stay->bytes;
  const double ns = rate_at(&ways.move[WHOLE], bytes);
  return ns > 0 ? ns : bytes;
}

void way_took(uintptr_t key, const struct context_took *stay) {
  const enum way way = !stay->mapped ? WHOLE : stay->ready ? MAPPED : LEARNING;
  lock_take(&ways.lock);
  struct site *const s = site_at_locked(key);
  const double ns = usual_ns_locked(stay), size = size_locked(stay);
  account_locked(s, way, ns, size);
  add(&s->way[way], ns / size);
  if (way == WHOLE) {
    add(&ways.whole, ns / size);
  }
  tell_others_locked(s);
  lock_give(&ways.lock);
}
