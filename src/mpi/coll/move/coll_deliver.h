/* Messages of a collective call that go directly from one member of this
   process to another. */
#ifndef PEMS_MPI_COLL_MOVE_COLL_DELIVER_H
#define PEMS_MPI_COLL_MOVE_COLL_DELIVER_H

#include "context/delivery/delivery.h"
#include "mpi/coll/move/coll_part.h"

#include <stdbool.h>

/* Starts the message from p to q, if it goes directly. */
void coll_deliver(struct delivery *d, struct coll *coll, struct coll_part *p,
                  struct coll_part *q);
void coll_deliver_to_self(struct coll *coll, struct coll_part *p);
/* In place, each of two messages stands where the other goes: both are moved at
   once. Returns false if it is not so. */
bool coll_deliver_swapped(struct delivery *d, struct coll *coll,
                          struct coll_part *p, struct coll_part *q);
/* Has p a message for that peer that goes directly? */
bool coll_deliver_is_direct(const struct coll_part *p, int destination);
/* What p waits for from q: its message, and that it takes p's. */
int coll_deliver_events(const struct coll_part *p, int q);
/* A message is longer than what its receiver has room for. */
void coll_deliver_truncated(struct coll *coll);

#endif
