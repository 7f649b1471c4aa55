/* MPI_Scatter and MPI_Scatterv: rooted, the root sends. */
#include "mpi/comm.h"
#include "mpi/exchange.h"
#include "mpi/functions.h"
#include "net/real.h"

int pems_Scatter(const void *send, int n_send, MPI_Datatype send_type,
                 void *receive, int n_receive, MPI_Datatype receive_type,
                 int root, MPI_Comm comm) {
  int code = check_rooted(receive, n_receive, receive_type, root, comm);
  if (!code && comm_is_root(comm, root)) {
    code = send == MPI_IN_PLACE ? MPI_ERR_ARG
                                : check_buffer(send, n_send, send_type);
  }
  if (!code && comm == MPI_COMM_SELF) {
    code = real.Scatter(send, n_send, send_type, receive, n_receive,
                        receive_type, root, comm);
  } else if (!code) {
    struct vp *vp = comm_me();
    struct side from = side_none();
    if (vp->rank == root) {
      from = side_make(SIDE_BLOCKS, send, n_send, send_type);
      from.except = receive == MPI_IN_PLACE ? root : -1;
    }
    code = exchange(vp, "MPI_Scatter", root, from,
                    side_rooted(receive, n_receive, receive_type, root));
  }
  return comm_error(comm, code, "MPI_Scatter");
}

int pems_Scatterv(const void *send, const int *counts, const int *displacements,
                  MPI_Datatype send_type, void *receive, int n_receive,
                  MPI_Datatype receive_type, int root, MPI_Comm comm) {
  int code = check_rooted(receive, n_receive, receive_type, root, comm);
  if (!code && comm_is_root(comm, root)) {
    code = send == MPI_IN_PLACE || !displacements
               ? MPI_ERR_ARG
               : check_counts(send, counts, comm_size(comm), send_type);
  }
  if (!code && comm == MPI_COMM_SELF) {
    code = real.Scatterv(send, counts, displacements, send_type, receive,
                         n_receive, receive_type, root, comm);
  } else if (!code) {
    struct vp *vp = comm_me();
    struct side from = side_none();
    if (vp->rank == root) {
      from = side_vector(send, counts, displacements, send_type, NULL);
      from.except = receive == MPI_IN_PLACE ? root : -1;
    }
    code = exchange(vp, "MPI_Scatterv", root, from,
                    side_rooted(receive, n_receive, receive_type, root));
  }
  return comm_error(comm, code, "MPI_Scatterv");
}
