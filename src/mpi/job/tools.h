/* MPI_T, which each rank begins and ends for itself. */
#ifndef PEMS_MPI_JOB_TOOLS_H
#define PEMS_MPI_JOB_TOOLS_H

#include <stdbool.h>

/* Has the calling VP's rank begun it, and not ended? */
bool tools_ready(void);

#endif
