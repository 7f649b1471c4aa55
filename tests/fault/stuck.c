/* An MPI program none of whose ranks can go on:

     stuck MODE
*/
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, last; /* last: this rank is the one that differs */
static char data[1 << 20];

static void receive(int from, int tag) {
  MPI_Recv(data, 1, MPI_CHAR, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Every rank receives from the next one before it sends. */
static void ring(void) {
  receive((rank + 1) % size, 3);
  MPI_Send(data, 1, MPI_CHAR, (rank + size - 1) % size, 3, MPI_COMM_WORLD);
}

/* Large messages are not copied: both wait for the receiver. */
static void send_first(void) {
  const int other = rank ^ 1;
  MPI_Ssend(data, sizeof(data), MPI_CHAR, other, 5, MPI_COMM_WORLD);
  receive(other, 5);
}

static void wrong_tag(void) {
  MPI_Request request[2];
  if (rank == 0) {
    MPI_Irecv(data, 1, MPI_CHAR, 1, 7, MPI_COMM_WORLD, &request[0]);
    MPI_Irecv(data + 1, 1, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG,
              MPI_COMM_WORLD, &request[1]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
  } else if (rank == 1) {
    MPI_Send(data, 1, MPI_CHAR, 0, 8, MPI_COMM_WORLD);
  }
}

/* The ranks that end first leave the others alone. */
static void few_go_on(void) {
  if (rank < size / 2) {
    receive(rank + size / 2, 15);
  }
}

/* On a communicator whose ranks are others. */
static void everybody_else(void) {
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Comm_set_name(half, "half");
  if (rank < 2) {
    MPI_Recv(data, 1, MPI_CHAR, 1, 17, half, MPI_STATUS_IGNORE);
  }
}

static void act(const char *mode) {
  if (strcmp(mode, "ring") == 0) {
    ring();
  } else if (strcmp(mode, "send") == 0) {
    send_first();
  } else if (strcmp(mode, "tag") == 0) {
    wrong_tag();
  } else if (strcmp(mode, "any") == 0) {
    receive(MPI_ANY_SOURCE, MPI_ANY_TAG);
  } else if (strcmp(mode, "probe") == 0) {
    MPI_Status status;
    if (last) {
      MPI_Probe(0, 9, MPI_COMM_WORLD, &status);
    }
  } else if (strcmp(mode, "barrier") == 0) {
    if (last) {
      receive(0, 11);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (strcmp(mode, "ibarrier") == 0) {
    MPI_Request request;
    if (last) {
      receive(0, 11);
    }
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (strcmp(mode, "ended") == 0) {
    if (last) {
      exit(0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (strcmp(mode, "comms") == 0) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Barrier(last ? comm : MPI_COMM_WORLD);
  } else if (strcmp(mode, "halves") == 0) {
    few_go_on();
  } else if (strcmp(mode, "split") == 0) {
    everybody_else();
  } else if (strcmp(mode, "many") == 0) {
    MPI_Request request[3];
    for (int i = 0; i < 3; i++) {
      MPI_Issend(data, 1, MPI_CHAR, (rank + 1) % size, 20 + i, MPI_COMM_WORLD,
                 &request[i]);
    }
    MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
  } else if (strcmp(mode, "bcast") == 0) {
    if (rank == 0) {
      receive(1, 13);
    }
    MPI_Bcast(data, 10, MPI_CHAR, 0, MPI_COMM_WORLD);
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  last = rank == size - 1;
  MPI_Barrier(MPI_COMM_WORLD);
  act(argc > 1 ? argv[1] : "");
  MPI_Finalize();
  return 0;
}
