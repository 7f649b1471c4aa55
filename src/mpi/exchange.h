/* The engine of the collectives that only move data (PEMS2, sections 6.2 and
   7.1): each VP says what it sends to whom and receives from whom. */
#ifndef PEMS_MPI_EXCHANGE_H
#define PEMS_MPI_EXCHANGE_H

#include "mpi/layout.h"
#include "vp/vp.h"

#include <mpi.h>
#include <stdbool.h>

enum shape {
  SIDE_NONE,   /* no messages */
  SIDE_ONE,    /* the same buffer for every peer */
  SIDE_BLOCKS, /* equal blocks, one after another, by rank of the peer */
  SIDE_VECTOR, /* a count, a displacement and perhaps a type per peer */
};

/* One VP's sending or receiving side. */
struct side {
  enum shape shape;
  char *base;
  size_t count; /* elements per message, but for SIDE_VECTOR */
  const struct layout *layout;
  const int *counts; /* by rank: copies that exchange owns after the call */
  const int *displacements;
  const struct layout **layouts; /* by rank, then displacements are in bytes;
                                    or NULL: `layout`, in extents */
  int only;                      /* the single peer, or -1 for all */
  int except;                    /* a peer without a message, or -1 */
  bool in_place; /* sending: the messages stand where those from the same peers
                    will be received */
};

/* A side without messages, to be completed. */
struct side side_none(void);
/* The same buffer to all, or one block per peer. The side holds the layouts of
   its types, so that others can use it when its VP has gone on. */
struct side side_make(enum shape shape, const void *base, int count,
                      MPI_Datatype type);
/* What a rank gives to the root or gets from it; nothing if MPI_IN_PLACE. */
struct side side_rooted(const void *base, int count, MPI_Datatype type,
                        int root);
/* Copies the arrays. `types` NULL: one `type`. */
struct side side_vector(const void *base, const int *counts,
                        const int *displacements, MPI_Datatype type,
                        const MPI_Datatype *types);
/* Frees what a side holds. */
void side_release(struct side *s);
/* The message to or from `peer`; false if there is none or it is empty. */
bool side_span(const struct side *s, int peer, struct span *out);

/* Makes the call. Every VP of MPI_COMM_WORLD calls it with the same name and
   root (-1 for none). A VP leaves as soon as what it receives is there and what
   it sends has been taken. Takes over what the sides hold. Returns MPI_SUCCESS
   or MPI_ERR_TRUNCATE. */
int exchange(struct vp *vp, const char *name, int root, struct side send,
             struct side receive);

#endif
