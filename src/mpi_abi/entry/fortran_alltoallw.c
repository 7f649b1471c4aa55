/* Fortran's MPI_Alltoallw and MPI_Ialltoallw: how many datatypes there are, the
   MPI library's Fortran part reads from behind the communicator's handle. */
#include "mpi_abi/fortran.h"

#include "os/native.h"

#include <stdbool.h>
#include <stddef.h>

extern char mpi_fortran_in_place_ __attribute__((weak));
extern char mpi_fortran_bottom_ __attribute__((weak));

static void *buffer(char *given) {
  return given == &mpi_fortran_in_place_ ? MPI_IN_PLACE
         : given == &mpi_fortran_bottom_ ? MPI_BOTTOM
                                         : given;
}

static int peers(MPI_Comm comm, int *n) {
  int inter = 0;
  const int code = MPI_Comm_test_inter(comm, &inter);
  return code    ? code
         : inter ? MPI_Comm_remote_size(comm, n)
                 : MPI_Comm_size(comm, n);
}

static void convert(const MPI_Fint *from, MPI_Datatype *to, int n) {
  for (int i = 0; i < n; i++) {
    to[i] = MPI_Type_f2c(from[i]);
  }
}

/* What both functions are given. */
struct exchange {
  char *send;
  const MPI_Fint *send_counts, *send_displacements, *send_types;
  char *receive;
  const MPI_Fint *receive_counts, *receive_displacements, *receive_types;
  MPI_Comm comm;
};

/* `request` is NULL for the call that blocks. The datatypes are needed during
   the call only. */
static int exchange(const struct exchange *x, MPI_Request *request) {
  void *const send = buffer(x->send), *const receive = buffer(x->receive);
  int n = 0;
  int code = peers(x->comm, &n);
  if (code) {
    return code;
  }
  MPI_Datatype *const types =
      native_alloc((2 * (size_t)n + 1) * sizeof(*types));
  if (!types) {
    return fortran_no_memory();
  }
  if (send != MPI_IN_PLACE) {
    convert(x->send_types, types, n);
  }
  convert(x->receive_types, types + n, n);
  code = request ? MPI_Ialltoallw(send, x->send_counts, x->send_displacements,
                                  types, receive, x->receive_counts,
                                  x->receive_displacements, types + n, x->comm,
                                  request)
                 : MPI_Alltoallw(send, x->send_counts, x->send_displacements,
                                 types, receive, x->receive_counts,
                                 x->receive_displacements, types + n, x->comm);
  native_free(types);
  return code;
}

FORTRAN_ENTRY(alltoallw, ALLTOALLW, char *send, MPI_Fint *send_counts,
              MPI_Fint *send_displacements, MPI_Fint *send_types, char *receive,
              MPI_Fint *receive_counts, MPI_Fint *receive_displacements,
              MPI_Fint *receive_types, MPI_Fint *comm, MPI_Fint *ierr) {
  const struct exchange x = {send,
                             send_counts,
                             send_displacements,
                             send_types,
                             receive,
                             receive_counts,
                             receive_displacements,
                             receive_types,
                             MPI_Comm_f2c(*comm)};
  fortran_result(ierr, exchange(&x, NULL));
}

FORTRAN_ENTRY(ialltoallw, IALLTOALLW, char *send, MPI_Fint *send_counts,
              MPI_Fint *send_displacements, MPI_Fint *send_types, char *receive,
              MPI_Fint *receive_counts, MPI_Fint *receive_displacements,
              MPI_Fint *receive_types, MPI_Fint *comm, MPI_Fint *request,
              MPI_Fint *ierr) {
  const struct exchange x = {send,
                             send_counts,
                             send_displacements,
                             send_types,
                             receive,
                             receive_counts,
                             receive_displacements,
                             receive_types,
                             MPI_Comm_f2c(*comm)};
  MPI_Request c_request = MPI_REQUEST_NULL;
  const int code = exchange(&x, &c_request);
  if (code == MPI_SUCCESS) {
    *request = MPI_Request_c2f(c_request);
  }
  fortran_result(ierr, code);
}
