/* Many receives under way, and each waited for by itself, in order: rank 0 gets
   one message of each other rank in a round. The others wait for each other
   several times in a round, so that some of them are always ready to run.

   Arguments: the pace (see test.h); rounds. Rank 0 has to wait once in a round,
   for the last message. */
#include "test.h"

#include <stdlib.h>

enum { LENGTH = 100, WAITS = 4 };

static void collect(int round, int (*got)[LENGTH], MPI_Request *r) {
  for (int i = 1; i < size; i++) {
    MPI_Irecv(got[i], LENGTH, MPI_INT, i, 1, MPI_COMM_WORLD, &r[i]);
  }
  for (int i = 1; i < size; i++) {
    MPI_Status s;
    MPI_Wait(&r[i], &s);
    if (s.MPI_SOURCE != i || got[i][0] != round || got[i][LENGTH - 1] != i) {
      fail("round %d: from %d: %d %d", round, i, got[i][0], got[i][LENGTH - 1]);
    }
  }
}

static void give(int round, MPI_Comm others) {
  int mine[LENGTH] = {round};
  mine[LENGTH - 1] = rank;
  MPI_Send(mine, LENGTH, MPI_INT, 0, 1, MPI_COMM_WORLD);
  for (int i = 0; i < WAITS; i++) {
    MPI_Barrier(others);
  }
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  const int rounds = argc > 2 ? atoi(argv[2]) : 20;
  int(*got)[LENGTH] = malloc(size * sizeof(*got));
  MPI_Request *r = malloc(size * sizeof(MPI_Request));
  MPI_Comm others;
  MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &others);
  for (int i = 0; i < rounds; i++) {
    if (rank == 0) {
      collect(i, got, r);
    } else {
      give(i, others);
    }
  }
  MPI_Comm_free(&others);
  free(got);
  free(r);
  return end();
}
