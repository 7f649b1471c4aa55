/* What the tests of files share: a file's name, and a look at its bytes without
   MPI. */
#ifndef TESTS_MPI_FILES_H
#define TESTS_MPI_FILES_H

#include "test.h"

#include <unistd.h>

static char path[300];

/* A name that no other test has, the same on all ranks. */
static inline void name_file(const char *what) {
  const char *base = getenv("TMPDIR");
  if (rank == 0) {
    snprintf(path, sizeof(path), "%s/pems-%s-%ld", base ? base : "/var/tmp",
             what, (long)getpid());
  }
  MPI_Bcast(path, sizeof(path), MPI_CHAR, 0, MPI_COMM_WORLD);
}

static inline MPI_File open_file(MPI_Comm comm, int amode) {
  MPI_File f = MPI_FILE_NULL;
  const int code = MPI_File_open(comm, path, amode, MPI_INFO_NULL, &f);
  if (code) {
    fail("MPI_File_open: code %d", code);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return f;
}

/* Rank 0 mixes all bytes of the closed file into its digest. */
static inline void mix_file(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  FILE *in = rank == 0 ? fopen(path, "rb") : NULL;
  char bytes[4096];
  size_t n, all = 0;
  while (in && (n = fread(bytes, 1, sizeof(bytes), in)) > 0) {
    mix(bytes, n);
    all += n;
  }
  mix_number(all);
  if (in) {
    fclose(in);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static inline void remove_file(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0 && MPI_File_delete(path, MPI_INFO_NULL) != MPI_SUCCESS) {
    fail("MPI_File_delete");
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static inline int elements(const MPI_Status *status, MPI_Datatype type) {
  int n = -1;
  MPI_Get_count(status, type, &n);
  return n;
}

/* MPI's class of a code, by name: codes themselves may differ. */
static inline int class_of(int code) {
  int class = -1;
  MPI_Error_class(code, &class);
  return class;
}

#endif
