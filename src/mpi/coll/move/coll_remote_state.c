#include "mpi/coll/move/coll_remote_state.h"

uint64_t coll_remote_key(uint64_t team, uint64_t number) {
  /* Calls are apart: one that waits for its team here holds up no other. */
  return team ^ (number * UINT64_C(0x9e3779b97f4a7c15));
}

struct coll_remote_wire coll_remote_wire(const struct coll *coll,
                                         enum coll_remote_what what) {
  return (struct coll_remote_wire){.team = coll->team->id,
                                   .number = coll->number,
                                   .caller = coll_caller(coll),
                                   .what = what};
}

void coll_remote_check_over(struct coll_remote_slot *s) {
  struct coll_remote *c = s->crossing;
  if (s->ended && s->closed && --c->left == 0) {
    c->over(c->coll);
  }
}

static bool is_small(const struct coll_part *p, int destination, size_t n) {
  return n <= COLL_REMOTE_SMALL && coll_part_staged(p, destination);
}

bool coll_remote_is_large(const struct coll_part *p, int destination,
                          struct layout_span *m) {
  return coll_side_span(&p->send, destination, m) &&
         !is_small(p, destination, span_size(m));
}
