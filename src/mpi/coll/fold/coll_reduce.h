/* The engine of the collectives that compute (PEMS2, section 7.4): members
   contribute vectors; vectors are combined in the order of ranks, so that
   results do not depend on who ran when. */
#ifndef PEMS_MPI_COLL_FOLD_COLL_REDUCE_H
#define PEMS_MPI_COLL_FOLD_COLL_REDUCE_H

#include "mpi/coll/call/coll.h"
#include "mpi/request/request.h"
#include "mpi_abi/counts.h"

#include <mpi.h>

enum coll_reduce_kind {
  FOLD_REDUCE,    /* the result goes to the root */
  FOLD_ALLREDUCE, /* to everybody */
  FOLD_SCATTER,   /* piece i of the result to rank i */
  FOLD_SCAN,      /* to rank i that of ranks 0 .. i */
  FOLD_EXSCAN,    /* to rank i that of ranks 0 .. i - 1; rank 0 gets nothing */
};

struct coll_reduce {
  enum coll_reduce_kind kind;
  const void *in; /* count elements */
  void *out;      /* may be the same memory (MPI_IN_PLACE) */
  size_t count;
  MPI_Datatype type;
  MPI_Op op;
  int root;             /* FOLD_REDUCE: its peer number */
  struct counts counts; /* FOLD_SCATTER: elements per rank of the own group,
                        summing to count; copied */
  size_t equal_counts;  /* the same where all are equal: no array */
  bool idle;      /* MPI_PROC_NULL on an inter-communicator: the rank neither
                     gives nor gets, and the rest is not defined */
  bool gets_only; /* MPI_ROOT: `in` is not defined */
};

/* Makes the call; `root` (of the call) is what all members must agree on. On an
   inter-communicator each group gets what the other one gives; for FOLD_REDUCE
   the root gets it. Returns MPI_SUCCESS. */
int coll_reduce(struct comm *comm, const char *name, int root,
                const struct coll_reduce *f);
/* Its request, or NULL if memory is short, as of coll_move_start. */
struct request *coll_reduce_start(const struct coll_call *call,
                                  const struct coll_reduce *f);

#endif
