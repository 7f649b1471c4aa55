/* Memory that the processes of a host share: a part of each. */
#ifndef PEMS_NET_BESIDE_H
#define PEMS_NET_BESIDE_H

#include <mpi.h>
#include <stddef.h>

#include "mpi_below/shared_memory.h"

struct beside {
  struct shared_memory memory;
  int n;       /* processes of this host */
  int me;      /* which of them this one is */
  int *all;    /* which process each of them is */
  void **part; /* of each; NULL: no memory can be shared */
};

/* Called by all processes of the communicator: each has a part of `bytes`, and
   `each` more for each process of its host, and calls `prepare` for it before
   others see it. Returns 0, or to all processes of the host an errno value:
   there is no memory to share, and there are no parts. */
int beside_create(struct beside *b, MPI_Comm comm, size_t bytes, size_t each,
                  void (*prepare)(const struct beside *b, void *own));
void beside_destroy(struct beside *b);

#endif
