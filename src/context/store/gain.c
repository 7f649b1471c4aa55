#include "context/store/gain.h"

#include "context/internal.h"
#include "os/lock.h"

#include <string.h>

enum {
  SITES = 64,
  /* Moves out and in that must be known of a way before it is compared. */
  ENOUGH = 3,
  /* Less says more about requests than about bytes. */
  LEAST = 64 << 10,
  /* Contexts that leave until the other way is measured again. */
  FIRST_REST = 8,
  MOST_REST = 256,
};

/* One direction of one way. */
struct rate {
  double ns; /* for a byte; newer ones count more */
  unsigned n;
};

struct site {
  uintptr_t key;
  struct rate out[2], in[2]; /* [1]: compressed */
  bool pays;
  unsigned rest, last_rest;
};

static struct {
  struct lock lock;
  bool measures;
  struct site site[SITES];
} gain = {.lock = LOCK_INITIALIZER(LOCK_GAIN)};

void gain_start(bool measures) {
  gain.measures = measures;
  memset(gain.site, 0, sizeof(gain.site));
}

/* Another site in the same place is forgotten. */
static struct site *site_at_locked(uintptr_t key) {
  struct site *s = &gain.site[(key * 0x9e3779b97f4a7c15u >> 32) % SITES];
  if (s->key != key) {
    *s = (struct site){.key = key};
  }
  return s;
}

static bool is_known(const struct site *s, bool way) {
  return s->out[way].n >= ENOUGH && s->in[way].n >= ENOUGH;
}

static double takes(const struct site *s, bool way) {
  return s->out[way].ns + s->in[way].ns;
}

/* A change must be worth a twentieth: moves vary. */
static void compare(struct site *s) {
  const bool other = !s->pays;
  if (takes(s, other) < 0.95 * takes(s, s->pays)) {
    s->pays = other;
    s->last_rest = 0;
  }
}

/* By turns until both are known. */
static bool next_way(struct site *s) {
  if (!is_known(s, false) || !is_known(s, true)) {
    return !is_known(s, true) && (is_known(s, false) || s->rest++ % 2);
  }
  compare(s);
  if (s->rest) {
    s->rest--;
    return s->pays;
  }
  s->last_rest = back_off(s->last_rest, FIRST_REST, MOST_REST);
  s->rest = s->last_rest;
  return !s->pays;
}

bool gain_compress(uintptr_t site) {
  if (!gain.measures) {
    return true;
  }
  lock_take(&gain.lock);
  const bool way = next_way(site_at_locked(site));
  lock_give(&gain.lock);
  return way;
}

static void add(struct rate *r, double ns) {
  r->n++;
  r->ns += (ns - r->ns) / (r->n < 4 ? r->n : 4);
}

void gain_moved(uintptr_t site, bool compressed, bool in, uint64_t ns,
                uint64_t bytes) {
  if (!gain.measures || bytes < LEAST) {
    return;
  }
  lock_take(&gain.lock);
  struct site *const s = site_at_locked(site);
  add(in ? &s->in[compressed] : &s->out[compressed],
      (double)ns / (double)bytes);
  lock_give(&gain.lock);
}
