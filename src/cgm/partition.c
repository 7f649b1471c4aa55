/* Groups of ranks, each a machine of its own. */
#include <stdlib.h>

#include "cgm/fault.h"

static int split(struct pems_cgm *m, int group) {
  MPI_Errhandler handler;
  MPI_Comm comm;
  int error = MPI_Comm_split(m->comm, group, m->rank, &comm);
  if (error == MPI_SUCCESS) {
    error = MPI_Comm_get_errhandler(m->comm, &handler);
  }
  if (error != MPI_SUCCESS) {
    return error;
  }
  error = MPI_Comm_set_errhandler(comm, handler);
  MPI_Errhandler_free(&handler);
  m->comm = comm;
  MPI_Comm_rank(comm, &m->rank);
  MPI_Comm_size(comm, &m->size);
  return error;
}

int pems_cgm_partition(struct pems_cgm *machine, int group) {
  struct pems_cgm *const outer = malloc(sizeof(*outer));
  if (group < 0) {
    pems_cgm_found(machine, MPI_ERR_ARG,
                   "pems_cgm_partition: group %d of rank %d: give 0 or more",
                   group, machine->rank);
  }
  if (outer == NULL) {
    pems_cgm_found(machine, MPI_ERR_NO_MEM,
                   "pems_cgm_partition: rank %d has no memory: use more ranks",
                   machine->rank);
  }
  int error = pems_cgm_agree(machine);
  if (error == MPI_SUCCESS) {
    *outer = *machine;
    error = split(machine, group);
  }
  if (error != MPI_SUCCESS) {
    free(outer);
    return error;
  }
  machine->outer = outer;
  return MPI_SUCCESS;
}

int pems_cgm_unpartition(struct pems_cgm *machine) {
  struct pems_cgm *const outer = machine->outer;
  if (outer == NULL) {
    return pems_cgm_fail(machine, MPI_ERR_ARG,
                         "pems_cgm_unpartition: of a whole machine: partition "
                         "it before");
  }
  const int error = MPI_Comm_free(&machine->comm);
  if (error != MPI_SUCCESS) {
    return error;
  }
  machine->comm = outer->comm;
  machine->rank = outer->rank;
  machine->size = outer->size;
  machine->outer = outer->outer;
  free(outer);
  return MPI_SUCCESS;
}
