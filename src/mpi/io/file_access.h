/* Reading and writing at an offset or at the rank's own pointer: alone,
   collectively, and as requests. */
#ifndef PEMS_MPI_IO_FILE_ACCESS_H
#define PEMS_MPI_IO_FILE_ACCESS_H

#include "mpi/io/file.h"

struct file_transfer {
  const char *function; /* "MPI_File_read" */
  bool writing;
  bool next;         /* at the rank's own pointer, which it moves; */
  MPI_Offset offset; /* else at this one, in etypes of the view */
  void *buffer;
  MPI_Count count;
  MPI_Datatype type;
};

/* Carries an access out; returns its code, and calls no handler. */
typedef int file_access_fn(struct file *file, const struct file_transfer *a,
                           MPI_Status *status);
file_access_fn file_access;
/* The same with all ranks. */
file_access_fn file_access_together;

/* The same for the program's calls, which get the handle's error handler. */
int file_call(MPI_File handle, file_access_fn *access, struct file_transfer a,
              MPI_Status *status);
/* Carries it out, and makes a request that is done. */
int file_request(MPI_File handle, file_access_fn *access,
                 struct file_transfer a, MPI_Request *request);

/* Is it one that file_access could carry out? */
int file_check(struct file *file, const struct file_transfer *a);
/* Etypes that it takes. file_check found it right. */
MPI_Offset file_etypes(const struct file *file, const struct file_transfer *a);

#endif
