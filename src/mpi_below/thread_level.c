#include "mpi_below/thread_level.h"

#include "base/failure.h"

#include <errno.h>
#include <mpi.h>
#include <string.h>

static const struct level {
  const char *name;
  int level;
} levels[] = {
    {"MPI_THREAD_SINGLE", MPI_THREAD_SINGLE},
    {"MPI_THREAD_FUNNELED", MPI_THREAD_FUNNELED},
    {"MPI_THREAD_SERIALIZED", MPI_THREAD_SERIALIZED},
    {"MPI_THREAD_MULTIPLE", MPI_THREAD_MULTIPLE},
};
enum { LEVELS = sizeof(levels) / sizeof(levels[0]) };

const char *thread_level_name(int level) {
  for (int i = 0; i < LEVELS; i++) {
    if (levels[i].level == level) {
      return levels[i].name;
    }
  }
  return "no level of threads";
}

int thread_level_named(const char *name) {
  for (int i = 0; i < LEVELS; i++) {
    if (strcmp(levels[i].name, name) == 0) {
      return levels[i].level;
    }
  }
  return -1;
}

int thread_level_check(int level, int nprocs, int k, struct pems_error *error) {
  if (level >= MPI_THREAD_MULTIPLE) {
    return 0;
  }
  if (level < MPI_THREAD_SERIALIZED) {
    return failure(error, ENOTSUP,
                   "the MPI library: gives %s, and ranks, which are threads, "
                   "call it: use an MPI that gives MPI_THREAD_MULTIPLE, or "
                   "MPI_THREAD_SERIALIZED at least",
                   thread_level_name(level));
  }
  if (nprocs > 1 || k > 1) {
    return failure(error, ENOTSUP,
                   "the MPI library: gives MPI_THREAD_SERIALIZED, and several "
                   "threads of pems call it at once: use --pems-procs=1 "
                   "--pems-k=1, or an MPI that gives MPI_THREAD_MULTIPLE");
  }
  return 0;
}
