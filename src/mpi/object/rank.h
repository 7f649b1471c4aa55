/* What a VP has of MPI: made before its program starts. */
#ifndef PEMS_MPI_OBJECT_RANK_H
#define PEMS_MPI_OBJECT_RANK_H

#include "base/self.h"
#include "vp/run_queue.h"
#include "vp/vp.h"

#include <stdatomic.h>
#include <stddef.h>

struct comm;
struct request;
struct buffered;
struct keyvals;
struct type_attributes;
struct type_held;
struct files;

/* What a rank has looked for in vain: under the scheduler's lock. */
struct rank_looks {
  const char *in;   /* the call, as of MPI, */
  void *site;       /* and where its program made it */
  bool on;          /* it lets others run because of that */
  uint64_t n;       /* how often it did, */
  uint64_t found;   /* and had found something since the last time; */
  uint64_t away;    /* ns between those times: it did something else, */
  uint64_t over_at; /* from this time on, or 0 */
};

struct rank {
  struct vp *vp;
  struct comm *world, *self;
  struct comm *universe; /* all ranks, dormant ones too, which the program does
                            not see; without such it is `world` */
  struct comm *parent;   /* MPI_Comm_get_parent, or NULL */
  int spawner;           /* of a spawned one: who tells it what it is */
  const char *interpreter;  /* that the rank is, its file, or NULL; */
  const char *library;      /* and the shared library that it is made of */
  struct comm *comms;       /* all its handles, newest first */
  struct request *requests; /* all that are not freed, newest first */
  int n_requests;           /* of them */
  struct comm *calling;     /* where it is in a collective call that blocks */

  /* request.c, under the scheduler's lock: */
  int unended;                  /* freed, and not gone yet */
  struct request *_Atomic gone; /* freed and done: the VP removes them */
  bool noticed;     /* something happened that it may be polling for */
  int polls, asked; /* calls in a row that asked in vain, and for how many
                       requests or messages: its own */
  bool found;       /* another call has not, since it was paused: its own */
  struct rank_looks looks;
  struct request *spare; /* memory for requests, by `next`: its own */
  int spares;

  /* Of a call that was left for a checkpoint: request_keep. */
  struct request *kept[2];

  struct buffered *buffered;               /* MPI_Buffer_attach: p2p.c */
  struct keyvals *keyvals;                 /* that it has made: attribute.c */
  struct type_attributes *type_attributes; /* NULL: none was ever set */
  struct type_held *types_held;            /* that calls need: type_hold.c */
  struct files *files;           /* file.c, or NULL: none was opened */
  bool told_booleans, told_info; /* fortran_told.c */
  atomic_int tools;              /* how often MPI_T is begun: tools.c */
};

/* Of the calling VP. */
static inline struct rank *rank_me(void) {
  return self.vp->mpi;
}

/* For each VP of this process, once vps is complete. */
void ranks_create(void);
/* A spawned VP gets its MPI_COMM_WORLD, of the ranks `world`, of which it is
   number `peer`. */
void rank_enter_world(struct rank *rank, uint64_t id, const int *world, int n,
                      int peer, int appnum);
/* `forget` frees what else a rank keeps. */
void ranks_destroy(void (*forget)(struct rank *rank));

#endif
