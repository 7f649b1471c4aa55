/* EM-BCAST (PEMS2, Algorithm 7.2.1). The root leaves the message in the shared
   buffer and goes on; VPs of its process that come later take it without
   waiting. In each other process the first VP to arrive receives it for all.
   Messages too large for that, nonblocking ones, and those between two groups
   go by the general exchange. */
#include "base/need.h"
#include "mpi/check/check_buffers.h"
#include "mpi/coll/call/coll.h"
#include "mpi/coll/call/coll_memory.h"
#include "mpi/coll/call/mailbox.h"
#include "mpi/coll/collective.h"
#include "mpi/object/check.h"
#include "mpi_abi/functions.h"
#include "mpi_below/net.h"
#include "net/am.h"
#include "report/trace.h"

/* Hands the message to the other processes. Locked. */
static void spread_locked(struct coll *coll, const struct vp *vp, size_t n) {
  const struct team *team = coll->team;
  const struct mailbox_key key = mailbox_key(coll, 0);
  for (int i = 0; i < team->nprocs; i++) {
    if (team->procs[i] != net_rank()) {
      mailbox_send(team->procs[i], key, coll->buffer, n);
      trace_add(vp->index, TRACE_SENT, n);
    }
  }
}

static void send_locked(struct coll *coll, struct vp *vp,
                        const struct layout_span *m) {
  coll_reserve_locked(coll, vp, span_size(m), COLL_WAIT);
  run_queue_unlock();
  coll->buffer = need_alloc(span_size(m) + 1, "broadcast");
  span_pack(m, 0, coll->buffer, span_size(m));
  if (coll_networked(coll->team)) {
    spread_locked(coll, vp, span_size(m));
  }
  run_queue_lock();
  signal_raise_locked(&coll->signal);
  if (coll_networked(coll->team)) {
    coll_network_end_locked(coll);
  }
}

/* The first VP of another process than the root's. */
static void receive_for_all_locked(struct coll *coll, struct vp *vp) {
  const struct mailbox_key key = mailbox_key(coll, 0);
  size_t n;
  char *bytes = mailbox_take_vp_locked(vp, coll->team->proc[coll->root], key,
                                       &n, coll->name);
  coll_reserve_locked(coll, vp, n, COLL_TAKE);
  coll->buffer = bytes;
  coll->free_buffer = coll_memory_give;
  signal_raise_locked(&coll->signal);
  coll_network_end_locked(coll);
}

static int receive_locked(struct coll *coll, struct vp *vp,
                          const struct layout_span *m) {
  if (coll->team->index[coll->root] >= 0) {
    signal_wait_locked(&coll->signal, vp, coll->name); /* EM-WAIT-FOR-ROOT */
  } else if (signal_first_locked(&coll->signal, vp, coll->name)) {
    receive_for_all_locked(coll, vp);
  }
  run_queue_unlock();
  const size_t sent = coll->buffer_size, room = span_size(m);
  span_unpack(m, 0, coll->buffer, sent < room ? sent : room);
  trace_add(vp->index, TRACE_MEMORY, sent < room ? sent : room);
  run_queue_lock();
  return sent == room ? MPI_SUCCESS : MPI_ERR_TRUNCATE;
}

static int bcast_small(const struct collective *c, const struct layout_span *m,
                       int root) {
  struct vp *vp = c->comm->vp;
  int code = MPI_SUCCESS;
  run_queue_lock();
  struct coll *coll = coll_enter_locked(c->comm, c->name, root, true);
  if (c->comm->peer == root) {
    send_locked(coll, vp, m);
  } else {
    code = receive_locked(coll, vp, m);
  }
  coll_leave_locked(coll, vp);
  run_queue_unlock();
  return code;
}

/* What fits into the shared buffer; between processes it waits in the memory
   of those that are late. */
static size_t small_limit(const struct team *team) {
  const size_t limit = coll_small(1, 1), most = AM_LARGEST / 4;
  return coll_networked(team) && limit > most ? most : limit;
}

/* Now and then a call lasts until the other processes have made it, too, so
   that the root does not get far ahead of one that is late, and would have to
   keep all messages. The same for all members. */
static bool must_meet(const struct comm *comm) {
  enum { AHEAD = 32 };
  return coll_networked(comm->team) && comm->collectives % AHEAD == AHEAD - 1;
}

static int bcast_large(const struct collective *c, const struct coll_rooted *r,
                       void *buffer, MPI_Count count, MPI_Datatype type) {
  struct coll_side from = coll_side_none(c->comm), to = coll_side_none(c->comm);
  if (r->role == ROLE_ROOT) {
    from = coll_side_make(c->comm, SIDE_ONE, buffer, count, type);
    from.except = comm_is_inter(c->comm) ? -1 : r->root;
  } else if (r->role == ROLE_OTHER) {
    to = coll_side_rooted(c->comm, buffer, count, type, r->root);
  }
  return collective_move(c, r->mark, from, to);
}

static int bcast(struct collective *c, void *buffer, MPI_Count count,
                 MPI_Datatype type, int root) {
  struct coll_rooted r;
  int code = collective_root(c, root, &r);
  if (!code && r.role != ROLE_IDLE) {
    code = buffer == MPI_IN_PLACE ? MPI_ERR_ARG
                                  : check_buffer(buffer, count, type);
  }
  if (code) {
    return collective_failed(c, code);
  }
  if (c->request || c->persistent || comm_is_inter(c->comm)) {
    return bcast_large(c, &r, buffer, count, type);
  }
  const struct layout_span m = {buffer, count, layout_hold(type)};
  if (check_buffers_on) {
    check_buffers_buffer(&m, r.role != ROLE_ROOT, true);
  }
  const bool small =
      span_size(&m) <= small_limit(c->comm->team) && !must_meet(c->comm);
  if (small) {
    code = bcast_small(c, &m, r.root);
  }
  layout_release(m.layout);
  if (small) {
    return collective_failed(c, code);
  }
  /* By another name: ranks that disagree about the size are told. */
  if (!must_meet(c->comm)) {
    c->name = "MPI_Bcast of a large message";
  }
  return bcast_large(c, &r, buffer, count, type);
}

int pems_Bcast(void *buffer, MPI_Count count, MPI_Datatype type, int root,
               MPI_Comm comm) {
  struct collective c = collective_make(comm, "MPI_Bcast", NULL);
  return bcast(&c, buffer, count, type, root);
}

int pems_Ibcast(void *buffer, MPI_Count count, MPI_Datatype type, int root,
                MPI_Comm comm, MPI_Request *request) {
  struct collective c = collective_make(comm, "MPI_Ibcast", request);
  return bcast(&c, buffer, count, type, root);
}

#if defined PEMS_MPI_HAS_Bcast_init
int pems_Bcast_init(void *buffer, MPI_Count count, MPI_Datatype type, int root,
                    MPI_Comm comm, MPI_Info info, MPI_Request *request) {
  (void)info;
  struct collective c = collective_make_init(comm, "MPI_Bcast_init", request);
  return bcast(&c, buffer, count, type, root);
}
#endif
