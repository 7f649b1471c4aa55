/* Lanes: what threads push in a bulk, each its own. */
#include "em/pqueue/pqueue.h"
#include "os/bits.h"

/* What stays in a cache: the usual size of a lane, in bytes. */
#define USUAL ((size_t)32 << 10)
/* Of the memory, which lanes may take for a bulk. */
enum { LARGE_SHARE = 4 };

static bool is_affordable(const struct pems_pqueue *q, size_t bytes) {
  const size_t all = arena_bytes(&q->arena);
  return bytes <= all / LARGE_SHARE && all - bytes >= 2 * q->plan.least_bytes;
}

/* Whether there is a range for lanes of so many records. */
static bool take_large(struct pems_pqueue *q, size_t room) {
  const size_t bytes = room * pq_size(q) * (size_t)q->o.threads;
  if (!is_affordable(q, bytes)) {
    return false;
  }
  q->large_lanes = arena_get(&q->arena, bytes);
  if (!q->large_lanes) {
    pqueue_area_trim(q);
    q->large_lanes = arena_get(&q->arena, bytes);
  }
  q->large_bytes = bytes;
  return q->large_lanes;
}

void pqueue_lanes_begin(struct pems_pqueue *q, uint64_t n) {
  const size_t most = q->plan.lane_records;
  const uint64_t each = n / (uint64_t)q->o.threads + 1;
  size_t room = bits_min(most, USUAL / pq_size(q) + 1), step = most;
  char *base = q->lanes;
  if (n && each <= most) {
    room = most;
  } else if (n && n <= arena_bytes(&q->arena) / pq_size(q) &&
             take_large(q, (size_t)each)) {
    room = step = (size_t)each;
    base = q->large_lanes;
  }
  for (int i = 0; i < q->o.threads; i++) {
    q->lane[i] = (struct pqueue_lane){
        .records = base + (size_t)i * step * pq_size(q),
        .room = room,
    };
  }
}

void pqueue_lanes_end(struct pems_pqueue *q) {
  if (q->large_lanes) {
    arena_put(&q->arena, q->large_lanes, q->large_bytes);
  }
  q->large_lanes = NULL;
}
