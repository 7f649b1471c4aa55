/* Persistent requests: begun by MPI_Start, again and again. */
#include "mpi/object/comm_error.h"
#include "mpi/request/request.h"
#include "mpi_abi/functions.h"

static int refuse(int code, const char *function) {
  return comm_error(MPI_COMM_WORLD, code, function);
}

static int check_start(const MPI_Request *handle) {
  const struct request *r = handle ? request_of(*handle) : NULL;
  return r && r->persistent && r->class->start && !r->active ? MPI_SUCCESS
                                                             : MPI_ERR_REQUEST;
}

int pems_Start(MPI_Request *handle) {
  if (check_start(handle)) {
    return refuse(MPI_ERR_REQUEST, "MPI_Start");
  }
  request_restart(request_of(*handle));
  return MPI_SUCCESS;
}

int pems_Startall(int n, MPI_Request handles[]) {
  int code = n < 0 ? MPI_ERR_ARG : MPI_SUCCESS;
  for (int i = 0; i < n && !code; i++) {
    code = check_start(handles ? &handles[i] : NULL);
  }
  if (code) {
    return refuse(code, "MPI_Startall");
  }
  for (int i = 0; i < n; i++) {
    request_restart(request_of(handles[i]));
  }
  return MPI_SUCCESS;
}
