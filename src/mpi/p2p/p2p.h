/* Point-to-point messages between members of a communicator, in this process or
   another one. */
#ifndef PEMS_MPI_P2P_P2P_H
#define PEMS_MPI_P2P_P2P_H

#include "mpi/datatype/layout.h"
#include "mpi/object/comm.h"
#include "mpi/request/request.h"

/* Messages of one channel never match receives of another. */
enum p2p_channel {
  CHANNEL_USER,
  CHANNEL_MAKE,      /* making communicators, windows, files */
  CHANNEL_NEIGHBOR,  /* neighbourhood collectives */
  CHANNEL_PARTITION, /* partitioned messages */
  CHANNEL_PORT,      /* MPI_Comm_connect */
  CHANNEL_SPAWN,     /* what a spawned rank is */
  CHANNELS,
};

enum p2p_send_mode {
  SEND_STANDARD,
  SEND_SYNCHRONOUS,
  SEND_BUFFERED,
  SEND_READY
};

/* Starts a message of count elements. `peer` is a rank of the group that comm
   addresses (or MPI_PROC_NULL, MPI_ANY_SOURCE for receives). The arguments are
   right already. `function` names the program's call. The buffer belongs to the
   request until it is done. NULL if memory is short: nothing has begun. */
struct request *p2p_send(struct comm *comm, enum p2p_channel channel,
                         enum p2p_send_mode mode, const void *buffer,
                         MPI_Count count, MPI_Datatype type, int peer, int tag,
                         const char *function);
/* The same for a request that only the program waits for: of a message that is
   on its way already, request_over(). */
struct request *p2p_send_over(struct comm *comm, enum p2p_send_mode mode,
                              const void *buffer, MPI_Count count,
                              MPI_Datatype type, int peer, int tag,
                              const char *function);
struct request *p2p_receive(struct comm *comm, enum p2p_channel channel,
                            void *buffer, MPI_Count count, MPI_Datatype type,
                            int peer, int tag, const char *function);

/* Before VPs run, and after. Messages that nobody has received are kept in
   memory as far as their share goes, else in a file in `dir`. */
void p2p_start(const char *dir);
void p2p_end(void);

/* n bytes; returns when the buffer can be used again. The buffer may be native
   memory or the VP's. Receiving: exactly n bytes must be sent. */
void p2p_send_bytes(struct comm *comm, enum p2p_channel channel,
                    const void *bytes, size_t n, int peer, int tag,
                    const char *function);
void p2p_receive_bytes(struct comm *comm, enum p2p_channel channel, void *bytes,
                       size_t n, int peer, int tag, const char *function);

#endif
