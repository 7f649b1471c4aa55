#include "cgm/machine.h"

#include <stdlib.h>

#include "cgm/fault.h"

enum { WORDS = 8, INTS = 4 }; /* for each rank */

/* The communicator's duplicate has its error handler in some MPIs, but other
   MPIs need not do so. */
static int duplicate(struct pems_cgm *m, MPI_Comm comm) {
  MPI_Errhandler handler;
  int error = MPI_Comm_dup(comm, &m->comm);
  if (error == MPI_SUCCESS) {
    error = MPI_Comm_get_errhandler(comm, &handler);
  }
  if (error != MPI_SUCCESS) {
    return error;
  }
  error = MPI_Comm_set_errhandler(m->comm, handler);
  MPI_Errhandler_free(&handler);
  MPI_Comm_rank(m->comm, &m->rank);
  MPI_Comm_size(m->comm, &m->size);
  return error;
}

/* Sets the arrays of a machine of that size. */
static int provide(struct pems_cgm *m) {
  const size_t v = (size_t)m->size;
  uint64_t *const block =
      malloc(v * (WORDS * sizeof(uint64_t) + INTS * sizeof(int)));
  if (block == NULL) {
    return MPI_ERR_NO_MEM;
  }
  m->block = block;
  m->plan.send = block;
  m->plan.send_at = block + v;
  m->plan.receive = block + 2 * v;
  m->plan.receive_at = block + 3 * v;
  m->words = block + 4 * v;
  m->ints = (int *)(block + WORDS * v);
  return MPI_SUCCESS;
}

int pems_cgm_open(struct pems_cgm **machine, MPI_Comm comm) {
  struct pems_cgm *const m = calloc(1, sizeof(*m));
  int size = 0;
  *machine = NULL;
  if (m == NULL) {
    MPI_Comm_call_errhandler(comm, MPI_ERR_NO_MEM);
    return MPI_ERR_NO_MEM;
  }
  /* Memory first: one that has none does not leave a communicator behind. */
  int error = MPI_Comm_size(comm, &size);
  m->size = size;
  if (error == MPI_SUCCESS && (error = provide(m)) != MPI_SUCCESS) {
    MPI_Comm_call_errhandler(comm, error);
  }
  if (error == MPI_SUCCESS) {
    error = duplicate(m, comm);
  }
  if (error != MPI_SUCCESS) {
    free(m->block);
    free(m);
    return error;
  }
  const char *const most = getenv("PEMS_TEST_CGM_MOST");
  m->most = most ? strtoull(most, NULL, 10) : PEMS_CGM_MOST;
  *machine = m;
  return MPI_SUCCESS;
}

int pems_cgm_close(struct pems_cgm *machine) {
  int error = MPI_SUCCESS;
  if (machine == NULL) {
    return MPI_SUCCESS;
  }
  while (machine->outer && error == MPI_SUCCESS) {
    error = pems_cgm_unpartition(machine);
  }
  if (error == MPI_SUCCESS) {
    error = MPI_Comm_free(&machine->comm);
  }
  free(machine->block);
  free(machine);
  return error;
}

int pems_cgm_rank(const struct pems_cgm *machine) {
  return machine->rank;
}

int pems_cgm_size(const struct pems_cgm *machine) {
  return machine->size;
}

MPI_Comm pems_cgm_comm(const struct pems_cgm *machine) {
  return machine->comm;
}

void pems_cgm_get_counts(const struct pems_cgm *machine,
                         struct pems_cgm_counts *counts) {
  *counts = machine->counts;
}

void pems_cgm_list_free(struct pems_cgm_list *list) {
  free(list->at);
  list->at = NULL;
  list->n = 0;
}

/* --- even shares --- */

uint64_t pems_cgm_first(const struct pems_cgm *machine, uint64_t total,
                        int rank) {
  const uint64_t v = (uint64_t)machine->size, r = (uint64_t)rank;
  const uint64_t longer = total % v;
  return total / v * r + (r < longer ? r : longer);
}

int pems_cgm_owner(const struct pems_cgm *machine, uint64_t total, uint64_t i) {
  const uint64_t v = (uint64_t)machine->size;
  const uint64_t base = total / v, longer = total % v;
  const uint64_t in_longer = longer * (base + 1);
  return (int)(i < in_longer ? i / (base + 1)
                             : longer + (i - in_longer) / base);
}

uint64_t pems_cgm_share(const struct pems_cgm *machine, uint64_t total) {
  return pems_cgm_first(machine, total, machine->rank + 1) -
         pems_cgm_first(machine, total, machine->rank);
}
