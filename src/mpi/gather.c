/* EM-GATHER (PEMS2, Algorithm 7.3.1) and its v variant: a VP whose message is
   small leaves it in the shared buffer and goes on; the root waits for all. */
#include "mpi/comm.h"
#include "mpi/exchange.h"
#include "mpi/functions.h"
#include "net/real.h"

static int check(const void *send, int n, MPI_Datatype type, int root,
                 MPI_Comm comm) {
  int code = check_comm(comm);
  code = code ? code : check_root(comm, root);
  if (code) {
    return code;
  }
  if (send == MPI_IN_PLACE) {
    return comm == MPI_COMM_SELF || comm_me()->rank == root ? MPI_SUCCESS
                                                            : MPI_ERR_ARG;
  }
  return check_buffer(send, n, type);
}

static bool is_root(int root, MPI_Comm comm) {
  return comm == MPI_COMM_SELF || comm_me()->rank == root;
}

static struct side sends(const void *buffer, int n, MPI_Datatype type,
                         int root) {
  if (buffer == MPI_IN_PLACE) {
    return side_none();
  }
  struct side s = side_make(SIDE_ONE, buffer, n, type);
  s.only = root;
  return s;
}

int pems_Gather(const void *send, int n_send, MPI_Datatype send_type,
                void *receive, int n_receive, MPI_Datatype receive_type,
                int root, MPI_Comm comm) {
  int code = check(send, n_send, send_type, root, comm);
  if (!code && is_root(root, comm)) {
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
                    sends(send, n_send, send_type, root), to);
  }
  return comm_error(comm, code, "MPI_Gather");
}

int pems_Gatherv(const void *send, int n_send, MPI_Datatype send_type,
                 void *receive, const int *counts, const int *displacements,
                 MPI_Datatype receive_type, int root, MPI_Comm comm) {
  int code = check(send, n_send, send_type, root, comm);
  if (!code && is_root(root, comm)) {
    code = receive == MPI_IN_PLACE || !displacements
               ? MPI_ERR_ARG
               : check_counts(receive, counts,
                              comm == MPI_COMM_SELF ? 1 : vps.plan.v,
                              receive_type);
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
                    sends(send, n_send, send_type, root), to);
  }
  return comm_error(comm, code, "MPI_Gatherv");
}
