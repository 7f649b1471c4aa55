#define _GNU_SOURCE
#include "mpi/comm/comm_directory.h"

#include "base/need.h"
#include "mpi/coll/allgather.h"
#include "mpi/object/naming.h"
#include "mpi_below/keeper.h"
#include "mpi_below/real.h"
#include "os/native.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char function[] = "MPI_Comm_split_type";

/* What members tell each other: a directory's name, and a file's. */
struct told_name {
  uint32_t hash;
  int length; /* 0: none */
};
struct told_file {
  char name[sizeof(".pems-neighbors-XXXXXX")];
};

/* n bytes of each member, or NULL. */
static void *gather(struct comm *comm, const void *mine, size_t n, int *code) {
  void *const all = need_alloc((size_t)comm->group->n * n, "split");
  *code = coll_allgather(comm, function, mine, n, all);
  if (*code) {
    native_free(all);
    return NULL;
  }
  return all;
}

/* All name the same directory. */
static bool agree(struct comm *comm, const char *directory, int *code) {
  const struct told_name mine = {name_hash(directory), (int)strlen(directory)};
  struct told_name *const all = gather(comm, &mine, sizeof(mine), code);
  bool same = all && mine.length;
  for (int i = 0; i < comm->group->n && same; i++) {
    same = all[i].hash == mine.hash && all[i].length == mine.length;
  }
  native_free(all);
  return same;
}

/* A file in the directory; its whole path, or "". */
static void make_file(const char *directory, char path[PATH_MAX]) {
  char whole[PATH_MAX];
  int fd = -1;
  if (realpath(directory, whole) &&
      snprintf(path, PATH_MAX, "%s/.pems-neighbors-XXXXXX", whole) < PATH_MAX) {
    fd = mkostemp(path, O_CLOEXEC);
  }
  if (fd < 0) {
    path[0] = 0;
  } else {
    close(fd);
    keeper_note_file(path);
  }
}

/* The name in its directory of the file that the first member has made. */
static struct told_file tell(struct comm *comm, const char *path, int *code) {
  struct told_file file = {""};
  if (path[0]) {
    strcpy(file.name, strrchr(path, '/') + 1);
  }
  struct told_file *const all = gather(comm, &file, sizeof(file), code);
  file = all ? all[0] : file;
  native_free(all);
  return file;
}

static int place_by(struct comm *comm, const char *directory,
                    const struct told_file *file, int *place) {
  char path[PATH_MAX];
  const bool mine =
      snprintf(path, sizeof(path), "%s/%s", directory, file->name) < PATH_MAX &&
      access(path, F_OK) == 0;
  /* Those who do not see what the first one has made share with their process.
   */
  *place = mine ? 0 : 1 + comm->team->proc[comm->peer];
  /* It stays until all have looked. */
  int code;
  native_free(gather(comm, &mine, sizeof(mine), &code));
  return code;
}

int comm_directory_place(struct comm *comm, MPI_Info info, int *place) {
  char directory[MPI_MAX_INFO_VAL + 1] = "", path[PATH_MAX] = "";
  int found = 0, code = MPI_SUCCESS;
  *place = MPI_UNDEFINED;
  if (info != MPI_INFO_NULL) {
    real.Info_get(info, "nbhd_common_dirname", MPI_MAX_INFO_VAL, directory,
                  &found);
  }
  if (!agree(comm, found ? directory : "", &code)) {
    return code;
  }
  if (comm->rank == 0) {
    make_file(directory, path);
  }
  const struct told_file file = tell(comm, path, &code);
  if (!code && file.name[0]) {
    code = place_by(comm, directory, &file, place);
  }
  if (path[0]) {
    unlink(path);
  }
  return code;
}
