/* From one to all, from all to one, and from all to all. */
#include <stdbool.h>
#include <string.h>

#include "cgm/exchange.h"
#include "cgm/fault.h"
#include "cgm/memory.h"

static int check_rank(struct pems_cgm *m, int rank, const char *function) {
  if (rank >= 0 && rank < m->size) {
    return MPI_SUCCESS;
  }
  return pems_cgm_fail(m, MPI_ERR_ARG, "%s: rank %d: give 0 to %d", function,
                       rank, m->size - 1);
}

/* --- one to all --- */

static int bcast_elements(struct pems_cgm *m, int source,
                          const struct pems_cgm_list *list) {
  const bool few = list->n <= m->most;
  MPI_Datatype type;
  int error = few ? pems_cgm_element(list->size, &type)
                  : pems_cgm_type(m, list->size, 0, list->n, &type);
  if (error != MPI_SUCCESS) {
    return error;
  }
  m->counts.supersteps++;
  if (m->rank == source) {
    m->counts.bytes += ((uint64_t)m->size - 1) * list->n * list->size;
  }
  error = MPI_Bcast(list->at, few ? (int)list->n : 1, type, source, m->comm);
  MPI_Type_free(&type);
  return error;
}

int pems_cgm_one_to_all_bcast(struct pems_cgm *machine, int source,
                              struct pems_cgm_list *list) {
  int error = check_rank(machine, source, "pems_cgm_one_to_all_bcast");
  if (error != MPI_SUCCESS) {
    return error;
  }
  if (machine->rank != source) {
    pems_cgm_list_free(list);
  }
  error = pems_cgm_check(machine, list, "pems_cgm_one_to_all_bcast");
  if (error != MPI_SUCCESS) {
    return error;
  }
  uint64_t word = pems_cgm_tell(machine, list->n);
  machine->counts.supersteps++;
  error = MPI_Bcast(&word, 1, MPI_UINT64_T, source, machine->comm);
  if (error != MPI_SUCCESS) {
    return error;
  }
  if (pems_cgm_told_fault(word)) {
    return pems_cgm_fail_all(machine, source, pems_cgm_told_fault(word));
  }
  const uint64_t n = pems_cgm_told_number(word);
  if (machine->rank != source && pems_cgm_allocate(machine, list, n) != 0) {
    return pems_cgm_fail_here(machine);
  }
  return n > 0 ? bcast_elements(machine, source, list) : MPI_SUCCESS;
}

/* --- all to one --- */

/* All displacements fit an int. */
static int gather_few(struct pems_cgm *m, int target,
                      const struct pems_cgm_list *list, void *to) {
  int *const counts = pems_cgm_ints(m, m->plan.receive, 0);
  int *const places = pems_cgm_ints(m, m->plan.receive_at, 1);
  MPI_Datatype type;
  int error = pems_cgm_element(list->size, &type);
  if (error != MPI_SUCCESS) {
    return error;
  }
  m->counts.supersteps++;
  if (m->rank != target) {
    m->counts.bytes += list->n * list->size;
  }
  error = MPI_Gatherv(list->at, (int)list->n, type, to, counts, places, type,
                      target, m->comm);
  MPI_Type_free(&type);
  return error;
}

/* As a relation in which only the target receives. */
static int gather_many(struct pems_cgm *m, int target,
                       const struct pems_cgm_list *list, void *to) {
  const size_t bytes = (size_t)m->size * sizeof(uint64_t);
  memset(m->plan.send, 0, bytes);
  memset(m->plan.send_at, 0, bytes);
  if (m->rank != target) {
    memset(m->plan.receive, 0, bytes);
  }
  m->plan.send[target] = list->n;
  return pems_cgm_exchange(m, list->size, list->at, to);
}

int pems_cgm_all_to_one_gather(struct pems_cgm *machine, int target,
                               struct pems_cgm_list *list) {
  struct pems_cgm_plan *const plan = &machine->plan;
  struct pems_cgm_list all = {.size = list->size};
  int error = check_rank(machine, target, "pems_cgm_all_to_one_gather");
  if (error == MPI_SUCCESS) {
    error = pems_cgm_check(machine, list, "pems_cgm_all_to_one_gather");
  }
  if (error == MPI_SUCCESS) {
    error = pems_cgm_exchange_lengths(machine, list->n);
  }
  if (error != MPI_SUCCESS || plan->total == 0) {
    return error;
  }
  pems_cgm_line_up(machine, plan->receive, plan->receive_at);
  if (machine->rank == target &&
      pems_cgm_allocate(machine, &all, plan->total) != 0) {
    return pems_cgm_fail_here(machine);
  }
  error = plan->total <= machine->most
              ? gather_few(machine, target, list, all.at)
              : gather_many(machine, target, list, all.at);
  if (error != MPI_SUCCESS) {
    pems_cgm_list_free(&all);
    return error;
  }
  pems_cgm_list_free(list);
  *list = all;
  return MPI_SUCCESS;
}

/* --- all to all --- */

/* In place: the rank's own elements lie where they belong. */
static int allgather_few(struct pems_cgm *m, const struct pems_cgm_list *list) {
  int *const counts = pems_cgm_ints(m, m->plan.receive, 0);
  int *const places = pems_cgm_ints(m, m->plan.receive_at, 1);
  MPI_Datatype type;
  int error = pems_cgm_element(list->size, &type);
  if (error != MPI_SUCCESS) {
    return error;
  }
  m->counts.supersteps++;
  m->counts.bytes +=
      ((uint64_t)m->size - 1) * m->plan.receive[m->rank] * list->size;
  error = MPI_Allgatherv(MPI_IN_PLACE, 0, type, list->at, counts, places, type,
                         m->comm);
  MPI_Type_free(&type);
  return error;
}

/* As a relation in which nothing moves from a rank to itself. */
static int allgather_many(struct pems_cgm *m,
                          const struct pems_cgm_list *list) {
  const struct pems_cgm_plan *const plan = &m->plan;
  for (int r = 0; r < m->size; r++) {
    plan->send[r] = plan->receive[m->rank];
    plan->send_at[r] = plan->receive_at[m->rank];
  }
  plan->send[m->rank] = plan->receive[m->rank] = 0;
  return pems_cgm_exchange(m, list->size, list->at, list->at);
}

int pems_cgm_all_to_all_bcast(struct pems_cgm *machine,
                              struct pems_cgm_list *list) {
  const struct pems_cgm_plan *const plan = &machine->plan;
  int error = pems_cgm_check(machine, list, "pems_cgm_all_to_all_bcast");
  if (error == MPI_SUCCESS) {
    error = pems_cgm_exchange_lengths(machine, list->n);
  }
  if (error != MPI_SUCCESS || plan->total == 0) {
    return error;
  }
  pems_cgm_line_up(machine, plan->receive, plan->receive_at);
  if (pems_cgm_reserve(machine, list, plan->total) != 0) {
    return pems_cgm_fail_here(machine);
  }
  memmove(pems_cgm_at(list, plan->receive_at[machine->rank]), list->at,
          list->n * list->size);
  list->n = plan->total;
  return plan->total <= machine->most ? allgather_few(machine, list)
                                      : allgather_many(machine, list);
}
