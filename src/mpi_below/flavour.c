#define _GNU_SOURCE
#include "mpi_below/flavour.h"

#include "base/lifeline.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

/* I_MPI_VERSION comes first: Intel's header has MPICH's name, too. */
const char *flavour_name(void) {
#if defined OPEN_MPI
  return "Open MPI " TEXT(OMPI_MAJOR_VERSION) "." TEXT(
      OMPI_MINOR_VERSION) "." TEXT(OMPI_RELEASE_VERSION);
#elif defined I_MPI_VERSION
  return "Intel MPI " I_MPI_VERSION;
#elif defined MPICH_VERSION
  return "MPICH " MPICH_VERSION;
#else
  return "the ABI of MPI 5.0";
#endif
}

const char *flavour_abi(void) {
#if defined OPEN_MPI
  return "Open MPI's";
#elif defined MPICH_VERSION || defined I_MPI_VERSION
  return "MPICH's";
#else
  return "MPI 5.0's";
#endif
}

/* On Debian 12, with 1 to 4 processes, 12 to 15 MiB were measured with Open MPI
   4.1, 22 to 23 with 5.0, which has UCX and PMIx in each process, and 21 to 26
   with MPICH 5.0. */
uint64_t flavour_memory(void) {
#if !defined OPEN_MPI
  return UINT64_C(27) << 20;
#elif OMPI_MAJOR_VERSION < 5
  return UINT64_C(15) << 20;
#else
  return UINT64_C(24) << 20;
#endif
}

int flavour_announce(void) {
  return setenv(FLAVOUR_VARIABLE, flavour_name(), 1);
}

char *flavour_of_pemsrun(void) {
  const char *const said = getenv(FLAVOUR_VARIABLE);
  char *const other =
      said && strcmp(said, flavour_name()) != 0 ? strdup(said) : NULL;
  unsetenv(FLAVOUR_VARIABLE);
  return other;
}

/* What each command tells its processes: their number and their rank, and, in
   one of two variables, where it is to be found. A rank tells its children the
   numbers only. */
static const struct command {
  const char *name, *size, *rank, *place[2];
} commands[] = {
    {"Open MPI's mpirun",
     "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_RANK",
     {"PMIX_SERVER_URI2", "PMIX_SERVER_URI3"}},
    {"MPICH's mpiexec (Hydra)", "PMI_SIZE", "PMI_RANK", {"PMI_FD", "PMI_PORT"}},
};

bool flavour_foreign_starter(struct flavour_starter *s) {
  for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
    const struct command *const c = &commands[i];
    const char *const size = getenv(c->size), *const rank = getenv(c->rank);
    if (size && atoi(size) > 1 &&
        (getenv(c->place[0]) || getenv(c->place[1]))) {
      *s = (struct flavour_starter){
          .name = c->name, .rank = rank ? atoi(rank) : 0, .variable = c->size};
      return true;
    }
  }
  return false;
}
