/* Telling the user how far a sort is. */
#ifndef PEMS_EM_SORT_PROGRESS_H
#define PEMS_EM_SORT_PROGRESS_H

#include "em/sort/sort.h"

/* n more records went through a phase: calls options.progress now and then. */
int progress_add(struct sort *s, uint64_t n, struct pems_error *error);
/* ECANCELED if options->stop says that the sort is to end. */
int progress_check_stop(const struct sort *s, struct pems_error *error);

#endif
