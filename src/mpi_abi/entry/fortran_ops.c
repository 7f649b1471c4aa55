/* Operations that are Fortran's: the library's own Fortran part marks what is
   behind the handle. */
#define _GNU_SOURCE
#include "mpi_abi/fortran.h"

#include "mpi/object/op.h"
#include "mpi_abi/carried.h"

#include <dlfcn.h>
#include <stddef.h>

typedef void create(void (*function)(void), MPI_Fint *commute, MPI_Fint *number,
                    MPI_Fint *ierr);

/* Where handles are the real library's. */
static create *of_real(void) {
  static create *found;
  if (!found) {
    *(void **)&found = dlsym(RTLD_NEXT, "ompi_op_create_f");
  }
  return found;
}

FORTRAN_ENTRY(op_create, OP_CREATE, void (*function)(void), MPI_Fint *commute,
              MPI_Fint *number, MPI_Fint *ierr) {
  MPI_Op op = MPI_OP_NULL;
  if (!handles_fixed) {
    of_real()(function, commute, number, ierr);
    return;
  }
  const int code = MPI_Op_create((MPI_User_function *)function,
                                 *commute != FORTRAN_FALSE, &op);
  if (code == MPI_SUCCESS) {
    (void)op_set_fortran(carried_real_Op(op));
    *number = MPI_Op_c2f(op);
  }
  fortran_result(ierr, code);
}
