/* Attributes that programs hang on datatypes. The types are the real library's
   and, if predefined, the same for all VPs; their attributes are each VP's own,
   found by the type's handle: no locks. */
#ifndef PEMS_MPI_OBJECT_TYPE_ATTRIBUTE_H
#define PEMS_MPI_OBJECT_TYPE_ATTRIBUTE_H

#include "checkpoint/parcel.h"

#include <mpi.h>

struct rank;

/* The calling rank's call does not need a datatype any more, which it has held
   by type_hold: frees that with its attributes if the program has done so. */
void type_attribute_release(MPI_Datatype type);

/* At the rank's end: what is left on predefined types, and on those that the
   program has not freed. Nothing is called. */
void type_attribute_end(struct rank *rank);

/* In a checkpoint, behind its keyvals and types. The second one returns an
   errno value, or 0. */
void type_attributes_save(const struct rank *rank, struct parcel *to);
int type_attributes_load(struct rank *rank, struct parcel *from);

#endif
