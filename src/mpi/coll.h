/* One collective call on MPI_COMM_WORLD, as this process sees it: made by the
   first of its VPs to arrive, gone when the last has left. VPs may be in
   different calls at once; calls are told apart by their number. */
#ifndef PEMS_MPI_COLL_H
#define PEMS_MPI_COLL_H

#include "vp/signal.h"
#include "vp/vp.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct coll {
  struct coll *next;
  uint64_t number;   /* every VP's first call is 0 */
  const char *name;  /* "MPI_Bcast" */
  int root;          /* -1 for none */
  int left;          /* VPs of this process that are done with it */
  bool network_done; /* what processes exchange for it is exchanged */
  struct signal signal;
  char *buffer;        /* its part of the shared buffer, or NULL */
  size_t buffer_size;  /* bytes reserved of sigma */
  void *_Atomic *part; /* each local VP's part, owned; by vp->index */
  void (*free_part)(void *part);
  _Atomic int error; /* MPI error class found on the way, for all */
};

/* A superstep barrier of all VPs of the job, as the collective `name`. The lock
   is not held. barrier.c */
void coll_barrier(struct vp *vp, const char *name);

/* All of these are called with the scheduler's lock held. */

/* The VP makes its next collective call. Ends the job if others of this
   process make another one in its place. */
struct coll *coll_enter(struct vp *vp, const char *name, int root);
/* The VP is done with it and goes on with its program; the last one frees the
   call. */
void coll_leave(struct coll *coll, const struct vp *vp);

/* Waits until it is this call's turn on the network; after coll_network_end the
   next call has its turn. No effect where P = 1. */
void coll_network_begin(struct coll *coll, struct vp *vp);
void coll_network_end(struct coll *coll);
/* True if there are other processes. */
bool coll_networked(void);

/* Reserves n bytes of the shared buffer (sigma) for the call, to be given back
   when it is gone. With `wait`, waits for earlier calls to end when there is
   not enough; else returns false. n is at most sigma / 4. */
bool coll_reserve(struct coll *coll, struct vp *vp, size_t n, bool wait);

/* Largest message, in bytes, that may take room in the shared buffer when each
   of `senders` VPs of a process sends `messages` of them. The same on every
   process. */
size_t coll_small(int senders, int messages);

#endif
