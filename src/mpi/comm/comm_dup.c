/* Duplicates of communicators. No message is needed for them. As in the MPI
   below, hints are not duplicated. */
#include "mpi/comm/comm_make.h"
#include "mpi/object/attribute.h"
#include "mpi/object/comm_error.h"
#include "mpi/object/comm_info.h"
#include "mpi/object/topology.h"
#include "mpi/request/request.h"
#include "mpi_abi/functions.h"

static int duplicate(struct comm *comm, MPI_Info info, MPI_Comm *newcomm) {
  struct comm *made = NULL;
  struct topology *topology;
  int code =
      topology_copy(&topology, comm->topology) ? MPI_SUCCESS : MPI_ERR_NO_MEM;
  if (!code) {
    code = comm_make_next(comm, comm->group, comm->remote, topology, &made);
  }
  if (code) {
    *newcomm = MPI_COMM_NULL;
    return code;
  }
  code = comm_info_set(made, info);
  if (!code) {
    code =
        attributes_copy(comm_handle(comm), comm->attributes, &made->attributes);
  }
  if (code) {
    attributes_delete(comm_handle(made), &made->attributes);
    comm_free(made);
  }
  *newcomm = code ? MPI_COMM_NULL : comm_handle(made);
  return code;
}

int pems_Comm_dup(MPI_Comm handle, MPI_Comm *newcomm) {
  struct comm *comm = comm_of(handle);
  int code = !comm ? MPI_ERR_COMM : !newcomm ? MPI_ERR_ARG : MPI_SUCCESS;
  if (!code) {
    code = duplicate(comm, MPI_INFO_NULL, newcomm);
  }
  return comm_error(handle, code, "MPI_Comm_dup");
}

int pems_Comm_dup_with_info(MPI_Comm handle, MPI_Info info, MPI_Comm *newcomm) {
  struct comm *comm = comm_of(handle);
  int code = !comm      ? MPI_ERR_COMM
             : !info    ? MPI_ERR_INFO
             : !newcomm ? MPI_ERR_ARG
                        : MPI_SUCCESS;
  if (!code) {
    code = duplicate(comm, info, newcomm);
  }
  return comm_error(handle, code, "MPI_Comm_dup_with_info");
}

/* Done when it begins. */
static const struct request_class idup_class = {.name = "duplication",
                                                .past = true};

static int idup(MPI_Comm handle, MPI_Info info, MPI_Comm *newcomm,
                MPI_Request *request, const char *name) {
  struct comm *comm = comm_of(handle);
  int code = !comm                ? MPI_ERR_COMM
             : newcomm && request ? MPI_SUCCESS
                                  : MPI_ERR_ARG;
  struct request *r =
      code ? NULL
           : request_new(sizeof(struct request), &idup_class, comm, name);
  if (!code) {
    code = r ? duplicate(comm, info, newcomm) : MPI_ERR_NO_MEM;
  }
  if (code) {
    request_end(r);
  } else {
    request_done_now(r);
    *request = request_handle(r);
  }
  return comm_error(handle, code, name);
}

int pems_Comm_idup(MPI_Comm handle, MPI_Comm *newcomm, MPI_Request *request) {
  return idup(handle, MPI_INFO_NULL, newcomm, request, "MPI_Comm_idup");
}

#if defined PEMS_MPI_HAS_Comm_idup_with_info
int pems_Comm_idup_with_info(MPI_Comm handle, MPI_Info info, MPI_Comm *newcomm,
                             MPI_Request *request) {
  static const char name[] = "MPI_Comm_idup_with_info";
  return info ? idup(handle, info, newcomm, request, name)
              : comm_error(handle, MPI_ERR_INFO, name);
}
#endif
