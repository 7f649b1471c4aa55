/* Reading and writing at an offset or at the rank's own pointer: alone,
   collectively, and as requests. */
#include "mpi/io/file_access.h"

#include <stdint.h>
#include <sys/statvfs.h>

#include "context/residency/track.h"
#include "mpi/datatype/layout.h"
#include "mpi/io/file_owner.h"
#include "mpi/request/request.h"
#include "mpi_abi/functions.h"
#include "mpi_below/real.h"
#include "report/trace.h"

/* --- one access --- */

/* The system writes to the buffer, which no handler notices. */
static void open_buffer(const struct file_transfer *a) {
  const struct layout *layout =
      a->count > 0 && a->type != MPI_DATATYPE_NULL ? layout_of(a->type) : NULL;
  if (layout) {
    char *low;
    const struct layout_span span = {a->buffer, a->count, layout};
    const size_t n = span_bounds(&span, &low);
    if (n) {
      track_open(low, n);
    }
  }
}

#if defined REAL_HAS_File_read_c
/* More elements than an int counts. */
static int call_real_large(struct file *file, const struct file_transfer *a,
                           MPI_Status *status) {
  if (a->next) {
    return a->writing ? real.File_write_c(file->real, a->buffer, a->count,
                                          a->type, status)
                      : real.File_read_c(file->real, a->buffer, a->count,
                                         a->type, status);
  }
  return a->writing ? real.File_write_at_c(file->real, a->offset, a->buffer,
                                           a->count, a->type, status)
                    : real.File_read_at_c(file->real, a->offset, a->buffer,
                                          a->count, a->type, status);
}
#else
/* Programs have no function for that, either. */
static int call_real_large(struct file *file, const struct file_transfer *a,
                           MPI_Status *status) {
  (void)file, (void)a, (void)status;
  return MPI_ERR_COUNT;
}
#endif

static int call_real_now(struct file *file, const struct file_transfer *a,
                         MPI_Status *status) {
  const int count = (int)a->count;
  if (count != a->count) {
    return call_real_large(file, a, status);
  }
  if (a->next) {
    return a->writing
               ? real.File_write(file->real, a->buffer, count, a->type, status)
               : real.File_read(file->real, a->buffer, count, a->type, status);
  }
  return a->writing ? real.File_write_at(file->real, a->offset, a->buffer,
                                         count, a->type, status)
                    : real.File_read_at(file->real, a->offset, a->buffer, count,
                                        a->type, status);
}

/* The buffers for conversion of the MPI below are set up when first used, and
   not safely so by several threads. */
static int call_real(struct file *file, const struct file_transfer *a,
                     MPI_Status *status) {
  if (!file->converts) {
    return call_real_now(file, a, status);
  }
  file_serial_enter();
  const int code = call_real_now(file, a, status);
  file_serial_leave();
  return code;
}

/* The least bytes that a complete write moves. In external32 some types take
   half of what they take in memory (MPI_LONG), and the MPI below says wrongly
   which (MPI_Pack_external_size). */
static MPI_Count least_bytes(const struct file *file,
                             const struct file_transfer *a) {
  MPI_Count size = 0;
  real.Type_size_x(a->type, &size);
  return size * a->count / (file->external ? 2 : 1);
}

/* Why a write fell short by so many bytes. The MPI below does not tell; where
   the file system has no room for them, that was it. */
static int why_short(const struct file *file, MPI_Count missing) {
  struct statvfs fs;
  return statvfs(file->name, &fs) == 0 && fs.f_frsize &&
                 fs.f_bavail > (uint64_t)missing / fs.f_frsize
             ? MPI_ERR_IO
             : MPI_ERR_NO_SPACE;
}

/* Is it an error of the disk, and none of the call? */
static bool is_of_disk(int code) {
  int class = MPI_SUCCESS;
  real.Error_class(code, &class);
  return class == MPI_ERR_OTHER || class == MPI_ERR_IO ||
         class == MPI_ERR_UNKNOWN || class == MPI_ERR_INTERN;
}

/* When a disk is full, one MPI below returns MPI_SUCCESS with a count that is
   too small, another MPI_ERR_OTHER. */
static int check_written(struct file *file, const struct file_transfer *a,
                         int code, const MPI_Status *status) {
  MPI_Count moved = 0;
  const MPI_Count all = least_bytes(file, a);
  if (code && !is_of_disk(code)) {
    return code;
  }
  if (!code) {
    real.Get_elements_x(status, MPI_BYTE, &moved);
  }
  if (!code && moved >= all) {
    return MPI_SUCCESS;
  }
  file->lost = why_short(file, all - moved);
  return file->lost;
}

int file_check(struct file *file, const struct file_transfer *a) {
  struct file_transfer nothing = *a;
  MPI_Status status;
  if (a->count < 0) {
    return MPI_ERR_COUNT;
  }
  nothing.next = true;
  nothing.count = 0;
  return call_real(file, &nothing, &status);
}

int file_access(struct file *file, const struct file_transfer *a,
                MPI_Status *status) {
  const int vp = file->comm->vp->index;
  MPI_Status own;
  status = status == MPI_STATUS_IGNORE ? &own : status;
  if (file->atomic) {
    file_lock(file, a->function);
  }
  const enum trace_state before = trace_state_of(vp);
  trace_enter(vp, TRACE_DISK);
  if (!a->writing && !file_check(file, a)) {
    open_buffer(a);
  }
  int code = call_real(file, a, status);
  if (a->writing) {
    code = check_written(file, a, code, status);
  }
  trace_enter(vp, before);
  if (file->atomic) {
    file_unlock(file);
  }
  return code;
}

MPI_Offset file_etypes(const struct file *file, const struct file_transfer *a) {
  MPI_Count size = 0;
  real.Type_size_x(a->type, &size);
  return size * a->count / (MPI_Offset)(file->etype ? file->etype : 1);
}

int file_access_together(struct file *file, const struct file_transfer *a,
                         MPI_Status *status) {
  file_order(file, a->writing, a->function);
  const int code = file_access(file, a, status);
  if (a->writing) {
    file_wrote(file, a->function);
  }
  return code;
}

/* --- the program's calls --- */

int file_call(MPI_File handle, file_access_fn *access, struct file_transfer a,
              MPI_Status *status) {
  struct file *file = file_of(handle);
  const int code = file ? access(file, &a, status) : MPI_ERR_FILE;
  return file_error(file, code, a.function);
}

static const struct request_class request_class = {.name = "file access",
                                                   .past = true};

int file_request(MPI_File handle, file_access_fn *access,
                 struct file_transfer a, MPI_Request *request) {
  struct file *file = file_of(handle);
  MPI_Status status;
  int code = !file ? MPI_ERR_FILE : !request ? MPI_ERR_REQUEST : MPI_SUCCESS;
  struct request *r =
      code ? NULL
           : request_new(sizeof(*r), &request_class, file->comm, a.function);
  if (!code) {
    code = r ? access(file, &a, &status) : MPI_ERR_NO_MEM;
  }
  if (code) {
    request_end(r);
    return file_error(file, code, a.function);
  }
  real.Get_elements_x(&status, MPI_BYTE, &r->result.bytes);
  request_done_now(r);
  *request = request_handle(r);
  return MPI_SUCCESS;
}

/* Nonblocking collectives must not wait for others: they come in no order but
   the rank's own. */
static int collective_request(MPI_File handle, struct file_transfer a,
                              MPI_Request *request) {
  struct file *file = file_of(handle);
  if (file && a.writing) {
    file->last = FILE_WRITTEN;
  }
  return file_request(handle, file_access, a, request);
}

static struct file_transfer at(const char *function, bool writing,
                               MPI_Offset offset, const void *buffer,
                               MPI_Count count, MPI_Datatype type) {
  return (struct file_transfer){function,       writing, false, offset,
                                (void *)buffer, count,   type};
}

static struct file_transfer next(const char *function, bool writing,
                                 const void *buffer, MPI_Count count,
                                 MPI_Datatype type) {
  return (struct file_transfer){function,       writing, true, 0,
                                (void *)buffer, count,   type};
}

int pems_File_read(MPI_File file, void *buffer, MPI_Count count,
                   MPI_Datatype type, MPI_Status *status) {
  return file_call(file, file_access,
                   next("MPI_File_read", false, buffer, count, type), status);
}

int pems_File_read_at(MPI_File file, MPI_Offset offset, void *buffer,
                      MPI_Count count, MPI_Datatype type, MPI_Status *status) {
  return file_call(file, file_access,
                   at("MPI_File_read_at", false, offset, buffer, count, type),
                   status);
}

int pems_File_write(MPI_File file, const void *buffer, MPI_Count count,
                    MPI_Datatype type, MPI_Status *status) {
  return file_call(file, file_access,
                   next("MPI_File_write", true, buffer, count, type), status);
}

int pems_File_write_at(MPI_File file, MPI_Offset offset, const void *buffer,
                       MPI_Count count, MPI_Datatype type, MPI_Status *status) {
  return file_call(file, file_access,
                   at("MPI_File_write_at", true, offset, buffer, count, type),
                   status);
}

int pems_File_read_all(MPI_File file, void *buffer, MPI_Count count,
                       MPI_Datatype type, MPI_Status *status) {
  return file_call(file, file_access_together,
                   next("MPI_File_read_all", false, buffer, count, type),
                   status);
}

int pems_File_read_at_all(MPI_File file, MPI_Offset offset, void *buffer,
                          MPI_Count count, MPI_Datatype type,
                          MPI_Status *status) {
  return file_call(
      file, file_access_together,
      at("MPI_File_read_at_all", false, offset, buffer, count, type), status);
}

int pems_File_write_all(MPI_File file, const void *buffer, MPI_Count count,
                        MPI_Datatype type, MPI_Status *status) {
  return file_call(file, file_access_together,
                   next("MPI_File_write_all", true, buffer, count, type),
                   status);
}

int pems_File_write_at_all(MPI_File file, MPI_Offset offset, const void *buffer,
                           MPI_Count count, MPI_Datatype type,
                           MPI_Status *status) {
  return file_call(
      file, file_access_together,
      at("MPI_File_write_at_all", true, offset, buffer, count, type), status);
}

int pems_File_iread(MPI_File file, void *buffer, MPI_Count count,
                    MPI_Datatype type, MPI_Request *request) {
  return file_request(file, file_access,
                      next("MPI_File_iread", false, buffer, count, type),
                      request);
}

int pems_File_iread_at(MPI_File file, MPI_Offset offset, void *buffer,
                       MPI_Count count, MPI_Datatype type,
                       MPI_Request *request) {
  return file_request(
      file, file_access,
      at("MPI_File_iread_at", false, offset, buffer, count, type), request);
}

int pems_File_iwrite(MPI_File file, const void *buffer, MPI_Count count,
                     MPI_Datatype type, MPI_Request *request) {
  return file_request(file, file_access,
                      next("MPI_File_iwrite", true, buffer, count, type),
                      request);
}

int pems_File_iwrite_at(MPI_File file, MPI_Offset offset, const void *buffer,
                        MPI_Count count, MPI_Datatype type,
                        MPI_Request *request) {
  return file_request(
      file, file_access,
      at("MPI_File_iwrite_at", true, offset, buffer, count, type), request);
}

int pems_File_iread_all(MPI_File file, void *buffer, MPI_Count count,
                        MPI_Datatype type, MPI_Request *request) {
  return collective_request(
      file, next("MPI_File_iread_all", false, buffer, count, type), request);
}

int pems_File_iread_at_all(MPI_File file, MPI_Offset offset, void *buffer,
                           MPI_Count count, MPI_Datatype type,
                           MPI_Request *request) {
  return collective_request(
      file, at("MPI_File_iread_at_all", false, offset, buffer, count, type),
      request);
}

int pems_File_iwrite_all(MPI_File file, const void *buffer, MPI_Count count,
                         MPI_Datatype type, MPI_Request *request) {
  return collective_request(
      file, next("MPI_File_iwrite_all", true, buffer, count, type), request);
}

int pems_File_iwrite_at_all(MPI_File file, MPI_Offset offset,
                            const void *buffer, MPI_Count count,
                            MPI_Datatype type, MPI_Request *request) {
  return collective_request(
      file, at("MPI_File_iwrite_at_all", true, offset, buffer, count, type),
      request);
}
