/* What origins in other processes ask of the members of a window here. */
#ifndef PEMS_MPI_RMA_WIN_TARGET_H
#define PEMS_MPI_RMA_WIN_TARGET_H

#include "mpi/rma/win_message.h"

#include <stdbool.h>
#include <stdint.h>

/* Carries out what a message for the window `key` asks, and answers it if the
   origin waits for that. False: the members of this process are still on their
   way. */
bool win_target_handle(int process, uint64_t key, const struct win_head *h,
                       const char *bytes);

#endif
