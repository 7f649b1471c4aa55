/* Memory of lists; n elements of list->size bytes each. */
#ifndef PEMS_CGM_MEMORY_H
#define PEMS_CGM_MEMORY_H

#include "cgm/machine.h"

/* The list becomes n elements of any contents (what it was is not freed): 0, or
   -1 and the fault is noted (fault.h) and the list is empty. */
int pems_cgm_allocate(struct pems_cgm *machine, struct pems_cgm_list *list,
                      uint64_t n);
/* The same, all bytes 0. */
int pems_cgm_allocate_zero(struct pems_cgm *machine, struct pems_cgm_list *list,
                           uint64_t n);
/* Room for `room` elements, at least 1, whatever list->n is; contents stay. On
   failure (-1, noted) it is as it was. */
int pems_cgm_reserve(struct pems_cgm *machine, struct pems_cgm_list *list,
                     uint64_t room);
/* Becomes shorter and gives memory back: cannot fail. */
void pems_cgm_shorten(struct pems_cgm_list *list, uint64_t n);

/* Element i. */
static inline void *pems_cgm_at(const struct pems_cgm_list *list, uint64_t i) {
  return (char *)list->at + i * list->size;
}

#endif
