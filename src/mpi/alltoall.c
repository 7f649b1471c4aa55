/* MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw (PEMS2, section 7.1). */
#include "context/allocate.h"
#include "mpi/coll.h"
#include "mpi/comm.h"
#include "mpi/exchange.h"
#include "mpi/functions.h"
#include "net/real.h"

#include <stdint.h>
#include <string.h>

/* In place: what is sent stands where what is received will come. Within one
   process the two of a pair are swapped; between processes, what arrives could
   overwrite what is still to be sent, so a copy of that memory, in the context
   like the rest, is sent instead. */
static int copy_outgoing(struct vp *vp, struct side *send, void **copy) {
  char *low = NULL, *high = NULL;
  for (int q = 0; q < vps.plan.v; q++) {
    struct span m;
    char *start;
    if (side_span(send, q, &m)) {
      const size_t n = span_bounds(&m, &start);
      low = !high || start < low ? start : low;
      high = start + n > high ? start + n : high;
    }
  }
  *copy = NULL;
  if (low == high) {
    return MPI_SUCCESS;
  }
  *copy = context_alloc(vp->context, high - low, 4096);
  if (!*copy) {
    return MPI_ERR_NO_MEM;
  }
  memcpy(*copy, low, high - low);
  send->base += (char *)*copy - low;
  return MPI_SUCCESS;
}

static int run(const char *name, struct side send, struct side receive,
               bool in_place) {
  struct vp *vp = comm_me();
  void *copy = NULL;
  int code = MPI_SUCCESS;
  if (in_place && coll_networked()) {
    code = copy_outgoing(vp, &send, &copy);
  } else if (in_place) {
    send.in_place = true;
    send.except = receive.except = vp->rank;
  }
  if (code) {
    side_release(&send);
    side_release(&receive);
    return code;
  }
  code = exchange(vp, name, -1, send, receive);
  if (copy) {
    context_free(vp->context, copy);
  }
  return code;
}

int pems_Alltoall(const void *send, int n_send, MPI_Datatype send_type,
                  void *receive, int n_receive, MPI_Datatype receive_type,
                  MPI_Comm comm) {
  const bool in_place = send == MPI_IN_PLACE;
  int code = check_comm(comm);
  if (!code && receive == MPI_IN_PLACE) {
    code = MPI_ERR_ARG;
  }
  if (!code && !in_place) {
    code = check_buffer(send, n_send, send_type);
  }
  code = code ? code : check_buffer(receive, n_receive, receive_type);
  if (!code && comm == MPI_COMM_SELF) {
    code = real.Alltoall(send, n_send, send_type, receive, n_receive,
                         receive_type, comm);
  } else if (!code) {
    code =
        run("MPI_Alltoall",
            in_place ? side_make(SIDE_BLOCKS, receive, n_receive, receive_type)
                     : side_make(SIDE_BLOCKS, send, n_send, send_type),
            side_make(SIDE_BLOCKS, receive, n_receive, receive_type), in_place);
  }
  return comm_error(comm, code, "MPI_Alltoall");
}

int pems_Alltoallv(const void *send, const int *send_counts,
                   const int *send_displacements, MPI_Datatype send_type,
                   void *receive, const int *receive_counts,
                   const int *receive_displacements, MPI_Datatype receive_type,
                   MPI_Comm comm) {
  const bool in_place = send == MPI_IN_PLACE;
  int code = check_comm(comm);
  if (!code && (receive == MPI_IN_PLACE || !receive_displacements ||
                (!in_place && !send_displacements))) {
    code = MPI_ERR_ARG;
  }
  if (!code && !in_place) {
    code = check_counts(send, send_counts, comm_size(comm), send_type);
  }
  code = code ? code
              : check_counts(receive, receive_counts, comm_size(comm),
                             receive_type);
  if (!code && comm == MPI_COMM_SELF) {
    code = real.Alltoallv(send, send_counts, send_displacements, send_type,
                          receive, receive_counts, receive_displacements,
                          receive_type, comm);
  } else if (!code) {
    const struct side to = side_vector(
        receive, receive_counts, receive_displacements, receive_type, NULL);
    const struct side from =
        in_place ? side_vector(receive, receive_counts, receive_displacements,
                               receive_type, NULL)
                 : side_vector(send, send_counts, send_displacements, send_type,
                               NULL);
    code = run("MPI_Alltoallv", from, to, in_place);
  }
  return comm_error(comm, code, "MPI_Alltoallv");
}

static int check_types(const void *buffer, const int *counts,
                       const int *displacements, const MPI_Datatype *types,
                       int n) {
  if (!counts || !displacements || !types) {
    return MPI_ERR_ARG;
  }
  int code = MPI_SUCCESS;
  for (int i = 0; i < n && !code; i++) {
    /* Displacements may be absolute addresses. */
    code = check_buffer(buffer ? buffer : (void *)(intptr_t)1, counts[i],
                        types[i]);
  }
  return code;
}

int pems_Alltoallw(const void *send, const int *send_counts,
                   const int *send_displacements,
                   const MPI_Datatype *send_types, void *receive,
                   const int *receive_counts, const int *receive_displacements,
                   const MPI_Datatype *receive_types, MPI_Comm comm) {
  const bool in_place = send == MPI_IN_PLACE;
  int code = check_comm(comm);
  if (!code && receive == MPI_IN_PLACE) {
    code = MPI_ERR_ARG;
  }
  if (!code && !in_place) {
    code = check_types(send, send_counts, send_displacements, send_types,
                       comm_size(comm));
  }
  code = code ? code
              : check_types(receive, receive_counts, receive_displacements,
                            receive_types, comm_size(comm));
  if (!code && comm == MPI_COMM_SELF) {
    code = real.Alltoallw(send, send_counts, send_displacements, send_types,
                          receive, receive_counts, receive_displacements,
                          receive_types, comm);
  } else if (!code) {
    const struct side to =
        side_vector(receive, receive_counts, receive_displacements,
                    MPI_DATATYPE_NULL, receive_types);
    const struct side from =
        in_place ? side_vector(receive, receive_counts, receive_displacements,
                               MPI_DATATYPE_NULL, receive_types)
                 : side_vector(send, send_counts, send_displacements,
                               MPI_DATATYPE_NULL, send_types);
    code = run("MPI_Alltoallw", from, to, in_place);
  }
  return comm_error(comm, code, "MPI_Alltoallw");
}
