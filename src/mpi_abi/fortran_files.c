/* The numbers of files, whose handles are addresses in all ABIs: Fortran's, and
   those of MPI 5's MPI_File_toint. */
#include "mpi_abi/abi.h"
#include "mpi_abi/functions.h"
#include "mpi_abi/handle.h"
#include "mpi_below/real.h"

#include <stddef.h>

static int number_of(MPI_File file, int null) {
  void *const object = ABI_OBJECT(file);
  if (file == MPI_FILE_NULL) {
    return null;
  }
  return handle_is(object, HANDLE_FILE) ? handle_c2f(object) : -1;
}

static MPI_File numbered(int number) {
  struct handle *const h = handle_f2c(HANDLE_FILE, number);
  return h ? ABI_HANDLE(MPI_File, h) : MPI_FILE_NULL;
}

#if defined PEMS_MPI_HAS_File_c2f
MPI_Fint pems_File_c2f(MPI_File file) {
  return number_of(file, real.File_c2f(MPI_FILE_NULL));
}

MPI_File pems_File_f2c(MPI_Fint number) {
  return numbered(number);
}
#endif

#if defined PEMS_MPI_HAS_File_toint
int pems_File_toint(MPI_File file) {
  return number_of(file, real.File_toint(MPI_FILE_NULL));
}

MPI_File pems_File_fromint(int number) {
  return numbered(number);
}
#endif
