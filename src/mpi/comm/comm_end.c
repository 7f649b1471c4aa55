/* The end of communicators. */
#include "mpi/coll/barrier.h"
#include "mpi/coll/call/coll.h"
#include "mpi/object/attribute.h"
#include "mpi/object/comm.h"
#include "mpi/object/comm_error.h"
#include "mpi/p2p/buffered.h"
#include "mpi_abi/functions.h"

#include <stdbool.h>

/* The predefined ones keep the real library's. */
static bool is_real(MPI_Comm handle) {
  return handle == MPI_COMM_WORLD || handle == MPI_COMM_SELF ||
         handle == MPI_COMM_NULL;
}

static int end(MPI_Comm *handle, struct comm *comm) {
  const int code = attributes_delete(*handle, &comm->attributes);
  if (!code) {
    buffered_forget(comm);
    comm_free(comm);
    *handle = MPI_COMM_NULL;
  }
  return code;
}

static struct comm *mortal(const MPI_Comm *handle) {
  return handle && !is_real(*handle) ? comm_of(*handle) : NULL;
}

int pems_Comm_free(MPI_Comm *handle) {
  struct comm *comm = mortal(handle);
  const MPI_Comm on =
      handle && *handle == MPI_COMM_SELF ? MPI_COMM_SELF : MPI_COMM_WORLD;
  return comm ? comm_error(*handle, end(handle, comm), "MPI_Comm_free")
              : comm_error(on, MPI_ERR_COMM, "MPI_Comm_free");
}

int pems_Comm_disconnect(MPI_Comm *handle) {
  struct comm *comm = mortal(handle);
  if (!comm) {
    return comm_error(MPI_COMM_WORLD, MPI_ERR_COMM, "MPI_Comm_disconnect");
  }
  const int code = coll_barrier(comm, "MPI_Comm_disconnect");
  return comm_error(*handle, code ? code : end(handle, comm),
                    "MPI_Comm_disconnect");
}
