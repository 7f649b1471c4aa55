/* An MPI program whose ranks do not agree on a collective call:

     collectives MODE

   The last rank does what MODE says, the others what they should. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FEW = 10, SOME = 3000, MANY = 8 << 20 };

static int rank, size, odd; /* odd: this rank is the one that differs */
static char *buffer;

static void bcast(int count, int root) {
  MPI_Bcast(buffer, count, MPI_CHAR, root, MPI_COMM_WORLD);
}

static void gather(int count) {
  MPI_Gather(buffer, count, MPI_CHAR, buffer + MANY / 2, FEW, MPI_CHAR, 0,
             MPI_COMM_WORLD);
}

static void alltoall(int count) {
  MPI_Alltoall(buffer, count, MPI_CHAR, buffer + MANY / 2, FEW, MPI_CHAR,
               MPI_COMM_WORLD);
}

static void reduce(int root) {
  int one = 1, sum;
  MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
}

static void allreduce(void) {
  int one = 1, sum;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void act(const char *mode) {
  if (strcmp(mode, "function") == 0) {
    if (odd) {
      allreduce();
    } else {
      MPI_Barrier(MPI_COMM_WORLD);
    }
  } else if (strcmp(mode, "order") == 0) {
    if (odd) {
      bcast(FEW, 0);
    }
    allreduce();
    if (!odd) {
      bcast(FEW, 0);
    }
  } else if (strcmp(mode, "bcast-root") == 0) {
    bcast(FEW, odd ? 1 : 0);
  } else if (strcmp(mode, "bcast-root-large") == 0) {
    bcast(MANY, odd ? 1 : 0);
  } else if (strcmp(mode, "reduce-root") == 0) {
    reduce(odd ? 1 : 0);
  } else if (strcmp(mode, "bcast-less") == 0) {
    bcast(odd ? FEW : SOME, 0);
  } else if (strcmp(mode, "bcast-large-less") == 0) {
    bcast(odd ? FEW : MANY, 0);
  } else if (strcmp(mode, "bcast-small-more") == 0) {
    bcast(odd ? MANY : FEW, 0);
  } else if (strcmp(mode, "bcast-large-larger") == 0) {
    bcast(odd ? MANY / 2 : MANY, 0);
  } else if (strcmp(mode, "gather-more") == 0) {
    gather(odd ? SOME : FEW);
  } else if (strcmp(mode, "gather-large") == 0) {
    gather(odd ? MANY / 4 : FEW);
  } else if (strcmp(mode, "alltoall-more") == 0) {
    alltoall(odd ? SOME : FEW);
  } else if (strcmp(mode, "missing") == 0) {
    if (!odd) {
      MPI_Barrier(MPI_COMM_WORLD);
    }
  } else if (strcmp(mode, "missing-bcast") == 0) {
    if (!odd) {
      bcast(FEW, 0);
    }
  } else if (strcmp(mode, "missing-from-root") == 0) {
    if (!odd) {
      bcast(FEW, size - 1);
    }
  } else if (strcmp(mode, "halves-root") == 0) {
    /* Nobody is the root: all wait. */
    bcast(FEW, rank < size / 2 ? size - 1 : 0);
  } else if (strcmp(mode, "halves") == 0) {
    if (rank < size / 2) {
      MPI_Barrier(MPI_COMM_WORLD);
    } else {
      allreduce();
    }
  } else if (strcmp(mode, "halves-nonblocking") == 0) {
    MPI_Request request;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (rank == size - 2) {
      usleep(300000); /* it has no name here yet when its process fails */
    }
    MPI_Comm_set_name(comm, "the copy");
    if (rank < size / 2) {
      MPI_Ibarrier(comm, &request);
    } else {
      MPI_Ibcast(buffer, FEW, MPI_CHAR, 0, comm, &request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (strcmp(mode, "once-more") == 0) {
    allreduce();
    if (odd) {
      allreduce();
    }
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  odd = rank == size - 1;
  buffer = calloc(1, MANY);
  MPI_Barrier(MPI_COMM_WORLD);
  act(argc > 1 ? argv[1] : "");
  MPI_Finalize();
  return 0;
}
