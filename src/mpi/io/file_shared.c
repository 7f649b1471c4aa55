/* The shared pointer: one rank after another takes what it needs of it. */
#include "mpi/io/file_shared.h"

#include "base/need.h"
#include "mpi/coll/allgather.h"
#include "mpi/coll/barrier.h"
#include "mpi/coll/call/coll.h"
#include "mpi/io/file_owner.h"
#include "mpi_abi/functions.h"
#include "mpi_below/real.h"
#include "os/native.h"

int file_access_shared(struct file *file, const struct file_transfer *a,
                       MPI_Status *status) {
  const int code = file_check(file, a);
  if (code) {
    return code;
  }
  struct file_transfer there = *a;
  there.offset = file_pointer_take(file, file_etypes(file, a), a->function);
  return file_access(file, &there, status);
}

/* All ranks say how many etypes they take, rank 0 takes them all, and all learn
   where. */
static MPI_Offset take_in_order(struct file *file, MPI_Offset mine,
                                const char *function) {
  struct comm *comm = file->comm;
  const int n = comm->team->size;
  MPI_Offset *all = need_alloc(n * sizeof(*all), "file");
  coll_allgather(comm, function, &mine, sizeof(mine), all);
  MPI_Offset before = 0, sum = 0, start = 0;
  for (int i = 0; i < n; i++) {
    before += i < comm->rank ? all[i] : 0;
    sum += all[i];
  }
  if (comm->rank == 0) {
    start = file_pointer_take(file, sum, function);
  }
  coll_allgather(comm, function, &start, sizeof(start), all);
  start = all[0];
  native_free(all);
  return start + before;
}

int file_access_ordered(struct file *file, const struct file_transfer *a,
                        MPI_Status *status) {
  const int code = file_check(file, a);
  struct file_transfer there = *a;
  there.offset =
      take_in_order(file, code ? 0 : file_etypes(file, a), a->function);
  file->last = a->writing ? FILE_WRITTEN : FILE_READ;
  return code ? code : file_access(file, &there, status);
}

static struct file_transfer shared(const char *function, bool writing,
                                   const void *buffer, MPI_Count count,
                                   MPI_Datatype type) {
  return (struct file_transfer){function,       writing, false, 0,
                                (void *)buffer, count,   type};
}

int pems_File_read_shared(MPI_File file, void *buffer, MPI_Count count,
                          MPI_Datatype type, MPI_Status *status) {
  return file_call(file, file_access_shared,
                   shared("MPI_File_read_shared", false, buffer, count, type),
                   status);
}

int pems_File_write_shared(MPI_File file, const void *buffer, MPI_Count count,
                           MPI_Datatype type, MPI_Status *status) {
  return file_call(file, file_access_shared,
                   shared("MPI_File_write_shared", true, buffer, count, type),
                   status);
}

int pems_File_iread_shared(MPI_File file, void *buffer, MPI_Count count,
                           MPI_Datatype type, MPI_Request *request) {
  return file_request(
      file, file_access_shared,
      shared("MPI_File_iread_shared", false, buffer, count, type), request);
}

int pems_File_iwrite_shared(MPI_File file, const void *buffer, MPI_Count count,
                            MPI_Datatype type, MPI_Request *request) {
  return file_request(
      file, file_access_shared,
      shared("MPI_File_iwrite_shared", true, buffer, count, type), request);
}

int pems_File_read_ordered(MPI_File file, void *buffer, MPI_Count count,
                           MPI_Datatype type, MPI_Status *status) {
  return file_call(file, file_access_ordered,
                   shared("MPI_File_read_ordered", false, buffer, count, type),
                   status);
}

int pems_File_write_ordered(MPI_File file, const void *buffer, MPI_Count count,
                            MPI_Datatype type, MPI_Status *status) {
  return file_call(file, file_access_ordered,
                   shared("MPI_File_write_ordered", true, buffer, count, type),
                   status);
}

/* By rank 0. */
static int seek(struct file *file, MPI_Offset offset, int whence,
                const char *function) {
  MPI_Offset from = 0;
  int code = MPI_SUCCESS;
  if (whence == MPI_SEEK_CUR) {
    from = file_pointer_take(file, 0, function);
  } else if (whence == MPI_SEEK_END) {
    code = file_end(file, &from);
  }
  if (!code && from + offset < 0) {
    code = MPI_ERR_OTHER;
  }
  if (!code) {
    file_pointer_set(file, from + offset, function);
  }
  return code;
}

int pems_File_seek_shared(MPI_File handle, MPI_Offset offset, int whence) {
  static const char function[] = "MPI_File_seek_shared";
  struct file *file = file_of(handle);
  int code = !file ? MPI_ERR_FILE
             : whence != MPI_SEEK_SET && whence != MPI_SEEK_CUR &&
                     whence != MPI_SEEK_END
                 ? MPI_ERR_ARG
                 : MPI_SUCCESS;
  if (!code) {
    coll_barrier(file->comm, function);
    if (file->comm->rank == 0) {
      code = seek(file, offset, whence, function);
    }
    code = file_agree(file, function, code);
  }
  return file_error(file, code, function);
}

int pems_File_get_position_shared(MPI_File handle, MPI_Offset *offset) {
  static const char function[] = "MPI_File_get_position_shared";
  struct file *file = file_of(handle);
  const int code = !file ? MPI_ERR_FILE : !offset ? MPI_ERR_ARG : MPI_SUCCESS;
  if (!code) {
    *offset = file_pointer_take(file, 0, function);
  }
  return file_error(file, code, function);
}
