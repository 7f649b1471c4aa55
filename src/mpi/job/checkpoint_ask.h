/* At which superstep all ranks stop for a checkpoint. By number each knows that
   by itself; by time, or when somebody asks for one now, the processes agree on
   one that no rank has come to. */
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
/* All VPs here have stopped at that superstep, and it is over. With the
   scheduler's lock. */
void checkpoint_ask_done_locked(uint64_t superstep);

#endif
