/* One member's part in an exchange; shared by coll_move.c and coll_remote.c. */
#ifndef PEMS_MPI_COLL_MOVE_COLL_PART_H
#define PEMS_MPI_COLL_MOVE_COLL_PART_H

#include "mpi/coll/call/coll.h"
#include "mpi/transfer/coll_side.h"

struct coll_part {
  struct vp *vp;
  int peer;  /* its number in the team */
  int index; /* among the members here */
  bool blocking;
  int from, to; /* by index: nobody else here sends to it or receives from it */
  struct coll_side send, receive;
  /* Small messages, packed, so that nobody has to read them from a context on
     disk, nor write them to one: */
  char *stage;
  size_t *stage_at; /* by destination's rank: where in stage, or NOT_STAGED; one
                       entry for SIDE_ONE */
  /* Under the lock: */
  int waits;                        /* events this member waits for */
  bool started;                     /* its own work is done */
  struct run_queue_waiting waiting; /* where it does, if it blocks */
  struct request *request;          /* or else */
};

#define NOT_STAGED ((size_t)-1)

/* The staged packed message to `destination` (a peer), or NULL. */
const char *coll_part_staged(const struct coll_part *p, int destination);
static inline struct coll_part *part_of(const struct coll *coll, int index) {
  return coll->part[index];
}
/* Whoever waits for the part, if anybody, goes on if nothing is missing any
   more. With the scheduler's lock held. */
void coll_part_tell_locked(struct coll_part *p);
/* n events that the part waits for have happened. With the scheduler's lock
   held. */
void coll_part_settle_locked(struct coll_part *p, int n);

#endif
