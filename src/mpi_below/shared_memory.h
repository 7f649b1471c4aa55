/* Memory that the processes of a host share. It comes from a file without a
   name, in no file system: the MPI's own shared windows lie in /dev/shm, which
   is small in many containers, and some MPIs hang where that is full. */
#ifndef PEMS_MPI_BELOW_SHARED_MEMORY_H
#define PEMS_MPI_BELOW_SHARED_MEMORY_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

struct shared_memory {
  void *at; /* NULL: there is none */
  size_t n;
};

/* Which file it is, as process 0 of the host tells the others. */
struct shared_memory_file {
  uint64_t process, fd, device, inode;
};

/* Called by all processes of `host`: `n` bytes, zero at first. Returns 0, or to
   all of them the errno value of one that cannot share memory. */
int shared_memory_make(struct shared_memory *m, MPI_Comm host, size_t n);
void shared_memory_free(struct shared_memory *m);

#endif
