/* MPI's files. Every rank has a real file of its own, opened by the real
   library on MPI_COMM_SELF: that knows about views, data representations and
   the file system. What ranks share, and in which order they come, is here. */
#ifndef PEMS_MPI_IO_FILE_H
#define PEMS_MPI_IO_FILE_H

#include "mpi/object/comm.h"
#include "mpi_abi/abi.h"
#include "mpi_abi/handle.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* What collective accesses last did: see file_order. */
enum file_last { FILE_NOTHING, FILE_READ, FILE_WRITTEN };

/* A split collective that has begun. */
struct file_split {
  const char *end; /* what has to end it: "MPI_File_read_all_end"; or NULL */
  MPI_Status status;
};

struct file {
  struct handle handle;
  struct comm *comm; /* a private one of those who opened it */
  MPI_File real;
  char *name;
  char *path;     /* of its root, for checkpoints; NULL: none are taken, or it
                     cannot be told */
  int amode;      /* as the program gave it */
  size_t etype;   /* bytes of the view's etype */
  uint64_t views; /* how often the view was set */
  bool converts;  /* the view's representation is not native */
  bool external;  /* it is external32 */
  int lost;       /* class of the last write since MPI_File_sync that
                     did not reach the file; or MPI_SUCCESS */
  bool atomic;    /* MPI_File_set_atomicity */
  enum file_last last;     /* the same on all ranks */
  struct request *written; /* done when all have made the last collective
                              write; or NULL */
  struct file_split split;
  struct errhandler errhandler;
  struct file *next, *previous; /* in rank->files */
};

/* What a rank has of files. */
struct files {
  struct errhandler errhandler; /* of MPI_FILE_NULL */
  struct file *first;           /* open ones, the newest first */
};
/* Of the calling VP. */
struct files *files_me(void);

/* NULL for what is none; MPI_FILE_NULL is none. */
struct file *file_of(MPI_File handle);
static inline MPI_File file_handle(struct file *file) {
  return ABI_HANDLE(MPI_File, file);
}

/* Calls the error handler of the file; that of MPI_FILE_NULL where `file` is
   NULL. Returns code, unless the handler ends the job. No effect for
   MPI_SUCCESS. */
int file_error(struct file *file, int code, const char *function);
/* The real library's framework of files takes no locks for these: one call at a
   time makes, changes, ends what it has. */
void file_serial_enter(void);
void file_serial_leave(void);

/* The end of the file in etypes of the view: the first one that starts after
   the last byte. Collective writes of others may not be over. A code. */
int file_end(struct file *file, MPI_Offset *end);
/* Moves the rank's own pointer, by offset from where `whence` says. A code. */
int file_seek(struct file *file, MPI_Offset offset, int whence);

/* The same code on all ranks: that of the first rank that failed.
   Collective. */
int file_agree(struct file *file, const char *function, int code);
/* Before a collective access: those of the other kind that all ranks have
   called before are over. MPI promises it only after MPI_File_sync; programs
   rely on what others do. */
void file_order(struct file *file, bool writing, const char *function);
/* A collective write of the rank is over; nobody waits. And: those that it has
   made are over on all ranks. MPI promises that to nobody who asks for the size
   of a file, either. */
void file_wrote(struct file *file, const char *function);
void file_settle(struct file *file);

#endif
