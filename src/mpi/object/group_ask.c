/* What programs ask about groups, and the end of a program's handle. */
#include "mpi/object/comm.h"
#include "mpi/object/comm_error.h"
#include "mpi/object/group.h"
#include "mpi_abi/functions.h"
#include "mpi_below/real.h"
#include "os/native.h"

static int failed(int code, const char *function) {
  return comm_error(MPI_COMM_WORLD, code, function);
}

int pems_Group_size(MPI_Group group, int *size) {
  const struct group *g = group_of(group);
  if (!g || !size) {
    return failed(g ? MPI_ERR_ARG : MPI_ERR_GROUP, "MPI_Group_size");
  }
  *size = g->n;
  return MPI_SUCCESS;
}

int pems_Group_rank(MPI_Group group, int *rank) {
  const struct group *g = group_of(group);
  if (!g || !rank) {
    return failed(g ? MPI_ERR_ARG : MPI_ERR_GROUP, "MPI_Group_rank");
  }
  *rank = group_rank(g, comm_me()->rank);
  return MPI_SUCCESS;
}

static int translate(const struct group *from, int n, const int *ranks,
                     const struct group *to, int *translated) {
  int *place = group_places(to);
  int code = place ? MPI_SUCCESS : MPI_ERR_NO_MEM;
  for (int i = 0; i < n && !code; i++) {
    if (!from->n || !to->n) {
      translated[i] = MPI_UNDEFINED; /* as the MPI below, MPI_PROC_NULL too */
    } else if (ranks[i] == MPI_PROC_NULL) {
      translated[i] = MPI_PROC_NULL;
    } else if (ranks[i] < 0 || ranks[i] >= from->n) {
      code = MPI_ERR_RANK;
    } else {
      const int rank = place[from->world[ranks[i]]];
      translated[i] = rank < 0 ? MPI_UNDEFINED : rank;
    }
  }
  native_free(place);
  return code;
}

int pems_Group_translate_ranks(MPI_Group group1, int n, const int ranks1[],
                               MPI_Group group2, int ranks2[]) {
  const struct group *a = group_of(group1), *b = group_of(group2);
  int code = !a || !b || n < 0           ? MPI_ERR_GROUP
             : n && (!ranks1 || !ranks2) ? ABI_CLASS_OF_NULL(MPI_ERR_GROUP)
                                         : MPI_SUCCESS;
  if (!code && n) {
    code = translate(a, n, ranks1, b, ranks2);
  }
  return failed(code, "MPI_Group_translate_ranks");
}

int pems_Group_compare(MPI_Group group1, MPI_Group group2, int *result) {
  const struct group *a = group_of(group1), *b = group_of(group2);
  if (!a || !b || !result) {
    return failed(a && b ? MPI_ERR_ARG : MPI_ERR_GROUP, "MPI_Group_compare");
  }
  return failed(group_compare(a, b, result), "MPI_Group_compare");
}

int pems_Group_free(MPI_Group *group) {
  struct group *g = group ? group_of(*group) : NULL;
  if (!g) {
    return failed(MPI_ERR_GROUP, "MPI_Group_free");
  }
  group_release(g);
  *group = MPI_GROUP_NULL;
  return MPI_SUCCESS;
}

int pems_Comm_group(MPI_Comm handle, MPI_Group *group) {
  const struct comm *comm = comm_of(handle);
  if (!comm || !group) {
    return comm_error(handle, comm ? MPI_ERR_ARG : MPI_ERR_COMM,
                      "MPI_Comm_group");
  }
  return comm_error(handle, group_give(comm->group, group), "MPI_Comm_group");
}

int pems_Comm_remote_group(MPI_Comm handle, MPI_Group *group) {
  const struct comm *comm = comm_of(handle);
  if (!comm || !group || !comm_is_inter(comm)) {
    return comm_error(handle, comm && !group ? MPI_ERR_ARG : MPI_ERR_COMM,
                      "MPI_Comm_remote_group");
  }
  return comm_error(handle, group_give(comm->remote, group),
                    "MPI_Comm_remote_group");
}
