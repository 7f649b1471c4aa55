/* What threads may do with MPI: the levels' names, and whether the level of the
   MPI below is enough for a job. */
#ifndef PEMS_MPI_BELOW_THREAD_LEVEL_H
#define PEMS_MPI_BELOW_THREAD_LEVEL_H

#include "pems/status.h"

/* "MPI_THREAD_SINGLE". */
const char *thread_level_name(int level);
/* The level of that name, or -1. */
int thread_level_named(const char *name);

/* May `nprocs` processes in which k ranks run at once call an MPI of this
   level? Ranks are threads; with several processes others call it meanwhile.
   ENOTSUP and *error filled in if not. */
int thread_level_check(int level, int nprocs, int k, struct pems_error *error);

#endif
