/* What the program of this process has open beside the files that each rank
   opens anew (interpose/descriptor.h): nobody could do that. */
#ifndef PEMS_MPI_JOB_CHECKPOINT_FILES_H
#define PEMS_MPI_JOB_CHECKPOINT_FILES_H

#include <pems/status.h>

/* What is open now is not the program's. */
void checkpoint_files_note(void);
/* 0, or ENOTSUP with *error filled in: something is open that was not then, and
   does not lie in `dir`, nor is a socket, which may be MPI's, or a library that
   is loaded. */
int checkpoint_files_check(const char *dir, struct pems_error *error);

#endif
