/* What the functions of <pems/cgm.h> share. This folder is part of the user's
   program, not of libpems: it uses MPI and malloc as any program does. All
   names begin with pems_cgm_. */
#ifndef PEMS_CGM_MACHINE_H
#define PEMS_CGM_MACHINE_H

#include <pems/cgm.h>

/* The most elements of a job for which displacements are counted by int. */
#define PEMS_CGM_MOST INT32_MAX

enum { PEMS_CGM_TEXT = 200 }; /* bytes of an error text */

/* What moves in an exchange between this rank and each other one, in elements:
   arrays of `size` numbers, see exchange.h. */
struct pems_cgm_plan {
  uint64_t *send, *send_at;       /* to rank r, from element send_at[r] on */
  uint64_t *receive, *receive_at; /* from rank r */
  uint64_t total;                 /* elements of all ranks */
};

struct pems_cgm {
  MPI_Comm comm;          /* in use: our duplicate, or a group's */
  int rank, size;         /* in it */
  struct pems_cgm *outer; /* what it was before the last partition, or NULL */
  struct pems_cgm_counts counts;
  uint64_t most; /* PEMS_CGM_MOST; tests make it less */
  /* Arrays for the size at first, since what cannot fail later need not be
     agreed upon; all of them in one block of memory. */
  void *block;
  struct pems_cgm_plan plan;
  uint64_t *words; /* 2 for each rank to be sent, then 2 received from each */
  int *ints;       /* 4 for each rank: arguments of MPI */
  /* What this rank has found wrong and not told the others yet. */
  int fault; /* an error class, or MPI_SUCCESS */
  char text[PEMS_CGM_TEXT];
};

/* Elements of this rank, where `total` are spread evenly. */
uint64_t pems_cgm_share(const struct pems_cgm *machine, uint64_t total);

#endif
