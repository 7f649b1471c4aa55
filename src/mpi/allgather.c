/* MPI_Allgather and MPI_Allgatherv. Between processes each block travels once
   and is delivered to all VPs there. */
#include "mpi/comm.h"
#include "mpi/exchange.h"
#include "mpi/functions.h"
#include "net/real.h"

/* The own block is where it has to be: it is sent from there. */
static struct side in_place(struct side *receive, int rank, MPI_Datatype type) {
  struct span own;
  struct side send = side_none();
  if (side_span(receive, rank, &own)) {
    send = side_make(SIDE_ONE, own.base, own.count, type);
  }
  send.except = receive->except = rank;
  return send;
}

static int run(const char *name, const void *send, int n_send,
               MPI_Datatype send_type, struct side receive,
               MPI_Datatype receive_type) {
  struct vp *vp = comm_me();
  const struct side from = send == MPI_IN_PLACE
                               ? in_place(&receive, vp->rank, receive_type)
                               : side_make(SIDE_ONE, send, n_send, send_type);
  return exchange(vp, name, -1, from, receive);
}

static int check_send(const void *send, int n, MPI_Datatype type,
                      MPI_Comm comm) {
  const int code = check_comm(comm);
  return code || send == MPI_IN_PLACE ? code : check_buffer(send, n, type);
}

int pems_Allgather(const void *send, int n_send, MPI_Datatype send_type,
                   void *receive, int n_receive, MPI_Datatype receive_type,
                   MPI_Comm comm) {
  int code = check_send(send, n_send, send_type, comm);
  if (!code) {
    code = receive == MPI_IN_PLACE
               ? MPI_ERR_ARG
               : check_buffer(receive, n_receive, receive_type);
  }
  if (!code && comm == MPI_COMM_SELF) {
    code = real.Allgather(send, n_send, send_type, receive, n_receive,
                          receive_type, comm);
  } else if (!code) {
    code = run("MPI_Allgather", send, n_send, send_type,
               side_make(SIDE_BLOCKS, receive, n_receive, receive_type),
               receive_type);
  }
  return comm_error(comm, code, "MPI_Allgather");
}

int pems_Allgatherv(const void *send, int n_send, MPI_Datatype send_type,
                    void *receive, const int *counts, const int *displacements,
                    MPI_Datatype receive_type, MPI_Comm comm) {
  int code = check_send(send, n_send, send_type, comm);
  if (!code) {
    code = receive == MPI_IN_PLACE || !displacements
               ? MPI_ERR_ARG
               : check_counts(receive, counts, comm_size(comm), receive_type);
  }
  if (!code && comm == MPI_COMM_SELF) {
    code = real.Allgatherv(send, n_send, send_type, receive, counts,
                           displacements, receive_type, comm);
  } else if (!code) {
    code = run("MPI_Allgatherv", send, n_send, send_type,
               side_vector(receive, counts, displacements, receive_type, NULL),
               receive_type);
  }
  return comm_error(comm, code, "MPI_Allgatherv");
}
