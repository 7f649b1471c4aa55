/* EM-REDUCE (PEMS2, Algorithm 7.4.1) and the other collectives that compute,
   in terms of fold. */
#include "mpi/comm.h"
#include "mpi/fold.h"
#include "mpi/functions.h"
#include "net/real.h"

#include <limits.h>

/* Arguments that all have in common; `in` is the buffer that is read. */
static int check(const void *in, int count, MPI_Datatype type, MPI_Op op,
                 MPI_Comm comm) {
  int code = check_comm(comm);
  code = code ? code : check_op(op, type);
  return code ? code : check_buffer(in, count, type);
}

static const void *input(const void *send, const void *receive) {
  return send == MPI_IN_PLACE ? receive : send;
}

int pems_Reduce(const void *send, void *receive, int count, MPI_Datatype type,
                MPI_Op op, int root, MPI_Comm comm) {
  int code = check_comm(comm);
  code = code ? code : check_root(comm, root);
  const bool at_root = !code && comm_is_root(comm, root);
  if (!code && (at_root ? receive == MPI_IN_PLACE : send == MPI_IN_PLACE)) {
    code = MPI_ERR_ARG;
  }
  code = code ? code : check(input(send, receive), count, type, op, comm);
  if (!code && at_root && count) {
    code = check_buffer(receive, count, type);
  }
  if (!code && comm == MPI_COMM_SELF) {
    code = real.Reduce(send, receive, count, type, op, root, comm);
  } else if (!code) {
    const struct fold f = {.kind = FOLD_REDUCE,
                           .in = input(send, receive),
                           .out = receive,
                           .count = count,
                           .type = type,
                           .op = op,
                           .root = root};
    code = fold(comm_me(), "MPI_Reduce", &f);
  }
  return comm_error(comm, code, "MPI_Reduce");
}

/* Allreduce, Scan, Exscan: the same arguments. */
static int symmetric(enum fold_kind kind, const char *name, const void *send,
                     void *receive, int count, MPI_Datatype type, MPI_Op op,
                     MPI_Comm comm) {
  int code = receive == MPI_IN_PLACE
                 ? MPI_ERR_ARG
                 : check(input(send, receive), count, type, op, comm);
  if (!code && kind != FOLD_EXSCAN) {
    code = check_buffer(receive, count, type);
  }
  if (code || comm == MPI_COMM_SELF) {
    return code;
  }
  const struct fold f = {.kind = kind,
                         .in = input(send, receive),
                         .out = receive,
                         .count = count,
                         .type = type,
                         .op = op,
                         .root = -1};
  return fold(comm_me(), name, &f);
}

int pems_Allreduce(const void *send, void *receive, int count,
                   MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  int code = symmetric(FOLD_ALLREDUCE, "MPI_Allreduce", send, receive, count,
                       type, op, comm);
  if (!code && comm == MPI_COMM_SELF) {
    code = real.Allreduce(send, receive, count, type, op, comm);
  }
  return comm_error(comm, code, "MPI_Allreduce");
}

int pems_Scan(const void *send, void *receive, int count, MPI_Datatype type,
              MPI_Op op, MPI_Comm comm) {
  int code =
      symmetric(FOLD_SCAN, "MPI_Scan", send, receive, count, type, op, comm);
  if (!code && comm == MPI_COMM_SELF) {
    code = real.Scan(send, receive, count, type, op, comm);
  }
  return comm_error(comm, code, "MPI_Scan");
}

int pems_Exscan(const void *send, void *receive, int count, MPI_Datatype type,
                MPI_Op op, MPI_Comm comm) {
  /* On MPI_COMM_SELF nothing comes before: the result is undefined. */
  return comm_error(comm,
                    symmetric(FOLD_EXSCAN, "MPI_Exscan", send, receive, count,
                              type, op, comm),
                    "MPI_Exscan");
}

static int scatter(const char *name, const void *send, void *receive,
                   const int *counts, int equal, int total, MPI_Datatype type,
                   MPI_Op op) {
  const struct fold f = {.kind = FOLD_SCATTER,
                         .in = input(send, receive),
                         .out = receive,
                         .count = total,
                         .type = type,
                         .op = op,
                         .root = -1,
                         .counts = counts,
                         .equal_counts = equal};
  return fold(comm_me(), name, &f);
}

/* The sum of counts, -1 if it is no int. */
static int total_of(const int *counts, int n) {
  long long total = 0;
  for (int i = 0; i < n; i++) {
    total += counts[i];
  }
  return total > INT_MAX ? -1 : (int)total;
}

int pems_Reduce_scatter(const void *send, void *receive, const int *counts,
                        MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  int code = check_comm(comm);
  const int n = comm_size(comm);
  if (!code && receive == MPI_IN_PLACE) {
    code = MPI_ERR_ARG;
  }
  code = code ? code : check_counts(input(send, receive), counts, n, type);
  const int total = code ? 0 : total_of(counts, n);
  code = code ? code : check(input(send, receive), total, type, op, comm);
  if (!code && comm == MPI_COMM_SELF) {
    code = real.Reduce_scatter(send, receive, counts, type, op, comm);
  } else if (!code) {
    code = scatter("MPI_Reduce_scatter", send, receive, counts, 0, total, type,
                   op);
  }
  return comm_error(comm, code, "MPI_Reduce_scatter");
}

int pems_Reduce_scatter_block(const void *send, void *receive, int count,
                              MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  int code = check_comm(comm);
  if (!code && receive == MPI_IN_PLACE) {
    code = MPI_ERR_ARG;
  }
  code = code ? code : check(input(send, receive), count, type, op, comm);
  if (!code && comm == MPI_COMM_SELF) {
    code = real.Reduce_scatter_block(send, receive, count, type, op, comm);
  } else if (!code && (long long)count * vps.plan.v > INT_MAX) {
    code = MPI_ERR_COUNT;
  } else if (!code) {
    code = scatter("MPI_Reduce_scatter_block", send, receive, NULL, count,
                   count * vps.plan.v, type, op);
  }
  return comm_error(comm, code, "MPI_Reduce_scatter_block");
}
