/* What the functions of collectives have in common, blocking and not, on
   intra- and inter-communicators. */
#ifndef PEMS_MPI_COLL_COLLECTIVE_H
#define PEMS_MPI_COLL_COLLECTIVE_H

#include "mpi/coll/fold/coll_reduce.h"
#include "mpi/coll/move/coll_move.h"
#include "mpi/object/comm.h"

#include <mpi.h>

/* A call as the program makes it. */
struct collective {
  MPI_Comm handle;
  struct comm *comm;    /* NULL if the handle is none */
  const char *name;     /* "MPI_Ibcast" */
  MPI_Request *request; /* NULL: it blocks */
  bool persistent;      /* it is not begun yet */
};
struct collective collective_make(MPI_Comm comm, const char *name,
                                  MPI_Request *request);

/* MPI_X_init: what would begin the call makes a persistent request. */
struct collective collective_make_init(MPI_Comm comm, const char *name,
                                       MPI_Request *request);

/* What a rank is in a call that has a root. */
enum coll_role {
  ROLE_ROOT,
  ROLE_OTHER, /* gives to the root or gets from it */
  ROLE_IDLE,  /* of the root's group in an inter-communicator */
};
struct coll_rooted {
  enum coll_role role;
  int root; /* its peer number; -1: not known to who is idle */
  int mark; /* what all members know of it: struct coll_call's root */
};
/* Checks communicator and root. Returns an error class. */
int collective_root(const struct collective *c, int root,
                    struct coll_rooted *out);
/* The communicator, and an output buffer that must not be MPI_IN_PLACE. */
int collective_check(const struct collective *c, const void *output);

/* Runs or starts it, and reports `code` or its own error through the error
   handler. Sides are taken over. */
int collective_move(const struct collective *c, int mark, struct coll_side send,
                    struct coll_side receive);
int collective_fold(const struct collective *c, int mark,
                    const struct coll_reduce *f);
/* Reports an error found before. */
int collective_failed(const struct collective *c, int code);

#endif
