/* EM-BCAST (PEMS2, Algorithm 7.2.1). The root leaves the message in the shared
   buffer and goes on; VPs of its process that come later take it without
   waiting. In each other process the first VP to arrive receives it for all.
   Messages too large for the shared buffer go by the general exchange. */
#include "base/native.h"
#include "base/trace.h"
#include "mpi/coll.h"
#include "mpi/comm.h"
#include "mpi/exchange.h"
#include "mpi/functions.h"
#include "net/net.h"

/* Hands the message from the root's process to the others. Locked. */
static void spread(struct coll *coll, struct vp *vp, size_t n, int root) {
  if (!coll_networked()) {
    return;
  }
  coll_network_begin(coll, vp);
  sched_unlock();
  trace_enter(vp->index, TRACE_NETWORK);
  net_bcast(coll->buffer, n, plan_proc_of(vps.plan.v, vps.plan.nprocs, root));
  trace_add(vp->index, TRACE_SENT, vp->rank == root ? n : 0);
  trace_enter(vp->index, TRACE_DELIVER);
  sched_lock();
}

static void make_buffer(struct coll *coll, struct vp *vp, size_t n) {
  coll_reserve(coll, vp, n, true);
  coll->buffer = native_need(n, "broadcast");
}

static void send(struct coll *coll, struct vp *vp, const struct span *m) {
  make_buffer(coll, vp, span_size(m));
  sched_unlock();
  span_pack(m, 0, coll->buffer, span_size(m));
  sched_lock();
  signal_raise(&coll->signal);
  spread(coll, vp, span_size(m), coll->root);
  coll_network_end(coll);
}

static int receive(struct coll *coll, struct vp *vp, const struct span *m) {
  if (vp_of_rank(coll->root)) {
    signal_wait(&coll->signal, vp, coll->name); /* EM-WAIT-FOR-ROOT */
  } else if (signal_first(&coll->signal, vp, coll->name)) {
    make_buffer(coll, vp, span_size(m));
    spread(coll, vp, span_size(m), coll->root);
    signal_raise(&coll->signal);
    coll_network_end(coll);
  }
  sched_unlock();
  const size_t sent = coll->buffer_size, room = span_size(m);
  span_unpack(m, 0, coll->buffer, sent < room ? sent : room);
  trace_add(vp->index, TRACE_MEMORY, sent < room ? sent : room);
  sched_lock();
  return sent == room ? MPI_SUCCESS : MPI_ERR_TRUNCATE;
}

static int bcast_small(struct vp *vp, const struct span *m, int root) {
  int code = MPI_SUCCESS;
  sched_lock();
  struct coll *coll = coll_enter(vp, "MPI_Bcast", root);
  if (vp->rank == root) {
    send(coll, vp, m);
  } else {
    code = receive(coll, vp, m);
  }
  coll_leave(coll, vp);
  sched_unlock();
  return code;
}

int pems_Bcast(void *buffer, int count, MPI_Datatype type, int root,
               MPI_Comm comm) {
  int code = check_comm(comm);
  code = code ? code : check_buffer(buffer, count, type);
  code = code ? code : check_root(comm, root);
  if (code || comm == MPI_COMM_SELF) {
    return comm_error(comm, code, "MPI_Bcast");
  }
  struct vp *vp = comm_me();
  const struct span m = {buffer, count, layout_hold(type)};
  const bool small = span_size(&m) <= coll_small(1, 1);
  if (small) {
    code = bcast_small(vp, &m, root);
  }
  layout_release(m.layout);
  if (small) {
    return comm_error(comm, code, "MPI_Bcast");
  }
  struct side send = side_none(), receive = side_none();
  if (vp->rank == root) {
    send = side_make(SIDE_ONE, buffer, count, type);
    send.except = root;
  } else {
    receive = side_make(SIDE_ONE, buffer, count, type);
    receive.only = root;
  }
  /* By another name: ranks that disagree about the size are told. */
  code = exchange(vp, "MPI_Bcast of a large message", root, send, receive);
  return comm_error(comm, code, "MPI_Bcast");
}
