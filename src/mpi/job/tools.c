/* The tools' interface: variables that are bound to no object are the real
   library's. It is begun there once for all ranks of the process, and never
   ended: some count without a lock and cannot begin it again, tell the level
   only to who begins it first, or lock or not as who has begun it last asked.
   (doc/design/mpi.md) */
#include "mpi/job/tools.h"

#include "mpi/object/rank.h"
#include "mpi_abi/functions.h"
#include "mpi_below/real.h"
#include "os/lock.h"

#include <stdatomic.h>
#include <stddef.h>

static struct {
  struct lock lock;
  bool begun;
  int level; /* that the real library provides */
} tools = {.lock = LOCK_INITIALIZER(LOCK_TOOLS)};

/* Ranks are threads, whatever one of them has asked for. */
static int begin_locked(void) {
  if (tools.begun) {
    return MPI_SUCCESS;
  }
  const int code = real.T_init_thread(MPI_THREAD_MULTIPLE, &tools.level);
  tools.begun = code == MPI_SUCCESS;
  return code;
}

int pems_T_init_thread(int required, int *provided) {
  if (required < MPI_THREAD_SINGLE || required > MPI_THREAD_MULTIPLE) {
    return MPI_T_ERR_INVALID;
  }
  lock_take(&tools.lock);
  const int code = begin_locked();
  lock_give(&tools.lock);
  if (code != MPI_SUCCESS) {
    return code;
  }
  rank_me()->tools++;
  if (provided) {
    *provided = required < tools.level ? required : tools.level;
  }
  return MPI_SUCCESS;
}

int pems_T_finalize(void) {
  atomic_int *const begun = &rank_me()->tools;
  int n = atomic_load(begun);
  while (n > 0 && !atomic_compare_exchange_weak(begun, &n, n - 1)) {
  }
  return n > 0 ? MPI_SUCCESS : MPI_T_ERR_NOT_INITIALIZED;
}

bool tools_ready(void) {
  return rank_me()->tools > 0;
}

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
  if (!tools_ready()) {
    return MPI_T_ERR_NOT_INITIALIZED;
  }
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
  if (!tools_ready()) {
    return MPI_T_ERR_NOT_INITIALIZED;
  }
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
