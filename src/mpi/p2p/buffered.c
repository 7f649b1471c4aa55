#include "mpi/p2p/buffered.h"

#include "mpi/datatype/layout.h"
#include "mpi/datatype/named.h"
#include "mpi/object/comm.h"
#include "mpi/p2p/outgoing.h"
#include "mpi_abi/functions.h"
#include "os/native.h"

#include <string.h>

struct buffered {
  void *address;
  int size; /* bytes */
};

int buffered_check(int count, MPI_Datatype type) {
  const struct buffered *b = rank_me()->buffered;
  return b && (size_t)count * named_layout_of(type)->size <= (size_t)b->size
             ? MPI_SUCCESS
             : MPI_ERR_BUFFER;
}

int pems_Buffer_attach(void *address, int size) {
  struct rank *rank = rank_me();
  int code = !address || size < 0 ? MPI_ERR_ARG : MPI_SUCCESS;
  if (!code && rank->buffered) {
    code = MPI_ERR_BUFFER;
  }
  if (code) {
    return comm_error(MPI_COMM_WORLD, code, "MPI_Buffer_attach");
  }
  rank->buffered = native_alloc(sizeof(*rank->buffered));
  if (!rank->buffered) {
    return comm_error(MPI_COMM_WORLD, MPI_ERR_NO_MEM, "MPI_Buffer_attach");
  }
  *rank->buffered = (struct buffered){address, size};
  return MPI_SUCCESS;
}

int pems_Buffer_detach(void *address, int *size) {
  struct rank *rank = rank_me();
  int code = !address || !size ? MPI_ERR_ARG : MPI_SUCCESS;
  if (!code && !rank->buffered) {
    code = MPI_ERR_BUFFER;
  }
  if (code) {
    return comm_error(MPI_COMM_WORLD, code, "MPI_Buffer_detach");
  }
  /* `address` points to a pointer of any type. */
  memcpy(address, &rank->buffered->address, sizeof(void *));
  *size = rank->buffered->size;
  native_free(rank->buffered);
  rank->buffered = NULL;
  return MPI_SUCCESS;
}
