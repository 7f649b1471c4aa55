/* How messages to the user name things. */
#ifndef PEMS_MPI_OBJECT_NAMING_H
#define PEMS_MPI_OBJECT_NAMING_H

#include "base/text.h"
#include "mpi/object/comm.h"

#include <stdbool.h>
#include <stdint.h>

/* "MPI_COMM_WORLD", its name, or "the communicator of MPI_Comm_split at
   grid.c:30". */
void name_comm(struct text *t, const struct comm *comm);

/* " at sort.c:12" (base/source.h), for where the copy of the program of `vp`
   called; nothing for NULL. Slow. Thread-safe. */
void name_site(struct text *t, const struct vp *vp, const void *site);
/* The same place in every copy, for other processes: 0 if it is not in the
   program itself. */
uint64_t name_site_of_all(const struct vp *vp, const void *site);
void name_site_everywhere(struct text *t, uint64_t site);

/* Is that place in the MPI's library for Fortran, which passes on what the
   program gave to it? Then also the library's name. */
bool name_fortran(const void *site, const char **library);

/* The answer of MPI_Comm_get_name and its kin. */
void name_give(const char *is, char *name, int *length);

/* A number for the name of an MPI function, and, slowly, the name again; NULL
   for what no function is called. */
uint32_t name_hash(const char *function);
const char *name_of_hash(uint32_t hash);

#endif
