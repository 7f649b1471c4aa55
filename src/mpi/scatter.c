/* MPI_Scatter and MPI_Scatterv: rooted, the root sends. */
#include "mpi/comm.h"
#include "mpi/exchange.h"
#include "mpi/functions.h"
#include "net/real.h"

static int check(const void *receive, int n, MPI_Datatype type, int root,
                 MPI_Comm comm) {
  int code = check_comm(comm);
  code = code ? code : check_root(comm, root);
  if (code) {
    return code;
  }
  if (receive == MPI_IN_PLACE) {
    return comm == MPI_COMM_SELF || comm_me()->rank == root ? MPI_SUCCESS
                                                            : MPI_ERR_ARG;
  }
  return check_buffer(receive, n, type);
}

static bool is_root(int root, MPI_Comm comm) {
  return comm == MPI_COMM_SELF || comm_me()->rank == root;
}

static struct side receives(void *buffer, int n, MPI_Datatype type, int root) {
  if (buffer == MPI_IN_PLACE) {
    return side_none();
  }
  struct side s = side_make(SIDE_ONE, buffer, n, type);
  s.only = root;
  return s;
}

int pems_Scatter(const void *send, int n_send, MPI_Datatype send_type,
                 void *receive, int n_receive, MPI_Datatype receive_type,
                 int root, MPI_Comm comm) {
  int code = check(receive, n_receive, receive_type, root, comm);
  if (!code && is_root(root, comm)) {
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
                    receives(receive, n_receive, receive_type, root));
  }
  return comm_error(comm, code, "MPI_Scatter");
}

int pems_Scatterv(const void *send, const int *counts, const int *displacements,
                  MPI_Datatype send_type, void *receive, int n_receive,
                  MPI_Datatype receive_type, int root, MPI_Comm comm) {
  int code = check(receive, n_receive, receive_type, root, comm);
  if (!code && is_root(root, comm)) {
    code =
        send == MPI_IN_PLACE || !displacements
            ? MPI_ERR_ARG
            : check_counts(send, counts, comm == MPI_COMM_SELF ? 1 : vps.plan.v,
                           send_type);
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
                    receives(receive, n_receive, receive_type, root));
  }
  return comm_error(comm, code, "MPI_Scatterv");
}
