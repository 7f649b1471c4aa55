/* Memory that the processes of a host share: a part of each. */
#ifndef PEMS_NET_BESIDE_H
#define PEMS_NET_BESIDE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

struct beside {
  MPI_Win win; /* MPI_WIN_NULL: no memory can be shared */
  int n;       /* processes of this host */
  int me;      /* which of them this one is */
  int *all;    /* which process each of them is */
  void **part; /* of each */
};

/* Called by all processes of the communicator: each has a part of `bytes`, and
   `each` more for each process of its host, and calls `prepare` for it before
   others see it. Without memory to share, there are no parts. */
void beside_create(struct beside *b, MPI_Comm comm, size_t bytes, size_t each,
                   void (*prepare)(const struct beside *b, void *own));
void beside_destroy(struct beside *b);

#endif
