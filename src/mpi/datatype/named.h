/* Predefined datatypes: known at a glance, since they are never freed. */
#ifndef PEMS_MPI_DATATYPE_NAMED_H
#define PEMS_MPI_DATATYPE_NAMED_H

#include "mpi/datatype/layout.h"

/* Its layout, if it is a predefined type that was asked for before by
   named_add; else NULL. */
const struct layout *named_layout(MPI_Datatype type);
/* Remembers a type that can be used, if it is predefined. */
void named_add(MPI_Datatype type);

/* The layout of any type. */
const struct layout *named_layout_of(MPI_Datatype type);
/* True for a layout that is to be released: the program may free the type
   before the span is done with. */
bool named_hold(MPI_Datatype type, struct layout_span *span);

#endif
