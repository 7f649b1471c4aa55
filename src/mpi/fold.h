/* The engine of the collectives that compute (PEMS2, section 7.4): every VP
   contributes a vector; vectors are combined in the order of ranks, so that
   results do not depend on who ran when. */
#ifndef PEMS_MPI_FOLD_H
#define PEMS_MPI_FOLD_H

#include "vp/vp.h"

#include <mpi.h>

enum fold_kind {
  FOLD_REDUCE,    /* the result goes to the root */
  FOLD_ALLREDUCE, /* to everybody */
  FOLD_SCATTER,   /* piece i of the result to rank i */
  FOLD_SCAN,      /* to rank i that of ranks 0 .. i */
  FOLD_EXSCAN,    /* to rank i that of ranks 0 .. i - 1; rank 0 gets nothing */
};

struct fold {
  enum fold_kind kind;
  const void *in; /* count elements */
  void *out;      /* may be the same memory (MPI_IN_PLACE) */
  int count;
  MPI_Datatype type;
  MPI_Op op;
  int root;          /* for FOLD_REDUCE, else -1 */
  const int *counts; /* FOLD_SCATTER: elements per rank, summing to count */
  int equal_counts;  /* the same where all are equal and counts is NULL */
};

/* Makes the call on MPI_COMM_WORLD. Returns MPI_SUCCESS. */
int fold(struct vp *vp, const char *name, const struct fold *f);

#endif
