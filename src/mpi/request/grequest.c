/* Generalized requests: the program itself says when they are done. */
#include "mpi/request/grequest.h"

#include "mpi/object/comm_error.h"
#include "mpi/request/request.h"
#include "mpi/request/requests.h"
#include "mpi_abi/abi.h"
#include "mpi_abi/functions.h"

/* Functions and their argument, which are where they were after a restart. */
struct told {
  MPI_Grequest_query_function *query;
  MPI_Grequest_free_function *free;
  MPI_Grequest_cancel_function *cancel;
  void *state;
  bool fortran; /* the functions are subroutines: all is by reference */
};

struct grequest {
  struct request request;
  struct told told;
};

/* The functions as Fortran has them. */
typedef void fortran_query(void *state, MPI_Status *status, int *ierr);
typedef void fortran_free(void *state, int *ierr);
typedef void fortran_cancel(void *state, int *complete, int *ierr);

static int call_query(const struct grequest *g, MPI_Status *status) {
  int error = MPI_SUCCESS;
  if (g->told.fortran) {
    ((fortran_query *)(void (*)(void))g->told.query)(g->told.state, status,
                                                     &error);
    return error;
  }
  return g->told.query(g->told.state, status);
}

static void call_free(const struct grequest *g) {
  int error = MPI_SUCCESS;
  if (g->told.fortran) {
    ((fortran_free *)(void (*)(void))g->told.free)(g->told.state, &error);
  } else {
    g->told.free(g->told.state);
  }
}

static void call_cancel(const struct grequest *g, int complete) {
  int error = MPI_SUCCESS;
  if (g->told.fortran) {
    ((fortran_cancel *)(void (*)(void))g->told.cancel)(g->told.state, &complete,
                                                       &error);
  } else {
    g->told.cancel(g->told.state, complete);
  }
}

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
  if (g->told.query) {
    const int inside = leave_mpi();
    error = call_query(g, &status);
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
  if (g->told.cancel) {
    const int inside = leave_mpi();
    call_cancel(g, request_is_done(r));
    self.inside = inside;
  }
}

static void release(struct request *r) {
  struct grequest *g = (struct grequest *)r;
  if (g->told.free) {
    const int inside = leave_mpi();
    call_free(g);
    self.inside = inside;
  }
}

static void save(const struct request *r, struct checkpoint_writer *to) {
  checkpoint_write(to, &((const struct grequest *)r)->told,
                   sizeof(struct told));
}

static struct request *load(const struct request_before *was,
                            struct checkpoint_reader *from);

static const struct request_class class_grequest = {
    .name = "generalized request",
    .finish = finish,
    .cancel = cancel,
    .release = release,
    .save = save,
    .load = load,
};

static struct request *load(const struct request_before *was,
                            struct checkpoint_reader *from) {
  struct request *const r = request_need(request_new(
      sizeof(struct grequest), &class_grequest, was->comm, was->function));
  checkpoint_read(from, &((struct grequest *)r)->told, sizeof(struct told));
  return r;
}

int pems_Grequest_start(MPI_Grequest_query_function *query,
                        MPI_Grequest_free_function *free,
                        MPI_Grequest_cancel_function *cancel, void *state,
                        MPI_Request *handle) {
  if (!handle) {
    return comm_error(MPI_COMM_WORLD, MPI_ERR_REQUEST, "MPI_Grequest_start");
  }
  struct grequest *g =
      request_new(sizeof(*g), &class_grequest, NULL, "MPI_Grequest_start");
  if (!g) {
    return comm_error(MPI_COMM_WORLD, MPI_ERR_NO_MEM, "MPI_Grequest_start");
  }
  g->told = (struct told){query, free, cancel, state, false};
  return request_give(&g->request, handle);
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

bool grequest_set_fortran(MPI_Request handle) {
  struct request *r = request_of(handle);
  const bool is_one = r && r->class == &class_grequest;
  if (is_one) {
    ((struct grequest *)r)->told.fortran = true;
  }
  return is_one;
}
