/* The rest of an h-relation, for those that know what goes where. */
#ifndef PEMS_CGM_RELATION_H
#define PEMS_CGM_RELATION_H

#include "cgm/machine.h"

/* After pems_cgm_exchange_counts: the list becomes what is received. */
int pems_cgm_relate(struct pems_cgm *machine, struct pems_cgm_list *list);

/* Counts in plan.send how many elements each rank owns, and sets plan.send_at;
   1 if they are grouped by owners already, else 0. An owner that does not exist
   is noted as found, and nothing is to be sent. */
int pems_cgm_count_owners(struct pems_cgm *machine,
                          const struct pems_cgm_list *list,
                          int (*owner)(void *arg, const void *element),
                          void *arg, const char *function);
/* Copies the elements, grouped by owners, as counted, to `to`; changes
   plan.send_at. */
void pems_cgm_group(struct pems_cgm *machine, const struct pems_cgm_list *list,
                    int (*owner)(void *arg, const void *element), void *arg,
                    void *to);

#endif
