/* Buffers that programs attach for buffered sends, to a communicator, a session
   or the rank. pems copies such messages to where it keeps others (letter.h),
   and uses the buffers for nothing; that a message would have fitted is all it
   checks. */
#ifndef PEMS_MPI_P2P_BUFFERED_H
#define PEMS_MPI_P2P_BUFFERED_H

#include "checkpoint/stream.h"
#include "mpi/object/comm.h"

#include <mpi.h>
#include <stdint.h>

/* MPI_ERR_BUFFER if a message is too large for the calling VP's buffer: that of
   the communicator, else that of the rank, else the largest of its sessions,
   since a communicator does not know which it came from. */
int buffered_check(const struct comm *comm, MPI_Count count, MPI_Datatype type);

/* One buffer for each owner, a communicator or session of the calling VP; NULL:
   the rank. Each returns an error class. `address` of buffered_detach is where
   a pointer of any type is. */
int buffered_attach(const void *owner, void *address, MPI_Count size);
int buffered_detach(const void *owner, void *address, MPI_Count *size);
/* No message waits in a buffer. */
int buffered_flush(void);
int buffered_iflush(MPI_Request *request, const char *function);
/* The owner is no more. */
void buffered_forget(const void *owner);

/* For a checkpoint: how many the rank has, or -1: one of a session, which
   cannot be saved; writing them; and making so many anew on its thread. */
int buffered_count(const struct rank *rank);
void buffered_save(const struct rank *rank, struct checkpoint_writer *to);
void buffered_load(struct checkpoint_reader *from, uint32_t n);

#endif
