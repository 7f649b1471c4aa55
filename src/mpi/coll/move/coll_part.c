#include "mpi/coll/move/coll_part.h"

#include "mpi/request/request.h"
#include "vp/run_queue.h"

static int entry_of(const struct coll_part *p, int destination) {
  return p->send.shape == SIDE_ONE ? 0 : destination - p->send.first;
}

const char *coll_part_staged(const struct coll_part *p, int destination) {
  /* A VP's message to itself is copied at once. */
  if (!p->stage || destination == p->peer || destination < p->send.first ||
      destination >= p->send.first + p->send.n) {
    return NULL;
  }
  const size_t at = p->stage_at[entry_of(p, destination)];
  return at == NOT_STAGED ? NULL : p->stage + at;
}

void coll_part_tell_locked(struct coll_part *p) {
  if (p->waits > 0 || !p->started) {
    return;
  }
  if (p->request) {
    struct request *request = p->request;
    p->request = NULL;
    request_done_locked(request);
  } else {
    run_queue_wake_locked(&p->waiting);
  }
}

void coll_part_settle_locked(struct coll_part *p, int n) {
  p->waits -= n;
  if (n) {
    coll_part_tell_locked(p);
  }
}
