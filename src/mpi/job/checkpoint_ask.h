/* Where all ranks stop for a checkpoint. By number each knows the superstep by
   itself; by time, or when somebody asks for one now, the processes agree on
   one that no rank has come to.

   What a program does between its supersteps may take for ever. So after a
   while ranks are to stop at their next call for a message, too (vp_stops).
   Some may wait for others then in calls that cannot be left, such as
   collective ones on a part of the ranks: those that have yet to make these go
   on until they have. When no rank can go on, all that have stopped between
   supersteps do, and all is tried again later. */
#ifndef PEMS_MPI_JOB_CHECKPOINT_ASK_H
#define PEMS_MPI_JOB_CHECKPOINT_ASK_H

#include "checkpoint/wish.h"
#include "vp/vp.h"

#include <stdbool.h>
#include <stdint.h>

/* Before am_start. Ranks have come to `superstep` already. */
void checkpoint_ask_prepare(const struct wish *wish, uint64_t superstep);
/* SIGUSR1 asks for one from now on. */
void checkpoint_ask_start(void);
/* After am_start: the time does, too, whatever ranks do, and so does a result
   of `outside`, which may be NULL, that is true; any thread calls that. */
void checkpoint_ask_watch(bool (*outside)(void));
/* A line says if the job has ended without one that was asked for. */
void checkpoint_ask_end(void);
/* Asks for one. Any thread; for signal handlers, too. */
void checkpoint_ask(void);
/* The same, and the job is to end when it is taken; should it fail, it is asked
   for at the next superstep. Returns false if that has been asked already. */
bool checkpoint_ask_leave(void);
/* Is the job to end? */
bool checkpoint_ask_leaves(void);

/* The VP begins a superstep: counts it. True if it is to stop there: then on it
   calls checkpoint_ask_await, which may wait, and tells whether a checkpoint is
   to be taken. */
bool checkpoint_ask_superstep(struct vp *vp);
bool checkpoint_ask_await(struct vp *vp);
/* At the entry of a call for a message: may the VP stop there? First it waits
   for collective calls that it has begun then. */
bool checkpoint_ask_may_stop(struct vp *vp);
/* Then: waits until all ranks of the job have stopped, and tells whether a
   checkpoint is to be taken; false: not now. */
bool checkpoint_ask_between(struct vp *vp);
/* The VP, which has stopped at a superstep, has written what it has to. */
void checkpoint_ask_stopped(struct vp *vp);
/* By the last VP of each process: waits until all ranks of the job have
   stopped. Returns the furthest superstep that one here has come to. */
uint64_t checkpoint_ask_join(struct vp *vp);
/* It is over; the superstep is the furthest of all processes. With the
   scheduler's lock. */
void checkpoint_ask_done_locked(uint64_t superstep);
/* Then, if this one could not be taken at that moment: it is tried again, and
   not only at supersteps. */
void checkpoint_ask_again_locked(void);
/* No rank can go on: true if some have stopped between supersteps, who do now,
   or wait to stop for what does not come. With the scheduler's lock. */
bool checkpoint_ask_relieve_locked(void);

#endif
