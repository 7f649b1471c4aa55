/* How a datatype was made. */
#ifndef PEMS_MPI_DATATYPE_CONTENTS_H
#define PEMS_MPI_DATATYPE_CONTENTS_H

#include <mpi.h>

/* What MPI_Type_get_contents tells about a datatype. All numbers are in one
   array, as the constructor has them: counts, blocks and places, in that order,
   and for arrays as MPI_Type_create_subarray and MPI_Type_create_darray. */
struct contents {
  int combiner;
  MPI_Count *n;
  MPI_Datatype *types;
  MPI_Count ntypes;
};

/* Of a derived type. 0, or -1: memory is short. */
int contents_get(struct contents *c, MPI_Datatype type);
void contents_release(struct contents *c);

#endif
