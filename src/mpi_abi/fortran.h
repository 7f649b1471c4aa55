/* Entry points of Fortran's MPI that libpems defines itself. All others are
   those of the MPI library's own Fortran part, which calls PMPI_X; these look
   into what handles point to, and here that is pems's. */
#ifndef PEMS_MPI_ABI_FORTRAN_H
#define PEMS_MPI_ABI_FORTRAN_H

#include "mpi_abi/abi.h"

#define FORTRAN_EXPORTED __attribute__((visibility("default")))
#define FORTRAN_ALIAS(name, target)                                            \
  FORTRAN_EXPORTED extern __typeof__(target) name                              \
      __attribute__((alias(FORTRAN_STRING(target))))
#define FORTRAN_STRING(name) #name

/* Begins the definition of PMPI_X under all the names by which Fortran
   compilers and the MPI library's modules (ABI_FORTRAN) know it; those of MPI_X
   are in names.S. */
#define FORTRAN_ENTRY(lower, upper, ...)                                       \
  FORTRAN_ENTRY_AS(ABI_FORTRAN(lower), lower, upper, __VA_ARGS__)
#define FORTRAN_ENTRY_AS(name, lower, upper, ...)                              \
  FORTRAN_EXPORTED void name(__VA_ARGS__);                                     \
  FORTRAN_ALIAS(pmpi_##lower, name);                                           \
  FORTRAN_ALIAS(pmpi_##lower##_, name);                                        \
  FORTRAN_ALIAS(pmpi_##lower##__, name);                                       \
  FORTRAN_ALIAS(PMPI_##upper, name);                                           \
  FORTRAN_EXPORTED void name(__VA_ARGS__)

/* The same for programs with mpi_f08, whose types are those of mpi.h but for
   handles, which are numbers. */
#define FORTRAN_ENTRY_F08(lower) FORTRAN_ENTRY_F08_AS(ABI_FORTRAN(lower), lower)
#define FORTRAN_ENTRY_F08_AS(name, lower)                                      \
  FORTRAN_ALIAS(pmpi_##lower##_f08_, name)

/* Values of LOGICAL. */
enum { FORTRAN_FALSE, FORTRAN_TRUE };

/* The variables whose addresses stand for constants. Absent where the MPI
   library was built without Fortran. */
extern MPI_Fint mpi_fortran_status_ignore_ __attribute__((weak));
extern MPI_Fint mpi_fortran_statuses_ignore_ __attribute__((weak));

/* A C program may leave out the error code: mpi_f08's modules do. */
static inline void fortran_result(MPI_Fint *ierr, int code) {
  if (ierr) {
    *ierr = code;
  }
}

/* Where the Fortran interface itself is short of memory: the program's error
   handler is told. */
static inline int fortran_no_memory(void) {
  MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_NO_MEM);
  return MPI_ERR_NO_MEM;
}

#endif
