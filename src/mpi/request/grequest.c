/* Generalized requests: the program itself says when they are done. */
#include "mpi/request/request.h"
#include "mpi_abi/abi.h"
#include "mpi_abi/functions.h"

struct grequest {
  struct request request;
  MPI_Grequest_query_function *query;
  MPI_Grequest_free_function *free;
  MPI_Grequest_cancel_function *cancel;
  void *state;
};

/* What the program's functions allocate is its context's. */
static int leave_mpi(void) {
  const int inside = self.inside;
  self.inside = 0;
  return inside;
}

static void finish(struct request *r) {
  struct grequest *g = (struct grequest *)r;
  MPI_Status status = {.MPI_SOURCE = MPI_UNDEFINED,
                       .MPI_TAG = MPI_UNDEFINED,
                       .MPI_ERROR = MPI_SUCCESS};
  int error = MPI_SUCCESS;
  if (g->query) {
    const int inside = leave_mpi();
    error = g->query(g->state, &status);
    self.inside = inside;
  }
  r->result = (struct request_result){
      .source = status.MPI_SOURCE,
      .tag = status.MPI_TAG,
      .error = error ? error : status.MPI_ERROR,
      .bytes = abi_status_bytes(&status),
      .cancelled = abi_status_cancelled(&status),
  };
}

static void cancel(struct request *r) {
  struct grequest *g = (struct grequest *)r;
  if (g->cancel) {
    const int inside = leave_mpi();
    g->cancel(g->state, request_is_done(r));
    self.inside = inside;
  }
}

static void release(struct request *r) {
  struct grequest *g = (struct grequest *)r;
  if (g->free) {
    const int inside = leave_mpi();
    g->free(g->state);
    self.inside = inside;
  }
}

static const struct request_class class_grequest = {
    .name = "generalized request",
    .finish = finish,
    .cancel = cancel,
    .release = release,
};

int pems_Grequest_start(MPI_Grequest_query_function *query,
                        MPI_Grequest_free_function *free,
                        MPI_Grequest_cancel_function *cancel, void *state,
                        MPI_Request *handle) {
  if (!handle) {
    return comm_error(MPI_COMM_WORLD, MPI_ERR_REQUEST, "MPI_Grequest_start");
  }
  struct grequest *g =
      request_new(sizeof(*g), &class_grequest, NULL, "MPI_Grequest_start");
  g->query = query;
  g->free = free;
  g->cancel = cancel;
  g->state = state;
  *handle = request_handle(&g->request);
  return MPI_SUCCESS;
}

int pems_Grequest_complete(MPI_Request handle) {
  struct request *r = request_of(handle);
  if (!r || r->class != &class_grequest || request_is_done(r)) {
    return comm_error(MPI_COMM_WORLD, MPI_ERR_REQUEST, "MPI_Grequest_complete");
  }
  run_queue_lock();
  request_done_locked(r);
  run_queue_unlock();
  requests_remove_gone(rank_me());
  return MPI_SUCCESS;
}
