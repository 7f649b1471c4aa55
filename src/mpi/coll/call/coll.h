/* One collective call on one communicator, as this process sees it: made by the
   first of its VPs to arrive, gone when the last has left. VPs may be in
   different calls at once; calls on a team are told apart by their number. */
#ifndef PEMS_MPI_COLL_CALL_COLL_H
#define PEMS_MPI_COLL_CALL_COLL_H

#include "mpi/object/comm.h"
#include "vp/signal.h"
#include "vp/vp.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct coll_remote;
struct request;

/* What a member says of a call. */
struct coll_call {
  struct comm *comm;
  const char *name; /* "MPI_Bcast" */
  int root;         /* peer number, or -1; the same for all members */
  bool blocking;
};

/* What coll_turns.c knows of a call. Zeroed: it takes no turn. */
struct coll_turn {
  enum coll_turn_state { TURN_NONE, TURN_WAITS, TURN_RUNS } state;
  size_t bytes;
  void (*run)(void *coll);
};

struct coll {
  struct coll *next;
  struct team *team;
  uint64_t number;  /* every member's first call is 0 */
  const char *name; /* "MPI_Bcast" */
  int root;         /* its peer number; -1 for none */
  struct vp *vp;    /* who came first, and where it called: for reports */
  void *site;
  bool blocking;     /* the same for all: the name says it */
  int left;          /* local members that are done with it */
  bool network_done; /* what processes exchange for it is exchanged */
  struct signal signal;
  char *buffer; /* its part of the shared buffer, or NULL */
  void (*free_buffer)(void *buffer); /* NULL: native_free */
  size_t buffer_size;                /* bytes reserved of sigma */
  void *_Atomic *part; /* each local member's part, owned; by index */
  void (*free_part)(void *part);
  struct coll_remote
      *crossing; /* what crosses to other processes, owned, or NULL */
  void (*free_crossing)(struct coll_remote *crossing);
  _Atomic int error; /* MPI error class found on the way, for all */
  struct coll_turn turn;
};

/* All of these are called with the scheduler's lock held. */

/* The VP makes its next collective call on comm. Ends the job if others of this
   process make another one in its place. `blocking`: waits while it is too far
   ahead of others. */
struct coll *coll_enter_locked(struct comm *comm, const char *name, int root,
                               bool blocking);
/* If not NULL, it is called then when no member of the team here had made so
   many calls before. */
extern void (*coll_furthest)(const struct team *team);
/* The member is done with it; the last one frees the call. */
void coll_leave_locked(struct coll *coll, const struct vp *vp);
/* The call of that number on team, if a member here has made it, or NULL. */
struct coll *coll_find_locked(const struct team *team, uint64_t number);
/* The processes are. */
void coll_network_end_locked(struct coll *coll);
/* Who makes a call, and which: for other processes. */
struct coll_caller {
  uint64_t site;      /* name_site_of_all, naming.h */
  uint32_t name;      /* name_hash; 0: nothing is said */
  int32_t root, rank; /* the latter in MPI_COMM_WORLD */
};
struct coll_caller coll_caller(const struct coll *coll);
/* Another process makes another call in its place: ends the job if that is so.
 */
void coll_compare(const struct coll *coll, const struct coll_caller *other);
/* Has the team members in other processes? */
bool coll_networked(const struct team *team);

enum coll_room {
  COLL_SPARE, /* false if there is not enough */
  COLL_TRY,   /* the same, but the oldest call of a team may go beyond it */
  COLL_WAIT,  /* that, or waits for earlier calls to end */
  COLL_TAKE,  /* takes it in any case */
};
/* Reserves n bytes of the shared buffer (sigma) for the call, to be given back
   when it is gone. n is at most the share MEMORY_OLDEST. */
bool coll_reserve_locked(struct coll *coll, struct vp *vp, size_t n,
                         enum coll_room room);

/* Largest message, in bytes, that may take room in the shared buffer when each
   of `senders` VPs of a process sends `messages` of them. The same on every
   process. */
size_t coll_small(int senders, int messages);

#endif
