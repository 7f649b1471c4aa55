#include "base/trace.h"
#include "mpi/coll.h"
#include "mpi/comm.h"
#include "mpi/functions.h"
#include "net/net.h"

void coll_barrier(struct vp *vp, const char *name) {
  sched_lock();
  struct coll *coll = coll_enter(vp, name, -1);
  if (signal_barrier(&coll->signal, vp, name)) {
    if (coll_networked()) {
      coll_network_begin(coll, vp);
      sched_unlock();
      trace_enter(vp->index, TRACE_NETWORK);
      net_barrier();
      trace_enter(vp->index, TRACE_DELIVER);
      sched_lock();
    }
    signal_raise(&coll->signal);
    coll_network_end(coll);
  }
  coll_leave(coll, vp);
  sched_unlock();
}

int pems_Barrier(MPI_Comm comm) {
  const int code = check_comm(comm);
  if (code) {
    return comm_error(comm, code, "MPI_Barrier");
  }
  if (comm == MPI_COMM_WORLD) {
    coll_barrier(comm_me(), "MPI_Barrier");
  }
  return MPI_SUCCESS;
}
