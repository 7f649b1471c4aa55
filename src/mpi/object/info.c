/* Hints. MPI_INFO_ENV: what the real library says of its processes holds for
   ranks, but for a few keys. */
#include "mpi/object/info.h"

#include "base/self.h"
#include "mpi/object/comm.h"
#include "mpi/object/comm_error.h"
#include "mpi_abi/carried.h"
#include "mpi_abi/functions.h"
#include "mpi_below/real.h"
#include "mpi_below/thread_level.h"
#include "vp/vp.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* What ranks have of their own. */
static const char *const keys[] = {"maxprocs", "soft", "thread_level"};
enum { KEYS = sizeof(keys) / sizeof(keys[0]) };

static void set_value(int key, char value[MPI_MAX_INFO_VAL]) {
  if (strcmp(keys[key], "thread_level") == 0) {
    snprintf(value, MPI_MAX_INFO_VAL, "%s",
             thread_level_name(self.vp->thread_level));
  } else {
    snprintf(value, MPI_MAX_INFO_VAL, "%d", vps.plan.v);
  }
}

/* The value of a key that ranks have of their own; false for others. */
static bool own_value(MPI_Info info, const char *key,
                      char value[MPI_MAX_INFO_VAL]) {
  for (int i = 0; info == MPI_INFO_ENV && key && i < KEYS; i++) {
    if (strcmp(key, keys[i]) == 0) {
      set_value(i, value);
      return true;
    }
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

#if defined PEMS_MPI_HAS_Info_get_string
/* The length counts the byte that ends the string. */
int pems_Info_get_string(MPI_Info info, const char *key, int *length, char *out,
                         int *flag) {
  char value[MPI_MAX_INFO_VAL];
  if (length && *length >= 0 && flag && own_value(info, key, value)) {
    if (*length && out) {
      snprintf(out, (size_t)*length, "%s", value);
    }
    *length = (int)strlen(value) + 1;
    *flag = 1;
    return MPI_SUCCESS;
  }
  /* Who asks for the length alone may have no place for the string. */
  return comm_error(
      MPI_COMM_WORLD,
      real.Info_get_string(info, key, length,
                           length && !*length && !out ? value : out, flag),
      "MPI_Info_get_string");
}
#endif

static int set_own(MPI_Info info) {
  int code = MPI_SUCCESS;
  for (int i = 0; i < KEYS && !code; i++) {
    char value[MPI_MAX_INFO_VAL];
    set_value(i, value);
    code = real.Info_set(info, keys[i], value);
  }
  return code;
}

int pems_Info_dup(MPI_Info info, MPI_Info *copy) {
  int code = real.Info_dup(info, copy);
  if (!code && info == MPI_INFO_ENV) {
    code = set_own(*copy);
  }
  return comm_error(MPI_COMM_WORLD, code, "MPI_Info_dup");
}

#if defined PEMS_MPI_HAS_Info_create_env
int pems_Info_create_env(int argc, char *argv[], MPI_Info *info) {
  int code = real.Info_create_env(argc, argv, info);
  code = code ? code : set_own(*info);
  return comm_error(MPI_COMM_WORLD, code, "MPI_Info_create_env");
}
#endif

/* --- in a checkpoint --- */

void info_save(MPI_Info info, struct parcel *to) {
  int n = -1;
  if (info != MPI_INFO_NULL && real.Info_get_nkeys(info, &n)) {
    to->failed = true;
  }
  parcel_put_number(to, n);
  for (int i = 0; i < n; i++) {
    char key[MPI_MAX_INFO_KEY + 1] = "", value[MPI_MAX_INFO_VAL + 1] = "";
    int found = 0;
    if (real.Info_get_nthkey(info, i, key) ||
        real.Info_get(info, key, MPI_MAX_INFO_VAL, value, &found)) {
      to->failed = true;
    }
    parcel_put_text(to, key);
    parcel_put_text(to, value);
  }
}

int info_load(MPI_Info *info, struct parcel *from) {
  const int64_t n = parcel_number(from);
  *info = MPI_INFO_NULL;
  if (from->failed || (n >= 0 && real.Info_create(info))) {
    return ENOMEM;
  }
  for (int64_t i = 0; i < n; i++) {
    const char *const key = parcel_text(from);
    const char *const value = parcel_text(from);
    if (from->failed || real.Info_set(*info, key, value)) {
      return ENOMEM;
    }
  }
  return from->failed ? ENOMEM : 0;
}

void infos_save(const struct rank *rank, struct parcel *to) {
  const struct carried *c = NULL;
  while ((c = carried_next(rank->vp->rank, HANDLE_INFO, c))) {
    parcel_put_number(to, c->handle.fortran);
    info_save((MPI_Info)c->real, to);
  }
  parcel_put_number(to, 0);
}

int infos_load(struct rank *rank, struct parcel *from) {
  int code = 0, number;
  (void)rank;
  while (!code && (number = (int)parcel_number(from))) {
    MPI_Info info = MPI_INFO_NULL;
    code = info_load(&info, from);
    const struct carried c = {.real = (uintptr_t)info, .references = 1};
    code = code || carried_restore(HANDLE_INFO, &c, number) ? code : ENOMEM;
  }
  return code;
}
