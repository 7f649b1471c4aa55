/* How the program, pems and the real MPI library are linked with each other. */
#ifndef PEMS_MPI_BELOW_LINK_H
#define PEMS_MPI_BELOW_LINK_H

#include <stddef.h>

/* -1 and a sentence in err if what the program calls by MPI_X is the real
   library, because it is linked before pems; 0 if not. */
int link_check_order(const void *real_init, char *err, size_t err_size);

/* Ends the job: the MPI library that is loaded lacks the function `name`,
   "MPI_X", that mpi.h declared. */
_Noreturn void link_refuse_missing(const char *name);

#endif
