/* Messages on their way out: what is sent, and a send that is not done yet. */
#ifndef PEMS_MPI_P2P_OUTGOING_H
#define PEMS_MPI_P2P_OUTGOING_H

#include "mpi/p2p/letter.h"
#include "mpi/p2p/p2p.h"
#include "net/am.h"

struct outgoing {
  struct comm *comm;
  enum p2p_channel channel;
  enum p2p_send_mode mode;
  struct layout_span span;
  int peer; /* in the team, or MPI_PROC_NULL */
  int tag;
  size_t bytes;
};

struct outgoing_send {
  struct request request;
  struct outgoing out;
  bool held;   /* its layout is held */
  bool summed; /* audit.h: of what it sends */
  uint64_t sum;
  /* Of a buffered send, the contents, if they were copied. Of others to a
     member of this process: not received yet, or NULL. */
  struct letter *letter;
  bool copied;
  uint64_t
      number; /* of one that a checkpoint had: what it was known by there */
  /* To another process: */
  struct am_stream stream;
  uint64_t receive; /* there */
  size_t sent, wanted;
};

struct outgoing outgoing_make(struct comm *comm, enum p2p_channel channel,
                              enum p2p_send_mode mode, const void *buffer,
                              MPI_Count count, const struct layout *layout,
                              int peer, int tag);
/* Sends a message that needs nobody's help: true if its buffer can be used
   again and nothing is left to do. */
bool outgoing_now(const struct outgoing *o);
/* Does only an announcement go to another process at first? NULL: no. */
bool outgoing_is_announced(const struct outgoing_send *s);
/* A send that is not begun; it holds the layout if the type may be freed. NULL
   if memory is short. */
struct outgoing_send *outgoing_new(const struct outgoing *o, MPI_Datatype type,
                                   const char *function);
/* One that another process has begun; the layout is held. Not for NULL. */
struct outgoing_send *outgoing_again(const struct outgoing *o,
                                     const char *function);
/* The request as a send, or NULL: it is none. */
struct outgoing_send *outgoing_of(struct request *r);
/* Begins one that outgoing_now could not do. */
void outgoing_later(struct outgoing_send *s);

#endif
