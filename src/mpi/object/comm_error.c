/* What programs do with error handlers, and errors of their communicators. */
#include "mpi/object/comm_error.h"

#include "mpi/object/check.h"
#include "mpi/object/comm.h"
#include "mpi/object/errhandler.h"
#include "mpi_abi/foreign.h"
#include "mpi_abi/functions.h"
#include "mpi_abi/refuse.h"
#include "mpi_below/real.h"
#include "vp/vp.h"

#include <stddef.h>
#include <stdint.h>

int pems_Errhandler_free(MPI_Errhandler *handle) {
  const int code = !handle || *handle == MPI_ERRHANDLER_NULL
                       ? MPI_ERR_ARG
                       : errhandler_free(*handle);
  if (handle) {
    *handle = MPI_ERRHANDLER_NULL;
  }
  return comm_error(MPI_COMM_WORLD, code, "MPI_Errhandler_free");
}

int comm_error(MPI_Comm handle, int code, const char *function) {
  if (code == MPI_SUCCESS || code == VP_LEFT) {
    return code;
  }
  const struct comm *comm = comm_of(handle);
  errhandler_about(comm ? "" : foreign_hint((uintptr_t)handle));
  if (!comm || errhandler_is_worlds(&comm->errhandler)) {
    handle = MPI_COMM_WORLD;
    comm = rank_me()->world;
  }
  return errhandler_call(&comm->errhandler, &handle, code, function);
}

int pems_Comm_create_errhandler(MPI_Comm_errhandler_function *function,
                                MPI_Errhandler *handle) {
  int code = real.Comm_create_errhandler(function, handle);
  if (!code) {
    code = errhandler_note(handle, (void (*)(void))function);
  }
  return comm_error(MPI_COMM_WORLD, code, "MPI_Comm_create_errhandler");
}

int pems_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handle) {
  int code = check_comm(comm);
  if (!code && (!handle || handle == MPI_ERRHANDLER_NULL)) {
    code = MPI_ERR_ARG;
  }
  if (code) {
    return comm_error(comm, code, "MPI_Comm_set_errhandler");
  }
  errhandler_set(&comm_of(comm)->errhandler, errhandler_make(handle));
  return MPI_SUCCESS;
}

int pems_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *handle) {
  int code = check_comm(comm);
  if (!code && !handle) {
    code = MPI_ERR_ARG;
  }
  if (code) {
    return comm_error(comm, code, "MPI_Comm_get_errhandler");
  }
  *handle = errhandler_get(&comm_of(comm)->errhandler, MPI_ERRORS_ARE_FATAL);
  return MPI_SUCCESS;
}

int pems_Comm_call_errhandler(MPI_Comm comm, int code) {
  if (check_comm(comm)) {
    return comm_error(comm, MPI_ERR_COMM, "MPI_Comm_call_errhandler");
  }
  comm_error(comm, code, "MPI_Comm_call_errhandler");
  return MPI_SUCCESS;
}

static int delegated_failed(int code, const char *function) {
  return comm_error(MPI_COMM_WORLD, code, function);
}

void comm_error_install(void) {
  mpi_set_failed(delegated_failed);
}
