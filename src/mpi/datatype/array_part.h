/* Parts of arrays: numbers as the constructors of MPI have them. */
#ifndef PEMS_MPI_DATATYPE_ARRAY_PART_H
#define PEMS_MPI_DATATYPE_ARRAY_PART_H

#include "mpi/datatype/segments.h"

/* MPI_Type_create_subarray: number of dimensions, sizes, sizes of the part,
   starts, order. */
void array_part_add_subarray(struct segments *l, const struct layout *element,
                             const MPI_Count *n);
/* MPI_Type_create_darray: processes, rank, number of dimensions, sizes,
   distributions, arguments of these, processes along each, order. */
void array_part_add_darray(struct segments *l, const struct layout *element,
                           const MPI_Count *n);

#endif
