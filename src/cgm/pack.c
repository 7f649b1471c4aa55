/* Packing: elements that stay close up, then shares become even. */
#include <string.h>

#include "cgm/fault.h"
#include "cgm/memory.h"

static uint64_t close_up(struct pems_cgm_list *list,
                         int (*keep)(void *arg, const void *element),
                         void *arg) {
  uint64_t kept = 0;
  for (uint64_t i = 0; i < list->n; i++) {
    const void *const element = pems_cgm_at(list, i);
    if (!keep(arg, element)) {
      continue;
    }
    if (kept < i) {
      memcpy(pems_cgm_at(list, kept), element, list->size);
    }
    kept++;
  }
  return kept;
}

int pems_cgm_pack(struct pems_cgm *machine, struct pems_cgm_list *list,
                  int (*keep)(void *arg, const void *element), void *arg,
                  uint64_t *total) {
  int error = pems_cgm_check(machine, list, "pems_cgm_pack");
  if (error != MPI_SUCCESS) {
    return error;
  }
  if (list->at != NULL) {
    pems_cgm_shorten(list, close_up(list, keep, arg));
  }
  error = pems_cgm_array_balancing(machine, list);
  if (error == MPI_SUCCESS && total != NULL) {
    *total = machine->plan.total;
  }
  return error;
}
