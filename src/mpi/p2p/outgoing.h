/* Messages on their way out: what is sent, and a send that is not done yet. */
#ifndef PEMS_MPI_P2P_OUTGOING_H
#define PEMS_MPI_P2P_OUTGOING_H

#include "mpi/p2p/letter.h"
#include "mpi/p2p/p2p.h"
#include "net/am.h"

struct outgoing {
  struct comm *comm;
  enum channel channel;
  enum send_mode mode;
  struct span span;
  int peer; /* in the team, or MPI_PROC_NULL */
  int tag;
  size_t bytes;
};

struct send {
  struct request request;
  struct outgoing out;
  bool held;   /* its layout is held */
  bool summed; /* audit.h: of what it sends */
  uint64_t sum;
  /* To a member of this process: not received yet, or NULL. To another process:
     the contents, if they were copied for a buffered send. */
  struct letter *letter;
  /* To another process: */
  struct am_stream stream;
  uint64_t receive; /* there */
  size_t sent, wanted;
};

struct outgoing outgoing_make(struct comm *comm, enum channel channel,
                              enum send_mode mode, const void *buffer,
                              int count, const struct layout *layout, int peer,
                              int tag);
/* Sends a message that needs nobody's help: true if its buffer can be used
   again and nothing is left to do. */
bool send_now(const struct outgoing *o);
/* A send that is not begun; it holds the layout if the type may be freed. */
struct send *send_new(const struct outgoing *o, MPI_Datatype type,
                      const char *function);
/* Begins one that send_now could not do. */
void send_later(struct send *s);
/* The layout of a type, and whether it is to be held while it is used. */
const struct layout *message_layout(MPI_Datatype type);

/* Largest message that is copied before a receive is posted. */
size_t p2p_eager_limit(void);

#endif
