#include "context/store/gain.h"

#include "context/internal.h"
#include "os/lock.h"

#include <string.h>

enum {
  SITES = 64,
  /* Moves out and in without compressing before it is tried. */
  ENOUGH = 3,
  /* Less says more about requests than about bytes. */
  LEAST = 64 << 10,
  /* Newer moves count more: about the last so many, of a site and of all. */
  LATELY = 4,
  LATELY_OF_ALL = 16,
  /* As long as little is known of a site, what others take counts as so many
     moves. */
  OTHERS = 2,
  /* Contexts that leave until the other way is measured again. */
  FIRST_REST = 8,
  MOST_REST = 256,
  /* What trials take longer may be one part in so many of all. */
  LITTLE = 32,
};

/* A change must be worth a twentieth: moves vary. */
static const double better = 0.95;

/* One direction of one way. */
struct rate {
  double ns; /* for a byte; newer ones count more */
  unsigned n;
};

struct way {
  struct rate out, in;
};

struct site {
  uintptr_t key;
  struct way way[2]; /* [1]: compressed */
  bool pays;
  unsigned rest, last_rest;
};

static struct {
  struct lock lock;
  bool measures;
  struct site site[SITES];
  struct way all[2];
  double spent, lost; /* ns: of all, and what trials took longer */
} gain = {.lock = LOCK_INITIALIZER(LOCK_GAIN)};

void gain_start(bool measures) {
  gain.measures = measures;
  gain.spent = gain.lost = 0;
  memset(gain.site, 0, sizeof(gain.site));
  memset(gain.all, 0, sizeof(gain.all));
}

/* Another site in the same place is forgotten. It begins as others are. */
static struct site *site_at_locked(uintptr_t key) {
  struct site *s = &gain.site[site_slot(key, SITES)];
  if (s->key != key) {
    *s = (struct site){.key = key};
  }
  return s;
}

static unsigned times(const struct way *w) {
  return w->out.n < w->in.n ? w->out.n : w->in.n;
}

static double takes(const struct way *w) {
  return w->out.ns + w->in.ns;
}

/* What a byte takes there and back on average, if `way` is known of any. */
static double usual_locked(const struct site *s, bool way) {
  const struct way *const other = &s->way[!way];
  const double all = takes(&gain.all[way]);
  return times(other) && times(&gain.all[!way])
             ? takes(other) * all / takes(&gain.all[!way])
             : all;
}

/* What it will take at a site: what it has taken there, and, as long as that is
   known of few moves, what others take. */
static double expected_locked(const struct site *s, bool way) {
  const struct way *const w = &s->way[way];
  const double n = times(w);
  return (n * takes(w) + OTHERS * usual_locked(s, way)) / (n + OTHERS);
}

static bool are_both_known_locked(void) {
  return times(&gain.all[false]) >= ENOUGH && times(&gain.all[true]);
}

static void compare_locked(struct site *s) {
  if (are_both_known_locked() &&
      expected_locked(s, !s->pays) < better * expected_locked(s, s->pays)) {
    s->pays = !s->pays;
    s->rest = s->last_rest = FIRST_REST;
  }
}

/* Is the way that takes longer, as far as is known, to be measured now? */
static bool is_tried_locked(struct site *s) {
  if (times(&gain.all[false]) < ENOUGH || gain.lost * LITTLE > gain.spent) {
    return false;
  }
  if (times(&s->way[!s->pays]) < ENOUGH) {
    return true;
  }
  if (s->rest) {
    s->rest--;
    return false;
  }
  s->last_rest = back_off(s->last_rest, FIRST_REST, MOST_REST);
  s->rest = s->last_rest;
  return true;
}

bool gain_compress(uintptr_t site) {
  if (!gain.measures) {
    return true;
  }
  lock_take(&gain.lock);
  struct site *const s = site_at_locked(site);
  compare_locked(s);
  const bool way = is_tried_locked(s) ? !s->pays : s->pays;
  lock_give(&gain.lock);
  return way;
}

static void add(struct rate *r, double ns, unsigned lately) {
  r->n++;
  r->ns += (ns - r->ns) / (r->n < lately ? r->n : lately);
}

static struct rate *direction(struct way *w, bool in) {
  return in ? &w->in : &w->out;
}

/* What a move took beside what it would have taken the other way. */
static void account_locked(struct site *s, bool compressed, bool in, double ns,
                           double bytes) {
  const struct rate *const best = direction(&s->way[s->pays], in);
  const struct rate *const usual = direction(&gain.all[s->pays], in);
  const double expected = (best->n ? best->ns : usual->ns) * bytes;
  gain.spent += ns;
  if (compressed != s->pays && ns > expected) {
    gain.lost += ns - expected;
  }
}

void gain_moved(uintptr_t site, bool compressed, bool in, uint64_t ns,
                uint64_t bytes) {
  if (!gain.measures || bytes < LEAST) {
    return;
  }
  const double each = (double)ns / (double)bytes;
  lock_take(&gain.lock);
  struct site *const s = site_at_locked(site);
  account_locked(s, compressed, in, (double)ns, (double)bytes);
  add(direction(&s->way[compressed], in), each, LATELY);
  add(direction(&gain.all[compressed], in), each, LATELY_OF_ALL);
  lock_give(&gain.lock);
}
