#include "cgm/machine.h"

#include <stdlib.h>

static int min_int(uint64_t a, uint64_t b) {
  return (int)(a < b ? a : b);
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

uint64_t pems_cgm_first(const struct pems_cgm *machine, uint64_t total,
                        int rank) {
  const uint64_t v = (uint64_t)machine->size;
  return total / v * (uint64_t)rank +
         (uint64_t)min_int((uint64_t)rank, total % v);
}

int pems_cgm_owner(const struct pems_cgm *machine, uint64_t total, uint64_t i) {
  const uint64_t v = (uint64_t)machine->size;
  const uint64_t base = total / v, longer = total % v;
  const uint64_t in_longer = longer * (base + 1);
  return (int)(i < in_longer ? i / (base + 1)
                             : longer + (i - in_longer) / base);
}
