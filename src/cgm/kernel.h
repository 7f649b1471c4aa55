/* Sorting and merging in a rank's own memory. */
#ifndef PEMS_CGM_KERNEL_H
#define PEMS_CGM_KERNEL_H

#include "cgm/machine.h"

/* Checks the record: what all ranks know alike. */
int pems_cgm_check_record(struct pems_cgm *machine,
                          const struct pems_cgm_list *list,
                          const struct pems_record *record,
                          const char *function);

/* Sorts the list; 0, or -1 and the lack of memory is noted (fault.h). */
int pems_cgm_sort_here(struct pems_cgm *machine, struct pems_cgm_list *list,
                       const struct pems_record *record);

/* The list consists of sorted pieces, piece r of n[r] elements: it becomes the
   elements [skip, skip + keep) of all in order; equal ones in the order of the
   pieces. 0, or -1 and noted. */
int pems_cgm_merge_here(struct pems_cgm *machine, struct pems_cgm_list *list,
                        const struct pems_record *record, const uint64_t *n,
                        uint64_t skip, uint64_t keep);

#endif
