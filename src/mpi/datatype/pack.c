/* Packing: the communicator tells only the representation, which is one. */
#include "mpi/object/check.h"
#include "mpi/object/comm.h"
#include "mpi/object/comm_error.h"
#include "mpi_abi/functions.h"
#include "mpi_below/real.h"

int pems_Pack(const void *in, int count, MPI_Datatype type, void *out, int size,
              int *position, MPI_Comm comm) {
  int code = check_comm(comm);
  if (!code) {
    code = real.Pack(in, count, type, out, size, position, MPI_COMM_SELF);
  }
  return comm_error(comm, code, "MPI_Pack");
}

int pems_Pack_size(int count, MPI_Datatype type, MPI_Comm comm, int *size) {
  int code = check_comm(comm);
  if (!code) {
    code = real.Pack_size(count, type, MPI_COMM_SELF, size);
  }
  return comm_error(comm, code, "MPI_Pack_size");
}

int pems_Unpack(const void *in, int size, int *position, void *out, int count,
                MPI_Datatype type, MPI_Comm comm) {
  int code = check_comm(comm);
  if (!code) {
    code = real.Unpack(in, size, position, out, count, type, MPI_COMM_SELF);
  }
  return comm_error(comm, code, "MPI_Unpack");
}

#if defined PEMS_MPI_HAS_Pack_c
int pems_Pack_c(const void *in, MPI_Count count, MPI_Datatype type, void *out,
                MPI_Count size, MPI_Count *position, MPI_Comm comm) {
  int code = check_comm(comm);
  if (!code) {
    code = real.Pack_c(in, count, type, out, size, position, MPI_COMM_SELF);
  }
  return comm_error(comm, code, "MPI_Pack_c");
}

int pems_Pack_size_c(MPI_Count count, MPI_Datatype type, MPI_Comm comm,
                     MPI_Count *size) {
  int code = check_comm(comm);
  if (!code) {
    code = real.Pack_size_c(count, type, MPI_COMM_SELF, size);
  }
  return comm_error(comm, code, "MPI_Pack_size_c");
}

int pems_Unpack_c(const void *in, MPI_Count size, MPI_Count *position,
                  void *out, MPI_Count count, MPI_Datatype type,
                  MPI_Comm comm) {
  int code = check_comm(comm);
  if (!code) {
    code = real.Unpack_c(in, size, position, out, count, type, MPI_COMM_SELF);
  }
  return comm_error(comm, code, "MPI_Unpack_c");
}
#endif
