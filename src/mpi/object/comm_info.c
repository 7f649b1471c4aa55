/* Hints on communicators. None changes what pems does, but programs read what
   they have set: of the keys of the MPI below, and as there, those given when
   the communicator was made. */
#include "mpi/object/comm_info.h"

#include "mpi/object/comm_error.h"
#include "mpi_abi/functions.h"
#include "mpi_below/real.h"

#include <stdbool.h>
#include <string.h>

static const char *const known[] = {"mpi_assert_no_any_source",
                                    "mpi_assert_allow_overtaking"};
enum { KNOWN = sizeof(known) / sizeof(known[0]) };

/* Those of MPI 4.0 and 4.1, which are told where they were given. */
static const char *const assertions[] = {
    "mpi_assert_no_any_tag", "mpi_assert_exact_length",
    "mpi_assert_strict_persistent_collective_ordering"};
#if MPI_VERSION >= 4 || defined MPI_SESSION_NULL
enum { ASSERTIONS = sizeof(assertions) / sizeof(assertions[0]) };
#else
enum { ASSERTIONS = 0 };
#endif

int comm_info_set(struct comm *comm, MPI_Info info) {
  if (info == MPI_INFO_NULL) {
    return MPI_SUCCESS;
  }
  MPI_Info copy;
  if (real.Info_dup(info, &copy)) {
    return MPI_ERR_INFO;
  }
  if (comm->info != MPI_INFO_NULL) {
    real.Info_free(&comm->info);
  }
  comm->info = copy;
  return MPI_SUCCESS;
}

/* All known keys are flags. One that is too long for the MPI below cannot have
   been given. */
static int get_flag(MPI_Info info, const char *key, bool *value, int *found) {
  char text[sizeof("false")] = "";
  *found = 0;
  *value = false;
  if (strlen(key) >= MPI_MAX_INFO_KEY) {
    return MPI_SUCCESS;
  }
  const int code = real.Info_get(info, key, sizeof(text) - 1, text, found);
  *value = strcmp(text, "true") == 0;
  return code;
}

static int add_flag(struct comm *comm, MPI_Info info, const char *key) {
  bool value;
  int found = 0;
  const int code = get_flag(info, key, &value, &found);
  return code || !found
             ? code
             : real.Info_set(comm->info, key, value ? "true" : "false");
}

static int add_known(struct comm *comm, MPI_Info info) {
  int code = MPI_SUCCESS;
  if (comm->info == MPI_INFO_NULL) {
    code = real.Info_create(&comm->info);
  }
  for (int i = 0; i < KNOWN && !code; i++) {
    code = add_flag(comm, info, known[i]);
  }
  for (int i = 0; i < ASSERTIONS && !code; i++) {
    code = add_flag(comm, info, assertions[i]);
  }
  return code;
}

static int with_defaults(const struct comm *comm, MPI_Info *info) {
  int code = comm->info == MPI_INFO_NULL ? real.Info_create(info)
                                         : real.Info_dup(comm->info, info);
  for (int i = 0; i < KNOWN && !code; i++) {
    bool value;
    int found = 0;
    code = get_flag(*info, known[i], &value, &found);
    if (!code && !found) {
      code = real.Info_set(*info, known[i], "false");
    }
  }
  return code;
}

int pems_Comm_set_info(MPI_Comm handle, MPI_Info info) {
  struct comm *comm = comm_of(handle);
  int code = !info || info == MPI_INFO_NULL ? MPI_ERR_INFO
             : comm                         ? MPI_SUCCESS
                                            : MPI_ERR_COMM;
  if (!code) {
    code = add_known(comm, info);
  }
  return comm_error(MPI_COMM_WORLD, code, "MPI_Comm_set_info");
}

int pems_Comm_get_info(MPI_Comm handle, MPI_Info *info) {
  const struct comm *comm = comm_of(handle);
  int code = !info  ? ABI_CLASS_OF_NULL(MPI_ERR_INFO)
             : comm ? MPI_SUCCESS
                    : MPI_ERR_COMM;
  if (!code) {
    code = with_defaults(comm, info);
  }
  return comm_error(MPI_COMM_WORLD, code, "MPI_Comm_get_info");
}
