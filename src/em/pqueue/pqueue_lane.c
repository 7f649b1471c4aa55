/* Lanes: what threads push in a bulk, each its own. */
#include "em/pqueue/pqueue.h"

/* What stays in a cache: the usual size of a lane, in bytes. */
#define USUAL ((size_t)32 << 10)

void pqueue_lanes_begin(struct pems_pqueue *q, uint64_t n) {
  const size_t usual = USUAL / pq_size(q) + 1;
  size_t room = q->plan.lane_records < usual ? q->plan.lane_records : usual;
  /* Lanes that hold all go to the area whole, in the order of the threads:
     where these share out a bulk that is in order, so is the area. */
  if (n && n / (uint64_t)q->o.threads < q->plan.lane_records) {
    room = q->plan.lane_records;
  }
  for (int i = 0; i < q->o.threads; i++) {
    q->lane[i] = (struct pqueue_lane){
        .records = q->lanes + (size_t)i * q->plan.lane_records * pq_size(q),
        .room = room,
    };
  }
}
