/* dl_iterate_phdr for what one VP has: its program first, then libraries, each
   once and where this VP has it. */
#ifndef PEMS_CONTEXT_IMAGE_OPENED_LIST_H
#define PEMS_CONTEXT_IMAGE_OPENED_LIST_H

#include "context/image/image.h"

#include <link.h>

/* Fills in up to `room` of them, in ld.so's order, and returns how many there
   are. Thread-local data are the calling thread's. What MPI and others have
   loaded since the start, and no rank has opened, is not among them. */
int opened_list(const struct image *img, struct dl_phdr_info *to, int room);

#endif
