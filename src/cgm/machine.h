/* What the functions of <pems/cgm.h> share. This folder is part of the user's
   program, not of libpems: it uses MPI and malloc as any program does. */
#ifndef PEMS_CGM_MACHINE_H
#define PEMS_CGM_MACHINE_H

#include <pems/cgm.h>

struct pems_cgm {
  MPI_Comm comm;          /* in use: our duplicate, or a group's */
  int rank, size;         /* in it */
  struct pems_cgm *outer; /* what it was before the last partition, or NULL */
  struct pems_cgm_counts counts;
};

#endif
