/* Opening, closing and deleting files. */
#include "mpi/io/file_open.h"

#include "base/need.h"
#include "mpi/coll/allgather.h"
#include "mpi/coll/barrier.h"
#include "mpi/coll/call/coll.h"
#include "mpi/io/file_owner.h"
#include "mpi/object/comm_error.h"
#include "mpi_abi/functions.h"
#include "mpi_abi/handle.h"
#include "mpi_below/real.h"
#include "os/native.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Only rank 0 creates the file, before the others open it; and it is deleted
   when all have closed it. The shared pointer is pems's own, so that the real
   file is accessed at offsets, which MPI_MODE_SEQUENTIAL forbids; with
   MPI_MODE_RDWR that is an error, and the real library's to tell. */
static int real_amode(const struct file *file) {
  int without = MPI_MODE_DELETE_ON_CLOSE;
  if (file->comm->rank) {
    without |= MPI_MODE_CREATE | MPI_MODE_EXCL;
  }
  if (!(file->amode & MPI_MODE_RDWR)) {
    without |= MPI_MODE_SEQUENTIAL;
  }
  return file->amode & ~without;
}

static int open_as(struct file *file, const char *name, int amode,
                   MPI_Info info) {
  file_serial_enter();
  const int code =
      real.File_open(MPI_COMM_SELF, name, amode, info, &file->real);
  file_serial_leave();
  if (code) {
    file->real = MPI_FILE_NULL;
  }
  return code;
}

/* A checkpoint opens it again whatever the working directory is then. What is
   before a colon may be the kind of its file system. */
static void find_path(struct file *file) {
  const char *const colon = strchr(file->name, ':');
  char path[PATH_MAX];
  const bool found =
      realpath(file->name, path) || (colon && realpath(colon + 1, path));
  file->path = found ? need_alloc(strlen(path) + 1, "file") : NULL;
  if (found) {
    strcpy(file->path, path);
  }
}

static int open_real(struct file *file, MPI_Info info) {
  int code = open_as(file, file->name, real_amode(file), info);
  if (!code && file->amode & MPI_MODE_APPEND) {
    code = file_seek(file, 0, MPI_SEEK_END);
  }
  if (!code && handles_fixed) {
    find_path(file);
  }
  return code;
}

int file_open_again(struct file *file, MPI_Info info) {
  return open_as(file, file->path,
                 real_amode(file) & ~(MPI_MODE_CREATE | MPI_MODE_EXCL), info);
}

static void close_real(struct file *file) {
  if (file->real != MPI_FILE_NULL) {
    file_serial_enter();
    real.File_close(&file->real);
    file_serial_leave();
  }
}

static char *copy_of(const char *text) {
  return strcpy(need_alloc(strlen(text) + 1, "file"), text);
}

static struct file *file_make(struct comm *own, const char *name, int amode) {
  struct file *file = need_zalloc(1, sizeof(*file), "file");
  struct files *files = files_me();
  file->handle = handle_make(HANDLE_FILE);
  file->comm = own;
  file->real = MPI_FILE_NULL;
  file->name = copy_of(name);
  file->amode = amode;
  file->etype = 1;
  errhandler_set(&file->errhandler, files->errhandler);
  file->next = files->first;
  if (file->next) {
    file->next->previous = file;
  }
  files->first = file;
  return file;
}

static struct file *file_new(struct comm *parent, const char *name, int amode) {
  const struct team *team = parent->team;
  /* Before the first collective call, which all count. */
  const uint64_t id =
      team_derive(team->id, parent->collectives, team->world[0]);
  struct comm *const own = comm_new(rank_me(), id, team->world, team->size,
                                    team->first, parent->peer);
  if (!own) {
    need_fail("file"); /* the others wait for this rank */
  }
  snprintf(own->name, sizeof(own->name), "file %s", name);
  return file_make(own, name, amode);
}

struct file *file_again(struct comm *own, const char *name, const char *path,
                        int amode) {
  struct file *const file = file_make(own, name, amode);
  file->path = copy_of(path);
  return file;
}

static void file_free(struct file *file) {
  if (file->next) {
    file->next->previous = file->previous;
  }
  *(file->previous ? &file->previous->next : &files_me()->first) = file->next;
  comm_free(file->comm);
  errhandler_unset(&file->errhandler);
  handle_end(&file->handle);
  native_free(file->name);
  native_free(file->path);
  native_free(file);
}

/* Where the shared pointer starts. */
static MPI_Offset start_of(const struct file *file) {
  MPI_Offset size = 0;
  if (file->amode & MPI_MODE_APPEND) {
    real.File_get_size(file->real, &size);
  }
  return size;
}

/* Collective on the parent: rank 0 opens the file, and all learn how it
   went. */
static int open_first(struct file *file, struct comm *parent, MPI_Info info,
                      const char *function) {
  int code = file->comm->rank ? MPI_SUCCESS : open_real(file, info);
  int *all = need_alloc(parent->team->size * sizeof(*all), "file");
  coll_allgather(parent, function, &code, sizeof(code), all);
  code = all[0];
  native_free(all);
  return code;
}

static int open_all(struct file *file, struct comm *parent, MPI_Info info,
                    const char *function) {
  int code = open_first(file, parent, info, function);
  if (code) {
    return code;
  }
  const bool owner = file->comm->rank == 0;
  if (owner) {
    file_owner_begin(file, start_of(file));
  } else {
    code = open_real(file, info);
  }
  code = file_agree(file, function, code);
  if (code && owner) {
    file_owner_end(file);
  }
  return code;
}

int pems_File_open(MPI_Comm handle, const char *name, int amode, MPI_Info info,
                   MPI_File *out) {
  static const char function[] = "MPI_File_open";
  struct comm *parent = comm_of(handle);
  if (!info) {
    return comm_error(MPI_COMM_WORLD, MPI_ERR_INFO, function);
  }
  if (!parent || comm_is_inter(parent)) {
    return comm_error(handle, MPI_ERR_COMM, function);
  }
  if (!name || !out) {
    return file_error(NULL, MPI_ERR_ARG, function);
  }
  *out = MPI_FILE_NULL;
  struct file *file = file_new(parent, name, amode);
  const int code = open_all(file, parent, info, function);
  if (code) {
    close_real(file);
    file_free(file);
    return file_error(NULL, code, function);
  }
  *out = file_handle(file);
  return MPI_SUCCESS;
}

/* All ranks have closed it. */
static int delete_closed(struct file *file, const char *function) {
  int code = MPI_SUCCESS;
  if (file->comm->rank == 0) {
    file_serial_enter();
    code = real.File_delete(file->name, MPI_INFO_NULL);
    file_serial_leave();
  }
  /* Nobody goes on, and perhaps opens it again, before it is gone. */
  coll_barrier(file->comm, function);
  return code;
}

int pems_File_close(MPI_File *handle) {
  static const char function[] = "MPI_File_close";
  struct file *file = handle ? file_of(*handle) : NULL;
  int code = MPI_SUCCESS;
  if (!file) {
    return file_error(NULL, MPI_ERR_FILE, function);
  }
  close_real(file);
  coll_barrier(file->comm, function);
  file_settle(file);
  if (file->amode & MPI_MODE_DELETE_ON_CLOSE) {
    code = delete_closed(file, function);
  }
  if (file->comm->rank == 0) {
    file_owner_end(file);
  }
  file_free(file);
  *handle = MPI_FILE_NULL;
  return file_error(NULL, code, function);
}

int pems_File_delete(const char *name, MPI_Info info) {
  file_serial_enter();
  const int code = real.File_delete(name, info);
  file_serial_leave();
  return file_error(NULL, code, "MPI_File_delete");
}
