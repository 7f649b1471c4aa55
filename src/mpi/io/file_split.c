/* Split collectives: all is done when they begin. */
#include "mpi/io/file_access.h"
#include "mpi/io/file_shared.h"
#include "mpi_abi/functions.h"

static int begin(MPI_File handle, const char *end, file_access_fn *access,
                 struct file_transfer a) {
  struct file *file = file_of(handle);
  int code = !file             ? MPI_ERR_FILE
             : file->split.end ? MPI_ERR_OTHER /* one at a time */
                               : MPI_SUCCESS;
  if (!code) {
    code = access(file, &a, &file->split.status);
    file->split.end = code ? NULL : end;
  }
  return file_error(file, code, a.function);
}

static int end(MPI_File handle, const char *function, MPI_Status *status) {
  struct file *file = file_of(handle);
  const int code = !file ? MPI_ERR_FILE
                   : file->split.end != function
                       ? MPI_ERR_OTHER /* another has begun, or none */
                       : MPI_SUCCESS;
  if (!code) {
    file->split.end = NULL;
    if (status != MPI_STATUS_IGNORE) {
      *status = file->split.status;
    }
  }
  return file_error(file, code, function);
}

static const char read_all_end[] = "MPI_File_read_all_end";
static const char read_at_all_end[] = "MPI_File_read_at_all_end";
static const char write_all_end[] = "MPI_File_write_all_end";
static const char write_at_all_end[] = "MPI_File_write_at_all_end";
static const char read_ordered_end[] = "MPI_File_read_ordered_end";
static const char write_ordered_end[] = "MPI_File_write_ordered_end";

int pems_File_read_all_begin(MPI_File file, void *buffer, MPI_Count count,
                             MPI_Datatype type) {
  return begin(file, read_all_end, file_access_together,
               (struct file_transfer){"MPI_File_read_all_begin", false, true, 0,
                                      buffer, count, type});
}

int pems_File_read_all_end(MPI_File file, void *buffer, MPI_Status *status) {
  (void)buffer;
  return end(file, read_all_end, status);
}

int pems_File_read_at_all_begin(MPI_File file, MPI_Offset offset, void *buffer,
                                MPI_Count count, MPI_Datatype type) {
  return begin(file, read_at_all_end, file_access_together,
               (struct file_transfer){"MPI_File_read_at_all_begin", false,
                                      false, offset, buffer, count, type});
}

int pems_File_read_at_all_end(MPI_File file, void *buffer, MPI_Status *status) {
  (void)buffer;
  return end(file, read_at_all_end, status);
}

int pems_File_write_all_begin(MPI_File file, const void *buffer,
                              MPI_Count count, MPI_Datatype type) {
  return begin(file, write_all_end, file_access_together,
               (struct file_transfer){"MPI_File_write_all_begin", true, true, 0,
                                      (void *)buffer, count, type});
}

int pems_File_write_all_end(MPI_File file, const void *buffer,
                            MPI_Status *status) {
  (void)buffer;
  return end(file, write_all_end, status);
}

int pems_File_write_at_all_begin(MPI_File file, MPI_Offset offset,
                                 const void *buffer, MPI_Count count,
                                 MPI_Datatype type) {
  return begin(file, write_at_all_end, file_access_together,
               (struct file_transfer){"MPI_File_write_at_all_begin", true,
                                      false, offset, (void *)buffer, count,
                                      type});
}

int pems_File_write_at_all_end(MPI_File file, const void *buffer,
                               MPI_Status *status) {
  (void)buffer;
  return end(file, write_at_all_end, status);
}

int pems_File_read_ordered_begin(MPI_File file, void *buffer, MPI_Count count,
                                 MPI_Datatype type) {
  return begin(file, read_ordered_end, file_access_ordered,
               (struct file_transfer){"MPI_File_read_ordered_begin", false,
                                      false, 0, buffer, count, type});
}

int pems_File_read_ordered_end(MPI_File file, void *buffer,
                               MPI_Status *status) {
  (void)buffer;
  return end(file, read_ordered_end, status);
}

int pems_File_write_ordered_begin(MPI_File file, const void *buffer,
                                  MPI_Count count, MPI_Datatype type) {
  return begin(file, write_ordered_end, file_access_ordered,
               (struct file_transfer){"MPI_File_write_ordered_begin", true,
                                      false, 0, (void *)buffer, count, type});
}

int pems_File_write_ordered_end(MPI_File file, const void *buffer,
                                MPI_Status *status) {
  (void)buffer;
  return end(file, write_ordered_end, status);
}
