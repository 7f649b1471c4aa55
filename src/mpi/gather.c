/* EM-GATHER (PEMS2, Algorithm 7.3.1) and its v variant: a VP whose message is
   small leaves it in the shared buffer and goes on; the root waits for all. */
#include "mpi/comm.h"
#include "mpi/exchange.h"
#include "mpi/functions.h"
#include "net/real.h"

int pems_Gather(const void *send, int n_send, MPI_Datatype send_type,
                void *receive, int n_receive, MPI_Datatype receive_type,
                int root, MPI_Comm comm) {
  int code = check_rooted(send, n_send, send_type, root, comm);
  if (!code && comm_is_root(comm, root)) {
    code = receive == MPI_IN_PLACE
               ? MPI_ERR_ARG
               : check_buffer(receive, n_receive, receive_type);
  }
  if (!code && comm == MPI_COMM_SELF) {
    code = real.Gather(send, n_send, send_type, receive, n_receive,
                       receive_type, root, comm);
  } else if (!code) {
    struct vp *vp = comm_me();
    struct side to = side_none();
    if (vp->rank == root) {
      to = side_make(SIDE_BLOCKS, receive, n_receive, receive_type);
      to.except = send == MPI_IN_PLACE ? root : -1;
    }
    code = exchange(vp, "MPI_Gather", root,
                    side_rooted(send, n_send, send_type, root), to);
  }
  return comm_error(comm, code, "MPI_Gather");
}

int pems_Gatherv(const void *send, int n_send, MPI_Datatype send_type,
                 void *receive, const int *counts, const int *displacements,
                 MPI_Datatype receive_type, int root, MPI_Comm comm) {
  int code = check_rooted(send, n_send, send_type, root, comm);
  if (!code && comm_is_root(comm, root)) {
    code = receive == MPI_IN_PLACE || !displacements
               ? MPI_ERR_ARG
               : check_counts(receive, counts, comm_size(comm), receive_type);
  }
  if (!code && comm == MPI_COMM_SELF) {
    code = real.Gatherv(send, n_send, send_type, receive, counts, displacements,
                        receive_type, root, comm);
  } else if (!code) {
    struct vp *vp = comm_me();
    struct side to = side_none();
    if (vp->rank == root) {
      to = side_vector(receive, counts, displacements, receive_type, NULL);
      to.except = send == MPI_IN_PLACE ? root : -1;
    }
    code = exchange(vp, "MPI_Gatherv", root,
                    side_rooted(send, n_send, send_type, root), to);
  }
  return comm_error(comm, code, "MPI_Gatherv");
}
