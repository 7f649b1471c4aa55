/* Collective calls while ranks stop for a checkpoint. With the scheduler's lock
   held. */
#ifndef PEMS_MPI_JOB_CHECKPOINT_CALLS_H
#define PEMS_MPI_JOB_CHECKPOINT_CALLS_H

#include "mpi/object/comm.h"

#include <stdbool.h>
#include <stdint.h>

/* Has another member of one of the VP's communicators made a call that the VP
   has not? Some may wait for it there. It is the calling VP, or it waits. */
bool checkpoint_calls_late_locked(const struct vp *vp);
/* While ranks are to stop (vp_stops): `changed` is called when somebody has
   made a call that nobody had made before, also in another process. Before
   am_start, and without the lock. */
void checkpoint_calls_watch(void (*changed)(void));
/* Tells other processes which calls have been made already. */
void checkpoint_calls_tell_locked(void);

/* The calling VP has written its file at the entry of its next call on comm:
   may it go on into that, while others have yet to write theirs? Not where they
   could still give it something that is to be added to its file. */
bool checkpoint_calls_go_ahead_locked(const struct vp *vp,
                                      const struct comm *comm);
/* The checkpoint is over. */
void checkpoint_calls_end_locked(void);
/* All have stopped: is a call on one of the VP's communicators under way that
   some have made, and left perhaps, and others have not? Not that one. */
bool checkpoint_calls_any_locked(const struct vp *vp);

#endif
