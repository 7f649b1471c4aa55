/* Calls of one team that processes combine by messages take turns, so that what
   is on the way for all of them stays within the share MEMORY_OLDEST. All of
   these are called with the scheduler's lock held. */
#ifndef PEMS_MPI_COLL_CALL_COLL_TURNS_H
#define PEMS_MPI_COLL_CALL_COLL_TURNS_H

#include <stdbool.h>
#include <stddef.h>

#include "mpi/coll/call/coll.h"

/* All members here have made the call: run(coll) is called on a thread that may
   wait for messages, when it is the call's turn. `bytes`: what is on the way
   meanwhile, the same in all processes. Calls must come in the order of their
   numbers, as they do: members make them in that order. */
void coll_turns_start_locked(struct coll *coll, size_t bytes,
                             void (*run)(void *coll));
/* The same for a caller that may wait for messages itself. True: it is the
   call's turn, and the caller does what run(coll) would. */
bool coll_turns_take_locked(struct coll *coll, size_t bytes,
                            void (*run)(void *coll));
/* `run` is done. */
void coll_turns_end_locked(struct coll *coll);

#endif
