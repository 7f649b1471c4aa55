/* Lanes: what threads push in a bulk, each its own. */
#include "em/pqueue.h"

/* Of the memory, all lanes together, at most. */
enum { WIDE_SHARE = 16 };

static void set_lanes(struct pems_pqueue *q, char *memory, size_t records) {
  for (int i = 0; i < q->o.threads; i++)
    q->lane[i] = (struct lane){
        .records = memory + (size_t)i * records * pq_size(q), .room = records};
}

void lanes_narrow(struct pems_pqueue *q) {
  set_lanes(q, q->lanes, q->lane_records);
  if (q->wide_lanes)
    arena_put(&q->arena, q->wide_lanes, q->wide_bytes);
  q->wide_lanes = NULL;
}

/* Lanes go to the area whole, in the order of the threads: where these share
   out a bulk that is in order, so is the area, and need not be sorted. */
void lanes_widen(struct pems_pqueue *q, uint64_t n) {
  const uint64_t each = n / (uint64_t)q->o.threads + 1;
  const size_t most = q->arena.units * q->arena.unit / WIDE_SHARE / pq_size(q) /
                      (size_t)q->o.threads;
  if (each <= q->lane_records || each > most)
    return;
  q->wide_bytes = (size_t)each * pq_size(q) * (size_t)q->o.threads;
  q->wide_lanes = arena_get(&q->arena, q->wide_bytes);
  if (q->wide_lanes)
    set_lanes(q, q->wide_lanes, (size_t)each);
}
