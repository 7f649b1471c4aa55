/* How the program, pems and the real MPI library are linked with each other. */
#ifndef PEMS_MPI_BELOW_LINK_H
#define PEMS_MPI_BELOW_LINK_H

#include "pems/status.h"

/* EINVAL and *error filled in if what the program calls by MPI_X is the real
   library, because it is linked before pems; 0 if not. */
int link_check_order(const void *real_init, struct pems_error *error);

/* EINVAL and *error filled in if a library of another MPI is loaded, too: what
   it calls by PMPI_X, or what pems does, might be either's. Before MPI starts.
   Not thread-safe. */
int link_check_alone(struct pems_error *error);

/* EINVAL and *error filled in if the program has opened a library that brought
   another MPI since the process was loaded, or this was called. While MPI runs;
   one call at a time. */
int link_check_opened(struct pems_error *error);

/* Ends the job: the MPI library that is loaded lacks the function `name`,
   "MPI_X", that mpi.h declared. */
_Noreturn void link_refuse_missing(const char *name);

#endif
