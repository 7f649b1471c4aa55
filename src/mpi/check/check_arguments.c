#include "mpi/check/check_arguments.h"

#include "mpi/check/check_buffers.h"
#include "mpi/datatype/named.h"
#include "mpi/object/check.h"
#include "mpi/object/comm.h"
#include "mpi_abi/abi.h"

int check_data(const void *buffer, MPI_Count count, MPI_Datatype type) {
  if (count >= 0 && (buffer || !count) && named_layout(type)) {
    return MPI_SUCCESS;
  }
  if (!ABI_NOTHING_NEEDS_TYPE && !count && type == MPI_DATATYPE_NULL) {
    return MPI_SUCCESS;
  }
  const int code = check_buffer(buffer, count, type);
  if (!code) {
    named_add(type);
  }
  return code;
}

int check_send(const void *buffer, MPI_Count count, MPI_Datatype type, int to,
               int tag, MPI_Comm handle) {
  const struct comm *comm = comm_of(handle);
  if (!comm) {
    return MPI_ERR_COMM;
  }
  if (count < 0) {
    return MPI_ERR_COUNT;
  }
  if (tag < 0) {
    return MPI_ERR_TAG;
  }
  int code = check_peer(comm, to, false);
  code = code ? code : check_data(buffer, count, type);
  if (check_buffers_on && !code && to != MPI_PROC_NULL) {
    check_buffers_data(buffer, count, type, false, true);
  }
  return code;
}

int check_source(int from, int tag, MPI_Comm handle) {
  const struct comm *comm = comm_of(handle);
  if (!comm) {
    return MPI_ERR_COMM;
  }
  if (tag < 0 && tag != MPI_ANY_TAG) {
    return MPI_ERR_TAG;
  }
  return check_peer(comm, from, true);
}

int check_receive(const void *buffer, MPI_Count count, MPI_Datatype type,
                  int from, int tag, MPI_Comm handle) {
  if (!comm_of(handle)) {
    return MPI_ERR_COMM;
  }
  int code = check_data(buffer, count, type);
  code = code ? code : check_source(from, tag, handle);
  if (check_buffers_on && !code && from != MPI_PROC_NULL) {
    check_buffers_data(buffer, count, type, true, true);
  }
  return code;
}
