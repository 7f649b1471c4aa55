/* What programs ask about communicators, what they note on them. */
#include "mpi/object/comm.h"
#include "mpi/object/comm_error.h"
#include "mpi/object/naming.h"
#include "mpi/object/topology.h"
#include "mpi_abi/functions.h"
#include "mpi_below/real.h"
#include "os/native.h"

#include <stdio.h>
#include <string.h>

static int check(const struct comm *comm, const void *out) {
  return !comm ? MPI_ERR_COMM : !out ? MPI_ERR_ARG : MPI_SUCCESS;
}

int pems_Comm_remote_size(MPI_Comm handle, int *size) {
  const struct comm *comm = comm_of(handle);
  const int code = check(comm, size);
  if (!code) {
    *size = comm_is_inter(comm) ? comm->remote->n : 0;
  }
  return comm_error(handle, code, "MPI_Comm_remote_size");
}

int pems_Comm_test_inter(MPI_Comm handle, int *flag) {
  const struct comm *comm = comm_of(handle);
  const int code = check(comm, flag);
  if (!code) {
    *flag = comm_is_inter(comm);
  }
  return comm_error(handle, code, "MPI_Comm_test_inter");
}

/* MPI_IDENT becomes MPI_CONGRUENT: the constants grow with the difference. */
static int congruent(int compared) {
  return compared == MPI_IDENT ? MPI_CONGRUENT : compared;
}

static int compare(const struct comm *a, const struct comm *b, int *result) {
  if (a->team == b->team) {
    *result = MPI_IDENT;
    return MPI_SUCCESS;
  }
  if (comm_is_inter(a) != comm_is_inter(b)) {
    *result = MPI_UNEQUAL;
    return MPI_SUCCESS;
  }
  int own, remote = MPI_IDENT;
  int code = group_compare(a->group, b->group, &own);
  if (!code && comm_is_inter(a)) {
    code = group_compare(a->remote, b->remote, &remote);
  }
  if (!code) {
    *result = congruent(own > remote ? own : remote);
  }
  return code;
}

int pems_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int *result) {
  const struct comm *a = comm_of(comm1), *b = comm_of(comm2);
  int code = !a || !b ? MPI_ERR_COMM : check(a, result);
  if (!code) {
    code = compare(a, b, result);
  }
  return comm_error(a && b ? comm1 : MPI_COMM_WORLD, code, "MPI_Comm_compare");
}

int pems_Comm_get_parent(MPI_Comm *parent) {
  if (!parent) {
    return comm_error(MPI_COMM_WORLD, MPI_ERR_ARG, "MPI_Comm_get_parent");
  }
  *parent = comm_handle(rank_me()->parent);
  return MPI_SUCCESS;
}

/* --- names and hints --- */

int pems_Comm_set_name(MPI_Comm handle, const char *name) {
  struct comm *comm = comm_of(handle);
  const int code = check(comm, name);
  if (!code) {
    snprintf(comm->name, sizeof(comm->name), "%s", name);
  }
  return comm_error(handle, code, "MPI_Comm_set_name");
}

int pems_Comm_get_name(MPI_Comm handle, char *name, int *length) {
  if (MPI_VERSION >= 4 && handle == MPI_COMM_NULL && name && length) {
    name_give("MPI_COMM_NULL", name, length);
    return MPI_SUCCESS;
  }
  const struct comm *comm = comm_of(handle);
  const int code = check(comm, name && length ? name : NULL);
  if (!code) {
    name_give(comm->name, name, length);
  }
  return comm_error(handle, code, "MPI_Comm_get_name");
}

int pems_Topo_test(MPI_Comm handle, int *status) {
  const struct comm *comm = comm_of(handle);
  const int code = !comm ? MPI_ERR_COMM : !status ? MPI_ERR_ARG : MPI_SUCCESS;
  if (!code) {
    *status = comm->topology ? comm->topology->kind : MPI_UNDEFINED;
  }
  return comm_error(handle, code, "MPI_Topo_test");
}
