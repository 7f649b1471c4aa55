#include "net/lane.h"

#include <stdalign.h>

/* A message begins a line of the cache. `lines` is written last, and tells the
   other process that all is there; the next one's is zero by then. */
struct entry {
  _Atomic uint32_t lines; /* of it; 0: it has not been put */
  uint32_t what;          /* kind, then 24 bits of length */
  uint64_t key;
};

enum { KIND_SHIFT = 24, LENGTH = (1 << KIND_SHIFT) - 1 };

/* A length that no message has: the next one is where the room begins. */
#define ELSEWHERE UINT32_MAX

struct lane {
  alignas(LANE_LINE) _Atomic uint64_t taken; /* bytes */
  alignas(LANE_LINE) char at[];
};

static struct entry *entry_at(struct lane *lane, size_t room, uint64_t bytes) {
  return (struct entry *)(lane->at + bytes % room);
}

void lane_make(struct lane *lane) {
  atomic_store(&lane->taken, 0);
  atomic_store(&entry_at(lane, LANE_LINE, 0)->lines, 0);
}

/* With one more line, for the zero behind it. */
static bool has_room(struct lane_out *o, size_t n) {
  if (o->put + n + LANE_LINE - o->taken > o->room) {
    o->taken = atomic_load_explicit(&o->lane->taken, memory_order_acquire);
  }
  return o->put + n + LANE_LINE - o->taken <= o->room;
}

static void put(struct lane_out *o, size_t n) {
  struct entry *const e = entry_at(o->lane, o->room, o->put);
  o->put += n;
  atomic_store_explicit(&entry_at(o->lane, o->room, o->put)->lines, 0,
                        memory_order_relaxed);
  atomic_store_explicit(&e->lines, (uint32_t)(n / LANE_LINE),
                        memory_order_release);
}

static size_t size_of(size_t n) {
  return (sizeof(struct entry) + n + LANE_LINE - 1) / LANE_LINE * LANE_LINE;
}

char *lane_begin(struct lane_out *o, const struct lane_wire *w) {
  const size_t size = size_of(w->n), left = o->room - o->put % o->room;
  const size_t skipped = size > left ? left : 0;
  if (!has_room(o, skipped + size)) {
    return NULL;
  }
  if (skipped) {
    entry_at(o->lane, o->room, o->put)->what = ELSEWHERE;
    put(o, skipped);
  }
  struct entry *const e = entry_at(o->lane, o->room, o->put);
  e->key = w->key;
  e->what = w->kind << KIND_SHIFT | w->n;
  o->next = size;
  return (char *)(e + 1);
}

void lane_end(struct lane_out *o) {
  put(o, o->next);
}

static const struct entry *entry_first(const struct lane_in *i) {
  const struct entry *const e = entry_at(i->lane, i->room, i->taken);
  return atomic_load_explicit(&e->lines, memory_order_acquire) ? e : NULL;
}

const char *lane_first(struct lane_in *i, struct lane_wire *w) {
  const struct entry *e = entry_first(i);
  if (e && e->what == ELSEWHERE) {
    lane_drop(i);
    e = entry_first(i);
  }
  if (!e) {
    return NULL;
  }
  *w = (struct lane_wire){
      .key = e->key, .kind = e->what >> KIND_SHIFT, .n = e->what & LENGTH};
  return (const char *)(e + 1);
}

void lane_drop(struct lane_in *i) {
  const struct entry *const e = entry_at(i->lane, i->room, i->taken);
  const uint32_t lines = atomic_load_explicit(&e->lines, memory_order_relaxed);
  i->taken += (size_t)lines * LANE_LINE;
  atomic_store_explicit(&i->lane->taken, i->taken, memory_order_release);
}
