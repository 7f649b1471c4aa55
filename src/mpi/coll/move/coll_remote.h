/* The part of a collective call that crosses to other processes: messages go as
   soon as both their sender and their receiver have made the call, in either
   direction at its own pace, while VPs compute (PEMS2, section 9.1). Nothing
   here waits for VPs, and only jobs of net_jobs_add wait for the network. */
#ifndef PEMS_MPI_COLL_MOVE_COLL_REMOTE_H
#define PEMS_MPI_COLL_MOVE_COLL_REMOTE_H

#include "mpi/coll/call/coll.h"
#include "mpi/coll/move/coll_part.h"
#include "net/jobs.h"

#include <stdbool.h>

/* Before am_start. */
void coll_remote_prepare(void);

/* All of these are called with the scheduler's lock held. */

/* Gives the call its part between processes, unless it has it or all its
   members are here. `over` is called with the lock when all that crosses has
   crossed, in both directions; it ends with coll_network_end. */
void coll_remote_open_locked(struct coll *coll,
                             void (*over)(struct coll *coll));
/* A member has made the call: returns for how many processes it waits. They
   are settled by coll_part_settle. */
int coll_remote_arrive_locked(struct coll *coll, struct coll_part *p);

/* These without it. The member that has arrived says so to the processes that
   have large messages for it; the last one here tells all. */
void coll_remote_announce(struct coll *coll, const struct coll_part *p,
                          bool last);
/* The same for a call without messages, when all members here have arrived. */
void coll_remote_meet(struct coll *coll);
/* The member runs, and nothing is missing: takes its small messages. */
void coll_remote_take(struct coll *coll, struct coll_part *p);

#endif
