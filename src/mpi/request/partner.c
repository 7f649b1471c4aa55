#include "mpi/request/partner.h"

#include "context/residency/awaited.h"

static struct request_reason reason_of(const struct request *r) {
  struct request_reason why = {.peer = PEER_NONE};
  if (r->class->tell && r->comm) {
    r->class->tell(r, &why);
  }
  return why;
}

int partner_at(const struct comm *comm, int peer) {
  if (peer == PEER_ANY) {
    return AWAITED_ANY;
  }
  const struct vp *const vp = vp_of_rank(comm->team->world[peer]);
  return vp && vp->context ? vp->context->index : AWAITED_ELSEWHERE;
}

int partner_of(const struct request *r) {
  const struct request_reason why = reason_of(r);
  return !r->comm || why.coll || why.peer == PEER_NONE
             ? AWAITED_UNKNOWN
             : partner_at(r->comm, why.peer);
}

uint64_t partner_apart(const struct request *r) {
  if (!r || !r->class->tell || !r->comm) {
    return 0;
  }
  const struct request_reason why = reason_of(r);
  const int size = r->comm->team->size;
  const int apart =
      why.peer < 0 ? size : (why.peer - r->comm->peer + size) % size;
  return why.coll ? 0
                  : 1 + (uint64_t)(unsigned)apart +
                        ((uint64_t)(unsigned)why.tag << 32);
}
