/* MPI_Barrier and MPI_Ibarrier: the last VP of a process to arrive tells the
   other processes, and lets the VPs go when all of those have said the same. */
#include "mpi/coll/barrier.h"
#include "mpi/coll/call/coll.h"
#include "mpi/coll/collective.h"
#include "mpi/coll/move/coll_remote.h"
#include "mpi/coll/persistent_coll.h"
#include "mpi/request/request.h"
#include "mpi_abi/functions.h"
#include "report/trace.h"

struct barrier_request {
  struct request request;
  struct coll *coll;
};

/* Locked. */
static void raise_all_locked(struct coll *coll) {
  signal_raise_locked(&coll->signal);
  for (int i = 0; i < coll->team->n; i++) {
    if (coll->part[i]) {
      request_done_locked(coll->part[i]);
      coll->part[i] = NULL;
    }
  }
}

/* Locked. */
static void over_locked(struct coll *coll) {
  raise_all_locked(coll);
  coll_network_end_locked(coll);
}

/* Locked; but not while the last VP here tells other processes. */
static struct coll *arrive_locked(struct comm *comm, const char *name,
                                  struct barrier_request *request) {
  struct coll *coll = coll_enter_locked(comm, name, -1, !request);
  coll_remote_open_locked(coll, over_locked);
  if (request) {
    request->coll = coll;
    coll->part[comm->index] = request;
  }
  if (signal_arrive_locked(&coll->signal)) {
    if (coll->crossing) {
      run_queue_unlock();
      coll_remote_meet(coll);
      run_queue_lock();
    } else {
      raise_all_locked(coll);
    }
  }
  return coll;
}

int coll_barrier(struct comm *comm, const char *name) {
  run_queue_lock();
  struct coll *coll = arrive_locked(comm, name, NULL);
  signal_wait_locked(&coll->signal, comm->vp, name);
  coll_leave_locked(coll, comm->vp);
  run_queue_unlock();
  return MPI_SUCCESS;
}

static void finish(struct request *request) {
  const struct barrier_request *r = (struct barrier_request *)request;
  run_queue_lock();
  coll_leave_locked(r->coll, request->vp);
  run_queue_unlock();
}

static void tell(const struct request *request, struct request_reason *why) {
  why->coll = ((const struct barrier_request *)request)->coll;
}

static const struct request_class barrier_class = {
    .name = "barrier",
    .past = true,
    .collective = true,
    .finish = finish,
    .tell = tell,
};

int pems_Barrier(MPI_Comm comm) {
  const struct collective c = collective_make(comm, "MPI_Barrier", NULL);
  return collective_failed(&c, c.comm ? coll_barrier(c.comm, c.name)
                                      : MPI_ERR_COMM);
}

struct request *coll_ibarrier(struct comm *comm, const char *name) {
  struct barrier_request *r =
      request_new(sizeof(*r), &barrier_class, comm, name);
  if (!r) {
    return NULL;
  }
  run_queue_lock();
  arrive_locked(comm, name, r);
  run_queue_unlock();
  trace_enter(comm->vp->index, TRACE_COMPUTE);
  return &r->request;
}

int pems_Ibarrier(MPI_Comm comm, MPI_Request *request) {
  const struct collective c = collective_make(comm, "MPI_Ibarrier", request);
  if (!c.comm) {
    return collective_failed(&c, MPI_ERR_COMM);
  }
  return collective_failed(
      &c, request_give(coll_ibarrier(c.comm, c.name), request));
}

#if defined PEMS_MPI_HAS_Barrier_init
int pems_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request *request) {
  (void)info;
  const struct collective c =
      collective_make_init(comm, "MPI_Barrier_init", request);
  return collective_failed(&c, c.comm ? persistent_coll_plain(&c, coll_ibarrier)
                                      : MPI_ERR_COMM);
}
#endif
