#include "cgm/memory.h"

#include <stdbool.h>
#include <stdlib.h>

#include "cgm/fault.h"

static int no_memory(struct pems_cgm *m, const struct pems_cgm_list *list,
                     uint64_t n) {
  pems_cgm_found(m, MPI_ERR_NO_MEM,
                 "rank %d has no memory for %llu elements of %zu bytes: use "
                 "more ranks",
                 m->rank, (unsigned long long)n, list->size);
  return -1;
}

static int allocate(struct pems_cgm *m, struct pems_cgm_list *list, uint64_t n,
                    bool zero) {
  list->at = NULL;
  list->n = 0;
  if (n == 0) {
    return 0;
  }
  if (n <= SIZE_MAX / list->size) {
    list->at = zero ? calloc(n, list->size) : malloc(n * list->size);
  }
  if (list->at == NULL) {
    return no_memory(m, list, n);
  }
  list->n = n;
  return 0;
}

int pems_cgm_allocate(struct pems_cgm *machine, struct pems_cgm_list *list,
                      uint64_t n) {
  return allocate(machine, list, n, false);
}

int pems_cgm_allocate_zero(struct pems_cgm *machine, struct pems_cgm_list *list,
                           uint64_t n) {
  return allocate(machine, list, n, true);
}

int pems_cgm_reserve(struct pems_cgm *machine, struct pems_cgm_list *list,
                     uint64_t room) {
  void *const at = room <= SIZE_MAX / list->size
                       ? realloc(list->at, room * list->size)
                       : NULL;
  if (at == NULL) {
    return no_memory(machine, list, room);
  }
  list->at = at;
  return 0;
}

void pems_cgm_shorten(struct pems_cgm_list *list, uint64_t n) {
  if (n == 0) {
    pems_cgm_list_free(list);
    return;
  }
  void *const at = realloc(list->at, n * list->size);
  list->at = at ? at : list->at;
  list->n = n;
}
