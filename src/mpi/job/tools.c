/* The tools' interface: variables that are bound to no object are the real
   library's. */
#include "mpi_abi/functions.h"
#include "mpi_below/real.h"

#include <stdbool.h>
#include <stddef.h>

/* Handles of the program's communicators, files, windows mean nothing to the
   real library. */
static bool is_bound(int bind) {
  return bind != MPI_T_BIND_NO_OBJECT;
}

int pems_T_cvar_handle_alloc(int index, void *object, MPI_T_cvar_handle *handle,
                             int *count) {
  int verbosity, bind, scope;
  MPI_Datatype type;
  MPI_T_enum values;
  const int code = real.T_cvar_get_info(index, NULL, NULL, &verbosity, &type,
                                        &values, NULL, NULL, &bind, &scope);
  if (code != MPI_SUCCESS) {
    return code;
  }
  return is_bound(bind)
             ? MPI_T_ERR_INVALID_HANDLE
             : real.T_cvar_handle_alloc(index, object, handle, count);
}

int pems_T_pvar_handle_alloc(MPI_T_pvar_session session, int index,
                             void *object, MPI_T_pvar_handle *handle,
                             int *count) {
  int verbosity, class, bind, readonly, continuous, atomic;
  MPI_Datatype type;
  MPI_T_enum values;
  const int code = real.T_pvar_get_info(index, NULL, NULL, &verbosity, &class,
                                        &type, &values, NULL, NULL, &bind,
                                        &readonly, &continuous, &atomic);
  if (code != MPI_SUCCESS) {
    return code;
  }
  return is_bound(bind)
             ? MPI_T_ERR_INVALID_HANDLE
             : real.T_pvar_handle_alloc(session, index, object, handle, count);
}
