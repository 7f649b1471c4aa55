#include "mpi/datatype/contents.h"

#include <stdbool.h>
#include <stdlib.h>

#include "mpi/object/envelope.h"

/* Puts the numbers into the order of the constructor. Of a type made with large
   counts only arrays have ints: those of MPI_Type_create_subarray_c end with
   the order; those of MPI_Type_create_darray_c have all but the sizes. */
static void arrange(struct contents *c, const struct envelope *e,
                    const int *ints, const MPI_Aint *addresses,
                    const MPI_Count *large) {
  MPI_Count *to = c->n;
  const MPI_Count first = !e->large                              ? e->ints
                          : c->combiner == MPI_COMBINER_SUBARRAY ? 1
                          : c->combiner == MPI_COMBINER_DARRAY   ? 3
                                                                 : 0;
  for (MPI_Count i = 0; i < first; i++) {
    *to++ = ints[i];
  }
  for (MPI_Count i = 0; i < e->large; i++) {
    *to++ = large[i];
  }
  for (MPI_Count i = first; i < e->ints; i++) {
    *to++ = ints[i];
  }
  for (MPI_Count i = 0; i < e->addresses; i++) {
    *to++ = addresses[i];
  }
}

void contents_release(struct contents *c) {
  envelope_release(c->types, c->ntypes);
  free(c->n);
  free(c->types);
}

int contents_get(struct contents *c, MPI_Datatype type) {
  const struct envelope e = envelope_of(type);
  int *ints = calloc((size_t)e.ints + 1, sizeof(*ints));
  MPI_Aint *addresses = calloc((size_t)e.addresses + 1, sizeof(*addresses));
  MPI_Count *large = calloc((size_t)e.large + 1, sizeof(*large));
  *c = (struct contents){
      .combiner = e.combiner,
      .n = calloc((size_t)(e.ints + e.addresses + e.large) + 1, sizeof(*c->n)),
      .types = calloc((size_t)e.types + 1, sizeof(*c->types))};
  const bool got = ints && addresses && large && c->n && c->types &&
                   envelope_contents(&e, type, ints, addresses, large,
                                     c->types) == MPI_SUCCESS;
  if (got) {
    c->nn = e.ints + e.addresses + e.large;
    c->large = e.large > 0;
    c->ntypes = e.types;
    arrange(c, &e, ints, addresses, large);
  } else {
    contents_release(c);
  }
  free(ints);
  free(addresses);
  free(large);
  return got ? 0 : -1;
}
