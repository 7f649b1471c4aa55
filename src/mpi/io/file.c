/* Handles of files, their error handlers, and questions about them. */
#include "mpi/io/file.h"

#include "base/need.h"
#include "mpi/coll/allgather.h"
#include "mpi/coll/barrier.h"
#include "mpi/coll/call/coll.h"
#include "mpi/object/comm_error.h"
#include "mpi/request/request.h"
#include "mpi/request/requests.h"
#include "mpi_abi/functions.h"
#include "mpi_below/real.h"
#include "os/lock.h"
#include "os/native.h"

#include <pthread.h>
#include <string.h>

static struct lock serial = LOCK_INITIALIZER(LOCK_FILES);

void file_serial_enter(void) {
  lock_take(&serial);
}

void file_serial_leave(void) {
  lock_give(&serial);
}

struct file *file_of(MPI_File handle) {
  return handle != MPI_FILE_NULL
             ? handle_object(ABI_OBJECT(handle), HANDLE_FILE)
             : NULL;
}

/* --- error handlers --- */

struct files *files_me(void) {
  struct rank *rank = rank_me();
  if (!rank->files) {
    rank->files = need_zalloc(1, sizeof(*rank->files), "file");
    rank->files->errhandler.handle = MPI_ERRORS_RETURN;
  }
  return rank->files;
}

int file_error(struct file *file, int code, const char *function) {
  if (code == MPI_SUCCESS) {
    return code;
  }
  /* A copy: the handler may set another one. */
  const struct errhandler set =
      file ? file->errhandler : files_me()->errhandler;
  MPI_File handle = file ? file_handle(file) : MPI_FILE_NULL;
  return errhandler_call(&set, &handle, code, function);
}

int pems_File_create_errhandler(MPI_File_errhandler_function *function,
                                MPI_Errhandler *handle) {
  int code = real.File_create_errhandler(function, handle);
  if (!code) {
    code = errhandler_note(handle, (void (*)(void))function);
  }
  return comm_error(MPI_COMM_WORLD, code, "MPI_File_create_errhandler");
}

/* The real library knows whether it is one for files. */
static int check_errhandler(MPI_Errhandler handle) {
  file_serial_enter();
  const int code = real.File_set_errhandler(MPI_FILE_NULL, handle);
  if (!code) {
    real.File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
  }
  file_serial_leave();
  return code;
}

static struct errhandler *errhandler_of(MPI_File handle) {
  struct file *file = file_of(handle);
  return file                      ? &file->errhandler
         : handle == MPI_FILE_NULL ? &files_me()->errhandler
                                   : NULL;
}

int pems_File_set_errhandler(MPI_File handle, MPI_Errhandler errhandler) {
  static const char name[] = "MPI_File_set_errhandler";
  struct errhandler *set = errhandler_of(handle);
  if (!set) {
    return file_error(NULL, MPI_ERR_FILE, name);
  }
  const int code = check_errhandler(errhandler);
  if (code) {
    return file_error(file_of(handle), code, name);
  }
  errhandler_set(set, errhandler_make(errhandler));
  return MPI_SUCCESS;
}

int pems_File_get_errhandler(MPI_File handle, MPI_Errhandler *errhandler) {
  static const char name[] = "MPI_File_get_errhandler";
  const struct errhandler *set = errhandler_of(handle);
  if (!set || !errhandler) {
    return comm_error(MPI_COMM_WORLD, set ? MPI_ERR_ARG : MPI_ERR_FILE, name);
  }
  *errhandler = errhandler_get(set, MPI_ERRORS_RETURN);
  return MPI_SUCCESS;
}

int pems_File_call_errhandler(MPI_File handle, int code) {
  struct file *file = file_of(handle);
  if (!file) {
    return comm_error(MPI_COMM_WORLD, MPI_ERR_ARG, "MPI_File_call_errhandler");
  }
  file_error(file, code, "MPI_File_call_errhandler");
  return MPI_SUCCESS;
}

/* --- handles of Fortran --- */

/* --- what ranks do together --- */

int file_agree(struct file *file, const char *function, int code) {
  struct comm *comm = file->comm;
  if (comm->team->size == 1) {
    return code;
  }
  int *all = need_alloc(comm->team->size * sizeof(*all), "file");
  coll_allgather(comm, function, &code, sizeof(code), all);
  code = MPI_SUCCESS;
  for (int i = 0; i < comm->team->size && !code; i++) {
    code = all[i];
  }
  native_free(all);
  return code;
}

void file_order(struct file *file, bool writing, const char *function) {
  const enum file_last now = writing ? FILE_WRITTEN : FILE_READ;
  if (file->last != FILE_NOTHING && file->last != now) {
    coll_barrier(file->comm, function);
  }
  file->last = now;
}

void file_wrote(struct file *file, const char *function) {
  if (file->comm->team->size == 1) {
    return;
  }
  if (file->written) {
    request_let_go(file->written);
  }
  file->written = request_need(coll_ibarrier(file->comm, function));
  file->written->site = NULL;
}

void file_settle(struct file *file) {
  struct request *written = file->written;
  file->written = NULL;
  if (written) {
    request_complete(written, NULL);
  }
}

/* --- the end of the file --- */

/* Does the etype at `offset` start after the last of `size` bytes? */
static int starts_after(struct file *file, MPI_Offset offset, MPI_Offset size,
                        bool *after) {
  MPI_Offset bytes = 0;
  const int code = real.File_get_byte_offset(file->real, offset, &bytes);
  *after = bytes >= size;
  return code;
}

/* The MPI below does not tell: one of them counts without the holes of a view,
   and ends at 6 MiB. But it tells where an etype is, and those of a view come
   in the order of their places (MPI 3.1, 13.3), whatever its types are. */
int file_end(struct file *file, MPI_Offset *end) {
  MPI_Offset size = 0, low = 0, high = 1;
  bool after = false;
  int code = real.File_get_size(file->real, &size);
  code = code ? code : starts_after(file, 0, size, &after);
  if (code || after) {
    *end = 0;
    return code;
  }
  while (!(code = starts_after(file, high, size, &after)) && !after) {
    low = high;
    high *= 2;
  }
  while (!code && high - low > 1) {
    const MPI_Offset middle = low + (high - low) / 2;
    code = starts_after(file, middle, size, &after);
    *(after ? &high : &low) = middle;
  }
  *end = high;
  return code;
}

int file_seek(struct file *file, MPI_Offset offset, int whence) {
  MPI_Offset end = 0;
  if (whence != MPI_SEEK_END) {
    return real.File_seek(file->real, offset, whence);
  }
  const int code = file_end(file, &end);
  return code ? code : real.File_seek(file->real, end + offset, MPI_SEEK_SET);
}

/* --- questions --- */

int pems_File_get_amode(MPI_File handle, int *amode) {
  struct file *file = file_of(handle);
  const int code = !file ? MPI_ERR_FILE : !amode ? MPI_ERR_ARG : MPI_SUCCESS;
  if (code) {
    return file_error(file, code, "MPI_File_get_amode");
  }
  *amode = file->amode;
  return MPI_SUCCESS;
}

int pems_File_get_group(MPI_File handle, MPI_Group *group) {
  struct file *file = file_of(handle);
  const int code = !file ? MPI_ERR_FILE : !group ? MPI_ERR_GROUP : MPI_SUCCESS;
  if (code) {
    return file_error(file, code, "MPI_File_get_group");
  }
  return file_error(file, group_give(file->comm->group, group),
                    "MPI_File_get_group");
}

int pems_File_get_info(MPI_File handle, MPI_Info *info) {
  struct file *file = file_of(handle);
  if (!file) {
    return comm_error(MPI_COMM_WORLD, MPI_ERR_COMM, "MPI_File_get_info");
  }
  return file_error(file, real.File_get_info(file->real, info),
                    "MPI_File_get_info");
}

int pems_File_set_info(MPI_File handle, MPI_Info info) {
  struct file *file = file_of(handle);
  if (!file) {
    return comm_error(MPI_COMM_WORLD, MPI_ERR_FILE, "MPI_File_set_info");
  }
  return file_error(file, real.File_set_info(file->real, info),
                    "MPI_File_set_info");
}

int pems_File_get_type_extent(MPI_File handle, MPI_Datatype type,
                              MPI_Aint *extent) {
  struct file *file = file_of(handle);
  const int code =
      file ? real.File_get_type_extent(file->real, type, extent) : MPI_ERR_FILE;
  return file_error(file, code, "MPI_File_get_type_extent");
}

#if defined PEMS_MPI_HAS_File_get_type_extent_c
int pems_File_get_type_extent_c(MPI_File handle, MPI_Datatype type,
                                MPI_Count *extent) {
  struct file *file = file_of(handle);
  const int code = file ? real.File_get_type_extent_c(file->real, type, extent)
                        : MPI_ERR_FILE;
  return file_error(file, code, "MPI_File_get_type_extent_c");
}
#endif

int pems_File_get_byte_offset(MPI_File handle, MPI_Offset offset,
                              MPI_Offset *bytes) {
  struct file *file = file_of(handle);
  const int code = file ? real.File_get_byte_offset(file->real, offset, bytes)
                        : MPI_ERR_FILE;
  return file_error(file, code, "MPI_File_get_byte_offset");
}

int pems_File_get_size(MPI_File handle, MPI_Offset *size) {
  struct file *file = file_of(handle);
  if (!file) {
    return file_error(file, MPI_ERR_FILE, "MPI_File_get_size");
  }
  file_settle(file);
  const int code = real.File_get_size(file->real, size);
  return file_error(file, code, "MPI_File_get_size");
}

int pems_File_get_position(MPI_File handle, MPI_Offset *position) {
  struct file *file = file_of(handle);
  const int code =
      file ? real.File_get_position(file->real, position) : MPI_ERR_FILE;
  return file_error(file, code, "MPI_File_get_position");
}

int pems_File_seek(MPI_File handle, MPI_Offset offset, int whence) {
  struct file *file = file_of(handle);
  if (!file) {
    return file_error(file, MPI_ERR_FILE, "MPI_File_seek");
  }
  if (whence == MPI_SEEK_END) {
    file_settle(file);
  }
  return file_error(file, file_seek(file, offset, whence), "MPI_File_seek");
}

int pems_File_get_atomicity(MPI_File handle, int *flag) {
  struct file *file = file_of(handle);
  const int code = !file ? MPI_ERR_FILE : !flag ? MPI_ERR_ARG : MPI_SUCCESS;
  if (code) {
    return file_error(file, code, "MPI_File_get_atomicity");
  }
  *flag = file->atomic;
  return MPI_SUCCESS;
}
