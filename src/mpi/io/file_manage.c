/* A file's size, its view, and what is on its disk. */
#include <strings.h>

#include "mpi/coll/barrier.h"
#include "mpi/coll/call/coll.h"
#include "mpi/io/file.h"
#include "mpi/io/file_owner.h"
#include "mpi_abi/functions.h"
#include "mpi_below/real.h"

/* Everything that ranks have called before is over when rank 0 changes the
   size, and that is over when they go on. */
static int resize(MPI_File handle, MPI_Offset size,
                  int (*change)(MPI_File, MPI_Offset), const char *function) {
  struct file *file = file_of(handle);
  if (!file) {
    return file_error(NULL, MPI_ERR_FILE, function);
  }
  coll_barrier(file->comm, function);
  int code = MPI_SUCCESS;
  if (file->comm->rank == 0) {
    code = change(file->real, size);
  }
  file->last = FILE_NOTHING;
  return file_error(file, file_agree(file, function, code), function);
}

int pems_File_set_size(MPI_File handle, MPI_Offset size) {
  return resize(handle, size, real.File_set_size, "MPI_File_set_size");
}

int pems_File_preallocate(MPI_File handle, MPI_Offset size) {
  return resize(handle, size, real.File_preallocate, "MPI_File_preallocate");
}

int pems_File_sync(MPI_File handle) {
  static const char function[] = "MPI_File_sync";
  struct file *file = file_of(handle);
  if (!file) {
    return file_error(NULL, MPI_ERR_FILE, function);
  }
  /* First, so that one rank's call writes what all have written: the others
     find nothing left to do. */
  coll_barrier(file->comm, function);
  file->last = FILE_NOTHING;
  const int lost = file->lost, code = real.File_sync(file->real);
  file->lost = MPI_SUCCESS;
  return file_error(file, code ? code : lost, function);
}

int pems_File_set_atomicity(MPI_File handle, int flag) {
  static const char function[] = "MPI_File_set_atomicity";
  struct file *file = file_of(handle);
  if (!file) {
    return file_error(NULL, MPI_ERR_FILE, function);
  }
  coll_barrier(file->comm, function);
  const int code = real.File_set_atomicity(file->real, flag);
  file->atomic = code ? file->atomic : flag != 0;
  return file_error(file, code, function);
}

/* --- views --- */

/* In a sequential file the view may begin where the shared pointer is. */
static MPI_Offset current_displacement(struct file *file,
                                       const char *function) {
  MPI_Offset bytes = MPI_DISPLACEMENT_CURRENT;
  if (file->amode & MPI_MODE_SEQUENTIAL) {
    real.File_get_byte_offset(file->real, file_pointer_take(file, 0, function),
                              &bytes);
  }
  return bytes;
}

int pems_File_set_view(MPI_File handle, MPI_Offset displacement,
                       MPI_Datatype etype, MPI_Datatype filetype,
                       const char *datarep, MPI_Info info) {
  static const char function[] = "MPI_File_set_view";
  struct file *file = file_of(handle);
  if (!file) {
    return file_error(NULL, MPI_ERR_FILE, function);
  }
  if (displacement == MPI_DISPLACEMENT_CURRENT) {
    displacement = current_displacement(file, function);
    /* Nobody moves on before all have asked. */
    coll_barrier(file->comm, function);
  }
  file->views++;
  file_serial_enter();
  const int code = real.File_set_view(file->real, displacement, etype, filetype,
                                      datarep, info);
  file_serial_leave();
  int bytes;
  if (!code && !real.Type_size(etype, &bytes)) {
    file->etype = bytes;
    file->converts = strcasecmp(datarep, "native") != 0;
    file->external = strcasecmp(datarep, "external32") == 0;
  }
  return file_error(file, code, function);
}

int pems_File_get_view(MPI_File handle, MPI_Offset *displacement,
                       MPI_Datatype *etype, MPI_Datatype *filetype,
                       char *datarep) {
  struct file *file = file_of(handle);
  const int code = file ? real.File_get_view(file->real, displacement, etype,
                                             filetype, datarep)
                        : MPI_ERR_FILE;
  return file_error(file, code, "MPI_File_get_view");
}

int pems_Register_datarep(const char *datarep,
                          MPI_Datarep_conversion_function *read,
                          MPI_Datarep_conversion_function *write,
                          MPI_Datarep_extent_function *extent, void *state) {
  (void)read, (void)write, (void)extent, (void)state;
  /* The MPI below has none but its own, either. */
  return file_error(NULL, datarep ? MPI_ERR_UNSUPPORTED_DATAREP : MPI_ERR_ARG,
                    "MPI_Register_datarep");
}

#if defined PEMS_MPI_HAS_Register_datarep_c
int pems_Register_datarep_c(const char *datarep,
                            MPI_Datarep_conversion_function_c *read,
                            MPI_Datarep_conversion_function_c *write,
                            MPI_Datarep_extent_function *extent, void *state) {
  (void)read, (void)write;
  return pems_Register_datarep(datarep, NULL, NULL, extent, state);
}
#endif
