#include "mpi/object/check.h"

#include "mpi/object/envelope.h"
#include "mpi_below/real.h"

int check_comm(MPI_Comm comm) {
  return comm_of(comm) ? MPI_SUCCESS : MPI_ERR_COMM;
}

int check_intra(MPI_Comm handle) {
  const struct comm *comm = comm_of(handle);
  return comm && !comm_is_inter(comm) ? MPI_SUCCESS : MPI_ERR_COMM;
}

int check_peer(const struct comm *comm, int rank, bool any) {
  return (rank >= 0 && rank < comm->peers) || rank == MPI_PROC_NULL ||
                 (any && rank == MPI_ANY_SOURCE)
             ? MPI_SUCCESS
             : MPI_ERR_RANK;
}

static int class_of(int code) {
  int class = code;
  if (code != MPI_SUCCESS) {
    real.Error_class(code, &class);
  }
  return class;
}

static bool is_type(MPI_Datatype type) {
  return type && type != MPI_DATATYPE_NULL;
}

/* The real library knows best what a usable datatype is: it is asked to send
   nothing to nobody. */
static int check_type(MPI_Datatype type) {
  if (!is_type(type)) {
    return MPI_ERR_TYPE;
  }
  const char nothing = 0;
  return class_of(
      real.Send(&nothing, 0, type, MPI_PROC_NULL, 0, MPI_COMM_SELF));
}

int check_buffer(const void *buffer, MPI_Count count, MPI_Datatype type) {
  if (count < 0) {
    return MPI_ERR_COUNT;
  }
  const int code = check_type(type);
  if (code || buffer || !count) {
    return code;
  }
  /* MPI_BOTTOM with absolute addresses is right for derived types only. */
  return envelope_of(type).combiner == MPI_COMBINER_NAMED ? MPI_ERR_BUFFER
                                                          : MPI_SUCCESS;
}

int check_counts(const void *buffer, struct counts counts, int n,
                 MPI_Datatype type) {
  if (!counts.item) {
    return MPI_ERR_COUNT;
  }
  MPI_Count largest = 0;
  for (int i = 0; i < n; i++) {
    const MPI_Count count = counts_at(counts, i);
    if (count < 0) {
      return MPI_ERR_COUNT;
    }
    largest = count > largest ? count : largest;
  }
  return check_buffer(buffer, largest, type);
}

/* The real library's own, which is for whole buffers of its own making: with
   any other one it ends the process. */
#ifdef MPIX_EQUAL
#define IS_WHOLE(op) ((op) == MPIX_EQUAL)
#else
#define IS_WHOLE(op) false
#endif

int check_op(MPI_Op op, MPI_Datatype type) {
  if (!op || op == MPI_OP_NULL || IS_WHOLE(op)) {
    return MPI_ERR_OP;
  }
  if (!is_type(type)) {
    return MPI_ERR_OP; /* some real libraries would end the process */
  }
  char nothing[64] = {0}, nothing_else[64] = {0};
  return class_of(
      real.Allreduce(nothing, nothing_else, 0, type, op, MPI_COMM_SELF));
}
