/* EM-REDUCE (PEMS2, Algorithm 7.4.1) and the other collectives that compute,
   in terms of fold. */
#include "mpi/check/check_buffers.h"
#include "mpi/coll/collective.h"
#include "mpi/coll/fold/coll_reduce.h"
#include "mpi/object/check.h"
#include "mpi_abi/functions.h"
#include "mpi_below/launcher.h"

/* The arguments that all of them have. */
struct arguments {
  const void *send;
  void *receive;
  MPI_Count count;
  MPI_Datatype type;
  MPI_Op op;
};

static const void *input(const struct arguments *a) {
  return a->send == MPI_IN_PLACE ? a->receive : a->send;
}

/* The same memory twice, where it should be MPI_IN_PLACE: MPI_ERR_BUFFER where
   the MPI below says so, `else_code` with others. */
static int check_place(const struct collective *c, const struct arguments *a,
                       int else_code) {
  const bool twice = a->send == a->receive && a->count > 0;
  if (twice && check_buffers_on) {
    check_buffers_twice(a->receive);
  }
  if (!twice || a->receive == MPI_BOTTOM || comm_is_inter(c->comm)) {
    return MPI_SUCCESS;
  }
  return launcher.refuses_aliases ? MPI_ERR_BUFFER : else_code;
}

static int check(const struct arguments *a) {
  const int code = check_op(a->op, a->type);
  return code ? code : check_buffer(input(a), a->count, a->type);
}

static struct coll_reduce fold_of(enum coll_reduce_kind kind,
                                  const struct arguments *a) {
  return (struct coll_reduce){.kind = kind,
                              .in = input(a),
                              .out = a->receive,
                              .count = (size_t)a->count,
                              .type = a->type,
                              .op = a->op,
                              .root = -1};
}

/* Buffers at the root and elsewhere. */
static int check_reduce(const struct arguments *a, const struct coll_rooted *r,
                        bool inter) {
  const bool at_root = r->role == ROLE_ROOT;
  if (r->role == ROLE_IDLE) {
    return MPI_SUCCESS;
  }
  if (at_root ? a->receive == MPI_IN_PLACE : a->send == MPI_IN_PLACE) {
    return MPI_ERR_ARG;
  }
  int code = check_op(a->op, a->type);
  if (!code && !(at_root && inter)) {
    code = check_buffer(input(a), a->count, a->type);
  }
  if (!code && at_root && a->count) {
    code = check_buffer(a->receive, a->count, a->type);
  }
  return code;
}

static int reduce(const struct collective *c, const struct arguments *a,
                  int root) {
  struct coll_rooted r;
  int code = collective_root(c, root, &r);
  code = code ? code : check_reduce(a, &r, comm_is_inter(c->comm));
  if (!code && r.role == ROLE_ROOT && !comm_is_inter(c->comm)) {
    code = check_place(c, a, MPI_ERR_ARG);
  }
  if (code) {
    return collective_failed(c, code);
  }
  struct coll_reduce f = fold_of(FOLD_REDUCE, a);
  f.root = r.root;
  f.idle = r.role == ROLE_IDLE;
  f.gets_only = comm_is_inter(c->comm) && r.role == ROLE_ROOT;
  return collective_fold(c, r.mark, &f);
}

/* Allreduce, Scan, Exscan. */
static int symmetric(const struct collective *c, enum coll_reduce_kind kind,
                     const struct arguments *a) {
  int code = collective_check(c, a->receive);
  if (!code && comm_is_inter(c->comm)) {
    code = kind != FOLD_ALLREDUCE    ? MPI_ERR_COMM
           : a->send == MPI_IN_PLACE ? MPI_ERR_ARG
                                     : MPI_SUCCESS;
  }
  code = code ? code : check(a);
  if (!code && kind != FOLD_EXSCAN) {
    code = check_buffer(a->receive, a->count, a->type);
  }
  code = code ? code : check_place(c, a, MPI_SUCCESS);
  if (code) {
    return collective_failed(c, code);
  }
  const struct coll_reduce f = fold_of(kind, a);
  return collective_fold(c, -1, &f);
}

static struct arguments arguments(const void *send, void *receive,
                                  MPI_Count count, MPI_Datatype type,
                                  MPI_Op op) {
  return (struct arguments){send, receive, count, type, op};
}

int pems_Reduce(const void *send, void *receive, MPI_Count count,
                MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  const struct collective c = collective_make(comm, "MPI_Reduce", NULL);
  const struct arguments a = arguments(send, receive, count, type, op);
  return reduce(&c, &a, root);
}

int pems_Ireduce(const void *send, void *receive, MPI_Count count,
                 MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                 MPI_Request *request) {
  const struct collective c = collective_make(comm, "MPI_Ireduce", request);
  const struct arguments a = arguments(send, receive, count, type, op);
  return reduce(&c, &a, root);
}

int pems_Allreduce(const void *send, void *receive, MPI_Count count,
                   MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const struct collective c = collective_make(comm, "MPI_Allreduce", NULL);
  const struct arguments a = arguments(send, receive, count, type, op);
  return symmetric(&c, FOLD_ALLREDUCE, &a);
}

int pems_Iallreduce(const void *send, void *receive, MPI_Count count,
                    MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                    MPI_Request *request) {
  const struct collective c = collective_make(comm, "MPI_Iallreduce", request);
  const struct arguments a = arguments(send, receive, count, type, op);
  return symmetric(&c, FOLD_ALLREDUCE, &a);
}

int pems_Scan(const void *send, void *receive, MPI_Count count,
              MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const struct collective c = collective_make(comm, "MPI_Scan", NULL);
  const struct arguments a = arguments(send, receive, count, type, op);
  return symmetric(&c, FOLD_SCAN, &a);
}

int pems_Iscan(const void *send, void *receive, MPI_Count count,
               MPI_Datatype type, MPI_Op op, MPI_Comm comm,
               MPI_Request *request) {
  const struct collective c = collective_make(comm, "MPI_Iscan", request);
  const struct arguments a = arguments(send, receive, count, type, op);
  return symmetric(&c, FOLD_SCAN, &a);
}

int pems_Exscan(const void *send, void *receive, MPI_Count count,
                MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const struct collective c = collective_make(comm, "MPI_Exscan", NULL);
  const struct arguments a = arguments(send, receive, count, type, op);
  return symmetric(&c, FOLD_EXSCAN, &a);
}

int pems_Iexscan(const void *send, void *receive, MPI_Count count,
                 MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                 MPI_Request *request) {
  const struct collective c = collective_make(comm, "MPI_Iexscan", request);
  const struct arguments a = arguments(send, receive, count, type, op);
  return symmetric(&c, FOLD_EXSCAN, &a);
}

/* a->count is the total; counts without an array: all are `equal`. */
static int scatter(const struct collective *c, const struct arguments *a,
                   struct counts counts, MPI_Count equal) {
  int code = check_op(a->op, a->type);
  code = code ? code : check_buffer(input(a), a->count, a->type);
  code = code ? code : check_place(c, a, MPI_SUCCESS);
  if (code) {
    return collective_failed(c, code);
  }
  struct coll_reduce f = fold_of(FOLD_SCATTER, a);
  f.counts = counts;
  f.equal_counts = equal;
  return collective_fold(c, -1, &f);
}

static MPI_Count total_of(struct counts counts, int n) {
  MPI_Count total = 0;
  for (int i = 0; i < n; i++) {
    total += counts_at(counts, i);
  }
  return total;
}

/* Counts and pieces are those of the own group. */
static int check_scatter(const struct collective *c,
                         const struct arguments *a) {
  const int code = collective_check(c, a->receive);
  return !code && a->send == MPI_IN_PLACE && comm_is_inter(c->comm)
             ? MPI_ERR_ARG
             : code;
}

static int reduce_scatter(const struct collective *c, struct arguments *a,
                          struct counts counts) {
  int code = check_scatter(c, a);
  const int n = code ? 0 : c->comm->group->n;
  code = code ? code : check_counts(input(a), counts, n, a->type);
  if (code) {
    return collective_failed(c, code);
  }
  a->count = total_of(counts, n);
  return scatter(c, a, counts, 0);
}

static int reduce_scatter_block(const struct collective *c,
                                struct arguments *a) {
  int code = check_scatter(c, a);
  code = code ? code : check_buffer(input(a), a->count, a->type);
  const MPI_Count equal = a->count;
  if (code) {
    return collective_failed(c, code);
  }
  a->count = equal * c->comm->group->n;
  return scatter(c, a, counts_of(NULL), equal);
}

int pems_Reduce_scatter(const void *send, void *receive, struct counts counts,
                        MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const struct collective c = collective_make(comm, "MPI_Reduce_scatter", NULL);
  struct arguments a = arguments(send, receive, 0, type, op);
  return reduce_scatter(&c, &a, counts);
}

int pems_Ireduce_scatter(const void *send, void *receive, struct counts counts,
                         MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                         MPI_Request *request) {
  const struct collective c =
      collective_make(comm, "MPI_Ireduce_scatter", request);
  struct arguments a = arguments(send, receive, 0, type, op);
  return reduce_scatter(&c, &a, counts);
}

int pems_Reduce_scatter_block(const void *send, void *receive, MPI_Count count,
                              MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const struct collective c =
      collective_make(comm, "MPI_Reduce_scatter_block", NULL);
  struct arguments a = arguments(send, receive, count, type, op);
  return reduce_scatter_block(&c, &a);
}

int pems_Ireduce_scatter_block(const void *send, void *receive, MPI_Count count,
                               MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                               MPI_Request *request) {
  const struct collective c =
      collective_make(comm, "MPI_Ireduce_scatter_block", request);
  struct arguments a = arguments(send, receive, count, type, op);
  return reduce_scatter_block(&c, &a);
}

#if defined PEMS_MPI_HAS_Reduce_init
int pems_Reduce_init(const void *send, void *receive, MPI_Count count,
                     MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                     MPI_Info info, MPI_Request *request) {
  (void)info;
  const struct collective c =
      collective_make_init(comm, "MPI_Reduce_init", request);
  const struct arguments a = arguments(send, receive, count, type, op);
  return reduce(&c, &a, root);
}

int pems_Allreduce_init(const void *send, void *receive, MPI_Count count,
                        MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                        MPI_Info info, MPI_Request *request) {
  (void)info;
  const struct collective c =
      collective_make_init(comm, "MPI_Allreduce_init", request);
  const struct arguments a = arguments(send, receive, count, type, op);
  return symmetric(&c, FOLD_ALLREDUCE, &a);
}

int pems_Scan_init(const void *send, void *receive, MPI_Count count,
                   MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Info info,
                   MPI_Request *request) {
  (void)info;
  const struct collective c =
      collective_make_init(comm, "MPI_Scan_init", request);
  const struct arguments a = arguments(send, receive, count, type, op);
  return symmetric(&c, FOLD_SCAN, &a);
}

int pems_Exscan_init(const void *send, void *receive, MPI_Count count,
                     MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Info info,
                     MPI_Request *request) {
  (void)info;
  const struct collective c =
      collective_make_init(comm, "MPI_Exscan_init", request);
  const struct arguments a = arguments(send, receive, count, type, op);
  return symmetric(&c, FOLD_EXSCAN, &a);
}

int pems_Reduce_scatter_init(const void *send, void *receive,
                             struct counts counts, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm, MPI_Info info,
                             MPI_Request *request) {
  (void)info;
  const struct collective c =
      collective_make_init(comm, "MPI_Reduce_scatter_init", request);
  struct arguments a = arguments(send, receive, 0, type, op);
  return reduce_scatter(&c, &a, counts);
}

int pems_Reduce_scatter_block_init(const void *send, void *receive,
                                   MPI_Count count, MPI_Datatype type,
                                   MPI_Op op, MPI_Comm comm, MPI_Info info,
                                   MPI_Request *request) {
  (void)info;
  const struct collective c =
      collective_make_init(comm, "MPI_Reduce_scatter_block_init", request);
  struct arguments a = arguments(send, receive, count, type, op);
  return reduce_scatter_block(&c, &a);
}
#endif
