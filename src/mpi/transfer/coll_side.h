/* What a member of a collective call sends to whom, or receives from whom. */
#ifndef PEMS_MPI_TRANSFER_COLL_SIDE_H
#define PEMS_MPI_TRANSFER_COLL_SIDE_H

#include "mpi/datatype/layout.h"
#include "mpi/object/comm.h"
#include "mpi_abi/counts.h"

#include <mpi.h>
#include <stdbool.h>

enum coll_side_shape {
  SIDE_NONE,   /* no messages */
  SIDE_ONE,    /* the same buffer for every peer */
  SIDE_BLOCKS, /* equal blocks, one after another, by rank of the peer */
  SIDE_VECTOR, /* a count, a displacement and perhaps a type per peer */
};

/* One member's sending or receiving side. */
struct coll_side {
  enum coll_side_shape shape;
  char *base;
  size_t count; /* elements per message, but for SIDE_VECTOR */
  const struct layout *layout;
  struct counts counts; /* by rank: copies that exchange owns after the call */
  struct counts displacements;
  const struct layout **layouts; /* by rank, then displacements are in bytes;
                                    or NULL: `layout`, in extents */
  int first;     /* ranks 0 .. n - 1 of the group it addresses are members */
  int n;         /* first .. first + n - 1 of the team: their peer numbers */
  int only;      /* the single peer (number), or -1 for all */
  int except;    /* a peer without a message, or -1 */
  bool in_place; /* sending: the messages stand where those from the same peers
                    will be received */
  void *copy;    /* sending: memory of the context to be freed after the call */
};

/* The peers it addresses: from the first to the last. */
static inline int coll_side_first(const struct coll_side *s) {
  return s->only >= 0 ? s->only : s->first;
}
static inline int coll_side_last(const struct coll_side *s) {
  return s->only >= 0 ? s->only : s->first + s->n - 1;
}

/* A side without messages, to be completed. */
struct coll_side coll_side_none(const struct comm *comm);
/* The same buffer to all, or one block per peer. The side holds the layouts of
   its types, so that others can use it when its VP has gone on. */
struct coll_side coll_side_make(const struct comm *comm,
                                enum coll_side_shape shape, const void *base,
                                MPI_Count count, MPI_Datatype type);
/* What a rank gives to the root, a peer, or gets from it; nothing if
   MPI_IN_PLACE. */
struct coll_side coll_side_rooted(const struct comm *comm, const void *base,
                                  MPI_Count count, MPI_Datatype type, int root);
/* Copies the arrays. `types` NULL: one `type`. */
struct coll_side coll_side_vector(const struct comm *comm, const void *base,
                                  struct counts counts,
                                  struct counts displacements,
                                  MPI_Datatype type, const MPI_Datatype *types);
/* The same once more, with all that it holds. */
struct coll_side coll_side_copy(const struct coll_side *s);
/* Frees what a side holds. */
void coll_side_release(struct coll_side *s);
/* The message to or from a peer; false if there is none or it is empty. */
bool coll_side_span(const struct coll_side *s, int peer,
                    struct layout_span *out);

#endif
