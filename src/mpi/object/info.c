/* MPI_INFO_ENV: what the real library says of its processes holds for ranks,
   but for a few keys. */
#include "base/self.h"
#include "mpi/object/comm.h"
#include "mpi_abi/functions.h"
#include "mpi_below/real.h"
#include "vp/vp.h"

#include <stdio.h>
#include <string.h>

static const char *level_name(int level) {
  return level == MPI_THREAD_SERIALIZED ? "MPI_THREAD_SERIALIZED"
         : level == MPI_THREAD_FUNNELED ? "MPI_THREAD_FUNNELED"
                                        : "MPI_THREAD_SINGLE";
}

/* The value of a key that ranks have of their own; false for others. */
static bool own_value(MPI_Info info, const char *key,
                      char value[MPI_MAX_INFO_VAL]) {
  if (info != MPI_INFO_ENV || !key) {
    return false;
  }
  if (strcmp(key, "maxprocs") == 0 || strcmp(key, "soft") == 0) {
    snprintf(value, MPI_MAX_INFO_VAL, "%d", vps.plan.v);
    return true;
  }
  if (strcmp(key, "thread_level") == 0) {
    snprintf(value, MPI_MAX_INFO_VAL, "%s", level_name(self.vp->thread_level));
    return true;
  }
  return false;
}

int pems_Info_get(MPI_Info info, const char *key, int n, char *out, int *flag) {
  char value[MPI_MAX_INFO_VAL];
  if (n >= 0 && out && flag && own_value(info, key, value)) {
    snprintf(out, (size_t)n + 1, "%s", value);
    *flag = 1;
    return MPI_SUCCESS;
  }
  return comm_error(MPI_COMM_WORLD, real.Info_get(info, key, n, out, flag),
                    "MPI_Info_get");
}

int pems_Info_get_valuelen(MPI_Info info, const char *key, int *n, int *flag) {
  char value[MPI_MAX_INFO_VAL];
  if (n && flag && own_value(info, key, value)) {
    *n = (int)strlen(value);
    *flag = 1;
    return MPI_SUCCESS;
  }
  return comm_error(MPI_COMM_WORLD, real.Info_get_valuelen(info, key, n, flag),
                    "MPI_Info_get_valuelen");
}
