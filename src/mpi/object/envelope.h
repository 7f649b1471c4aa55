/* How a datatype was made: MPI_Type_get_envelope and MPI_Type_get_contents, for
   those made with large counts, too. Thread-safe. */
#ifndef PEMS_MPI_OBJECT_ENVELOPE_H
#define PEMS_MPI_OBJECT_ENVELOPE_H

#include <mpi.h>
#include <stdbool.h>

/* How many numbers of each kind, and datatypes, its constructor was given. */
struct envelope {
  int combiner;
  MPI_Count ints, addresses, large, types;
};

struct envelope envelope_of(MPI_Datatype type);
/* One that must not be freed, and has no contents. */
bool envelope_is_predefined(const struct envelope *e);
/* The type itself is such a one. */
bool envelope_is_given(MPI_Datatype type);
/* Fills arrays of as many as the envelope says. Returns an error class. */
int envelope_contents(const struct envelope *e, MPI_Datatype type, int *ints,
                      MPI_Aint *addresses, MPI_Count *large,
                      MPI_Datatype *types);
/* Frees those of the datatypes of envelope_contents that are not predefined. */
void envelope_release(MPI_Datatype *types, MPI_Count n);

#endif
