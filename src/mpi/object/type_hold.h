/* Datatypes of a rank that calls need under the handle that the program gave
   them, with its attributes: what the program frees meanwhile goes later. */
#ifndef PEMS_MPI_OBJECT_TYPE_HOLD_H
#define PEMS_MPI_OBJECT_TYPE_HOLD_H

#include <mpi.h>
#include <stdbool.h>

struct rank;

/* By the calling rank, as often as each other; no effect on what cannot be
   freed. The second one: true if nobody holds it any more, and the program has
   freed it, so that it is to go now. For who holds one: type_attribute_release.
 */
void type_hold(MPI_Datatype type);
bool type_hold_release(MPI_Datatype type);
/* The calling rank frees it: true if it is held, and goes later. */
bool type_hold_free_later(MPI_Datatype type);

/* At the rank's end. Nothing is called. */
void type_hold_end(struct rank *rank);

#endif
