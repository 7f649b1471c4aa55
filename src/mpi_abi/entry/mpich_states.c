/* What MPICH 5's library for Fortran (libmpifort) makes error handlers by:
   functions of C that get a state besides, in which that library has the
   program's subroutine. */
#include "mpi_abi/functions.h"

#if defined PEMS_MPI_HAS_X_Comm_create_errhandler_x

#include "base/need.h"
#include "mpi/object/comm_error.h"
#include "mpi/object/errhandler.h"
#include "mpi_below/real.h"

/* What is noted as the function. It lives to the end of the job: an object may
   have the handler after the program has freed it; so the state, some bytes in
   the rank's memory, is not given back either. */
struct stateful {
  void (*function)(void);
  void *state;
};

/* Communicators, windows and sessions are numbers, files are addresses. */
static void call_number(void *handle, int *code, const char *name,
                        void (*function)(void)) {
  const struct stateful *const s = (struct stateful *)function;
  (void)name;
  ((MPIX_Comm_errhandler_function_x *)s->function)(*(MPI_Comm *)handle, *code,
                                                   s->state);
}

static void call_file(void *handle, int *code, const char *name,
                      void (*function)(void)) {
  const struct stateful *const s = (struct stateful *)function;
  (void)name;
  ((MPIX_File_errhandler_function_x *)s->function)(*(MPI_File *)handle, *code,
                                                   s->state);
}

/* The real one has been made, unless there is an error code. */
static int give(int code, struct stateful what, errhandler_caller *caller,
                MPI_Errhandler *handle, const char *name) {
  if (!code) {
    struct stateful *const s = need_alloc(sizeof(*s), "error handler");
    *s = what;
    code = errhandler_note_outside(handle, (void (*)(void))s, caller);
  }
  return comm_error(MPI_COMM_WORLD, code, name);
}

#define STATEFUL(kind, caller)                                                 \
  int pems_X_##kind##_create_errhandler_x(                                     \
      MPIX_##kind##_errhandler_function_x *function,                           \
      MPIX_Destructor_function *destructor, void *state,                       \
      MPI_Errhandler *handle) {                                                \
    (void)destructor;                                                          \
    const int code = real.kind##_create_errhandler(                            \
        (MPI_##kind##_errhandler_function *)errhandler_stands_in, handle);     \
    return give(code, (struct stateful){(void (*)(void))function, state},      \
                caller, handle, "MPI_" #kind "_create_errhandler");            \
  }
STATEFUL(Comm, call_number)
STATEFUL(Win, call_number)
STATEFUL(File, call_file)
STATEFUL(Session, call_number)

#else
typedef int mpich_states_for_mpich_5;
#endif
