/* How a datatype was made. */
#ifndef PEMS_MPI_DATATYPE_CONTENTS_H
#define PEMS_MPI_DATATYPE_CONTENTS_H

#include <mpi.h>
#include <stdbool.h>

/* What MPI_Type_get_contents tells about a datatype. All numbers are in one
   array, as the constructor has them: counts, blocks and places, in that order,
   and for arrays as MPI_Type_create_subarray and MPI_Type_create_darray. */
struct contents {
  int combiner;
  MPI_Count *n;
  MPI_Count nn; /* numbers there */
  MPI_Datatype *types;
  MPI_Count ntypes;
  bool large; /* the constructor was one for large counts */
};

/* Of a derived type. 0, or -1: memory is short. */
int contents_get(struct contents *c, MPI_Datatype type);
void contents_release(struct contents *c);

/* Can a type be made of that anew? */
bool contents_make_knows(int combiner);
/* Makes it. An error class. */
int contents_make(const struct contents *c, MPI_Datatype *made);

#endif
