/* Error handlers that are Fortran's. The handle is the real library's, made for
   a function of C that is never called: see errhandler_call. */
#include "mpi_abi/fortran.h"

#include "mpi/object/comm.h"

#include <stddef.h>

/* The number of a communicator, window or file. */
static MPI_Fint number_of(void *handle) {
  if (handle == MPI_COMM_WORLD || handle == MPI_COMM_SELF) {
    return MPI_Comm_c2f(handle);
  }
  /* MPI_FILE_NULL and MPI_WIN_NULL are 0. */
  void *const object = ABI_OBJECT(handle);
  return handle_is(object, HANDLE_COMM) || handle_is(object, HANDLE_WIN) ||
                 handle_is(object, HANDLE_FILE)
             ? handle_c2f(object)
             : 0;
}

/* The program's subroutine has two INTEGERs. */
static void call(void *handle, int *code, const char *name,
                 void (*function)(void)) {
  MPI_Fint number = number_of(*(void **)handle);
  (void)name;
  ((void (*)(MPI_Fint *, MPI_Fint *))function)(&number, code);
}

static void give(MPI_Errhandler handle, int code, void (*function)(void),
                 MPI_Fint *number, MPI_Fint *ierr) {
  if (code == MPI_SUCCESS) {
    code = errhandler_note_for(&handle, function, call);
    if (code) {
      MPI_Comm_call_errhandler(MPI_COMM_WORLD, code);
    }
    *number = MPI_Errhandler_c2f(handle);
  }
  fortran_result(ierr, code);
}

FORTRAN_ENTRY(comm_create_errhandler, COMM_CREATE_ERRHANDLER,
              void (*function)(void), MPI_Fint *number, MPI_Fint *ierr) {
  MPI_Errhandler handle = MPI_ERRHANDLER_NULL;
  const int code = MPI_Comm_create_errhandler(
      (MPI_Comm_errhandler_function *)errhandler_stands_in, &handle);
  give(handle, code, function, number, ierr);
}

FORTRAN_ENTRY(errhandler_create, ERRHANDLER_CREATE, void (*function)(void),
              MPI_Fint *number, MPI_Fint *ierr) {
  ABI_FORTRAN(comm_create_errhandler)(function, number, ierr);
}

FORTRAN_ENTRY(win_create_errhandler, WIN_CREATE_ERRHANDLER,
              void (*function)(void), MPI_Fint *number, MPI_Fint *ierr) {
  MPI_Errhandler handle = MPI_ERRHANDLER_NULL;
  const int code = MPI_Win_create_errhandler(
      (MPI_Win_errhandler_function *)errhandler_stands_in, &handle);
  give(handle, code, function, number, ierr);
}

FORTRAN_ENTRY(file_create_errhandler, FILE_CREATE_ERRHANDLER,
              void (*function)(void), MPI_Fint *number, MPI_Fint *ierr) {
  MPI_Errhandler handle = MPI_ERRHANDLER_NULL;
  const int code = MPI_File_create_errhandler(
      (MPI_File_errhandler_function *)errhandler_stands_in, &handle);
  give(handle, code, function, number, ierr);
}
