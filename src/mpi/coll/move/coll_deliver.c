#include "mpi/coll/move/coll_deliver.h"

#include "mpi/transfer/transfer.h"

void coll_deliver_truncated(struct coll *coll) {
  coll->error = MPI_ERR_TRUNCATE;
}

void coll_deliver(struct delivery *d, struct coll *coll, struct coll_part *p,
                  struct coll_part *q) {
  struct layout_span from, to;
  if (coll_part_staged(p, q->peer) ||
      !coll_side_span(&p->send, q->peer, &from)) {
    return;
  }
  if (!coll_side_span(&q->receive, p->peer, &to)) {
    coll_deliver_truncated(coll);
    return;
  }
  if (span_size(&from) > span_size(&to)) {
    coll_deliver_truncated(coll);
  }
  transfer_start(d, p->vp->context, &from, q->vp->context, &to);
}

void coll_deliver_to_self(struct coll *coll, struct coll_part *p) {
  struct delivery d;
  delivery_begin(&d);
  coll_deliver(&d, coll, p, p);
  delivery_end(&d);
}

bool coll_deliver_swapped(struct delivery *d, struct coll *coll,
                          struct coll_part *p, struct coll_part *q) {
  struct layout_span from, to;
  if (!p->send.in_place || coll_part_staged(p, q->peer) ||
      coll_part_staged(q, p->peer) ||
      !coll_side_span(&p->send, q->peer, &from) ||
      !coll_side_span(&q->send, p->peer, &to)) {
    return false;
  }
  if (span_size(&from) != span_size(&to)) {
    coll_deliver_truncated(coll);
  }
  transfer_swap(d, p->vp->context, &from, q->vp->context, &to);
  return true;
}

static bool receives(const struct coll_part *p, int source) {
  struct layout_span m;
  return coll_side_span(&p->receive, source, &m);
}

bool coll_deliver_is_direct(const struct coll_part *p, int destination) {
  struct layout_span m;
  return !coll_part_staged(p, destination) &&
         coll_side_span(&p->send, destination, &m);
}

int coll_deliver_events(const struct coll_part *p, int q) {
  return receives(p, q) + coll_deliver_is_direct(p, q);
}
