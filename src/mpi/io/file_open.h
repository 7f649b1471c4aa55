/* Files that a rank had open in another process. */
#ifndef PEMS_MPI_IO_FILE_OPEN_H
#define PEMS_MPI_IO_FILE_OPEN_H

#include "mpi/io/file.h"

/* The handle of the calling rank, with its own communicator, and without a real
   file; `path` is that of file->path. */
struct file *file_again(struct comm *own, const char *name, const char *path,
                        int amode);
/* Opens that, which is there. An error class. */
int file_open_again(struct file *file, MPI_Info info);

#endif
