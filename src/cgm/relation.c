/* h-relations: each rank sends its elements wherever they are to go. */
#include "cgm/relation.h"

#include <string.h>

#include "cgm/exchange.h"
#include "cgm/fault.h"
#include "cgm/memory.h"

static void send_nothing(struct pems_cgm *m) {
  memset(m->plan.send, 0, (size_t)m->size * sizeof(uint64_t));
}

int pems_cgm_relate(struct pems_cgm *machine, struct pems_cgm_list *list) {
  const struct pems_cgm_plan *const plan = &machine->plan;
  const int last = machine->size - 1;
  struct pems_cgm_list received = {.size = list->size};
  if (pems_cgm_allocate(machine, &received,
                        plan->receive_at[last] + plan->receive[last]) != 0) {
    return pems_cgm_fail_here(machine);
  }
  const int error =
      pems_cgm_exchange(machine, list->size, list->at, received.at);
  if (error != MPI_SUCCESS) {
    pems_cgm_list_free(&received);
    return error;
  }
  pems_cgm_list_free(list);
  *list = received;
  return MPI_SUCCESS;
}

int pems_cgm_h_relation(struct pems_cgm *machine, struct pems_cgm_list *list,
                        const uint64_t *send, uint64_t *received) {
  const size_t bytes = (size_t)machine->size * sizeof(uint64_t);
  int error = pems_cgm_check(machine, list, "pems_cgm_h_relation");
  if (error != MPI_SUCCESS) {
    return error;
  }
  memcpy(machine->plan.send, send, bytes);
  const uint64_t sum = pems_cgm_line_up(machine, send, machine->plan.send_at);
  if (sum != list->n) {
    pems_cgm_found(machine, MPI_ERR_ARG,
                   "pems_cgm_h_relation: %llu elements to be sent of %llu on "
                   "rank %d: give numbers with this sum",
                   (unsigned long long)sum, (unsigned long long)list->n,
                   machine->rank);
  }
  error = pems_cgm_exchange_counts(machine, list->n);
  if (error == MPI_SUCCESS) {
    error = pems_cgm_relate(machine, list);
  }
  if (error == MPI_SUCCESS && received != NULL) {
    memcpy(received, machine->plan.receive, bytes);
  }
  return error;
}

/* --- by owners --- */

int pems_cgm_count_owners(struct pems_cgm *machine,
                          const struct pems_cgm_list *list,
                          int (*owner)(void *arg, const void *element),
                          void *arg, const char *function) {
  int grouped = 1, last = 0;
  send_nothing(machine);
  for (uint64_t i = 0; i < list->n && list->at != NULL; i++) {
    const int r = owner(arg, pems_cgm_at(list, i));
    if (r < 0 || r >= machine->size) {
      pems_cgm_found(machine, MPI_ERR_ARG,
                     "%s: owner %d of element %llu of rank %d: give 0 to %d",
                     function, r, (unsigned long long)i, machine->rank,
                     machine->size - 1);
      send_nothing(machine);
      return 1;
    }
    machine->plan.send[r]++;
    grouped &= r >= last;
    last = r;
  }
  pems_cgm_line_up(machine, machine->plan.send, machine->plan.send_at);
  return grouped;
}

void pems_cgm_group(struct pems_cgm *machine, const struct pems_cgm_list *list,
                    int (*owner)(void *arg, const void *element), void *arg,
                    void *to) {
  const size_t size = list->size;
  for (uint64_t i = 0; i < list->n; i++) {
    const char *const element = pems_cgm_at(list, i);
    const int r = owner(arg, element);
    memcpy((char *)to + machine->plan.send_at[r]++ * size, element, size);
  }
}

int pems_cgm_send(struct pems_cgm *machine, struct pems_cgm_list *list,
                  int (*owner)(void *arg, const void *element), void *arg) {
  int error = pems_cgm_check(machine, list, "pems_cgm_send");
  if (error != MPI_SUCCESS) {
    return error;
  }
  const int grouped =
      pems_cgm_count_owners(machine, list, owner, arg, "pems_cgm_send");
  if (!grouped) {
    struct pems_cgm_list copy = {.size = list->size};
    if (pems_cgm_allocate(machine, &copy, list->n) == 0) {
      pems_cgm_group(machine, list, owner, arg, copy.at);
      pems_cgm_list_free(list);
      *list = copy;
    }
  }
  error = pems_cgm_exchange_counts(machine, list->n);
  return error == MPI_SUCCESS ? pems_cgm_relate(machine, list) : error;
}
