/* For programs that tests stop at a superstep. */
#ifndef PEMS_TESTS_FAULT_HOLD_H
#define PEMS_TESTS_FAULT_HOLD_H

#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

/* Rank 0 waits before step s while there is a file HOLD.s, and the others in
   MPI for it: ranks that wait outside keep their slots, which rank 0 may need
   to end the step before. */
static inline void stop_before(int s, const char *hold) {
  char name[4096];
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) {
    return;
  }
  snprintf(name, sizeof(name), "%s.%d", hold, s);
  while (access(name, F_OK) == 0) {
    usleep(10000);
  }
}

#endif
