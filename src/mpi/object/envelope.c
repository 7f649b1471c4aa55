#include "mpi/object/envelope.h"

#include "mpi_below/real.h"

struct envelope envelope_of(MPI_Datatype type) {
  struct envelope e = {0};
#if defined REAL_HAS_Type_get_envelope_c
  real.Type_get_envelope_c(type, &e.ints, &e.addresses, &e.large, &e.types,
                           &e.combiner);
#else
  int ints = 0, addresses = 0, types = 0;
  real.Type_get_envelope(type, &ints, &addresses, &types, &e.combiner);
  e.ints = ints;
  e.addresses = addresses;
  e.types = types;
#endif
  return e;
}

bool envelope_is_predefined(const struct envelope *e) {
  return e->combiner == MPI_COMBINER_NAMED ||
         e->combiner == MPI_COMBINER_F90_REAL ||
         e->combiner == MPI_COMBINER_F90_COMPLEX ||
         e->combiner == MPI_COMBINER_F90_INTEGER;
}

bool envelope_is_given(MPI_Datatype type) {
  const struct envelope e = envelope_of(type);
  return envelope_is_predefined(&e);
}

int envelope_contents(const struct envelope *e, MPI_Datatype type, int *ints,
                      MPI_Aint *addresses, MPI_Count *large,
                      MPI_Datatype *types) {
#if defined REAL_HAS_Type_get_envelope_c
  return real.Type_get_contents_c(type, e->ints, e->addresses, e->large,
                                  e->types, ints, addresses, large, types);
#else
  (void)large;
  return real.Type_get_contents(type, (int)e->ints, (int)e->addresses,
                                (int)e->types, ints, addresses, types);
#endif
}

void envelope_release(MPI_Datatype *types, MPI_Count n) {
  for (MPI_Count i = 0; i < n; i++) {
    const struct envelope e = envelope_of(types[i]);
    if (!envelope_is_predefined(&e)) {
      real.Type_free(&types[i]);
    }
  }
}
