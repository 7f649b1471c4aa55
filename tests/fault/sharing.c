/* Pairs of ranks share windows of MIB MiB a rank, all of them together more
   than the memory, and rewrite them ROUNDS times. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char value(int rank, int round, size_t i) {
  return (char)(rank * 31 + round * 7 + (int)(i >> 12));
}

static void fill(char *p, size_t n, int rank, int round) {
  for (size_t i = 0; i < n; i += 4096) {
    memset(p + i, value(rank, round, i), 4096);
  }
}

static long wrong(const char *p, size_t n, int rank, int round) {
  long bad = 0;
  for (size_t i = 0; i < n; i++) {
    bad += p[i] != value(rank, round, i);
  }
  return bad;
}

int main(int argc, char **argv) {
  int rank, me, members;
  MPI_Comm node, pair;
  MPI_Win win;
  char *mine, *other;
  MPI_Init(&argc, &argv);
  if (argc != 3) {
    fprintf(stderr, "usage: sharing MIB ROUNDS\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const size_t n = (size_t)atol(argv[1]) << 20;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL,
                      &node);
  MPI_Comm_rank(node, &me);
  MPI_Comm_split(node, me / 2, me, &pair);
  MPI_Comm_rank(pair, &me);
  MPI_Comm_size(pair, &members);
  MPI_Win_allocate_shared((MPI_Aint)n, 1, MPI_INFO_NULL, pair, &mine, &win);
  MPI_Aint bytes;
  int unit, peer[2] = {0, 0};
  MPI_Win_shared_query(win, members - 1 - me, &bytes, &unit, &other);
  MPI_Allgather(&rank, 1, MPI_INT, peer, 1, MPI_INT, pair);
  long bad = 0, all;
  for (int round = 0; round < atoi(argv[2]); round++) {
    fill(mine, n, rank, round);
    MPI_Barrier(MPI_COMM_WORLD);
    bad += wrong(mine, n, rank, round);
    bad += wrong(other, n, peer[members - 1 - me], round);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Win_free(&win);
  MPI_Reduce(&bad, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("right=%d\n", all == 0);
  }
  MPI_Comm_free(&pair);
  MPI_Comm_free(&node);
  MPI_Finalize();
  return 0;
}
