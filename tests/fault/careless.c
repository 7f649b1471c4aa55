/* An MPI program that makes the mistakes that --pems-check finds:

     careless MODE
*/
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, next, previous;
static char data[4096];
static char *block; /* 1000 bytes */

static void send(void *p, int n) {
  MPI_Send(p, n, MPI_CHAR, next, 1, MPI_COMM_WORLD);
}

static void receive(void *p, int n) {
  MPI_Recv(p, n, MPI_CHAR, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The address of another rank's variable. */
static void foreign(bool global) {
  char *p = global ? data : block;
  if (rank == 0) {
    MPI_Send(&p, sizeof(p), MPI_BYTE, 1, 2, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Recv(&p, sizeof(p), MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    send(p, 100);
  }
}

static void freed(int n) {
  char *p = malloc(n), *after = malloc(n);
  memset(p, 1, n);
  memset(after, 1, n);
  free(p);
  if (rank == 1) {
    send(p, n);
  }
  free(after);
}

static void pending(bool receiving) {
  MPI_Request request;
  if (rank == 1) {
    if (receiving) {
      MPI_Irecv(data, 100, MPI_CHAR, previous, 3, MPI_COMM_WORLD, &request);
    } else {
      MPI_Issend(data, 100, MPI_CHAR, next, 3, MPI_COMM_WORLD, &request);
    }
    receive(data + 99, 10);
  }
}

static void changed(bool persistent) {
  MPI_Request request;
  if (rank == 1) {
    if (persistent) {
      MPI_Send_init(data, 9, MPI_CHAR, next, 1, MPI_COMM_WORLD, &request);
      data[8] = 1; /* not started yet */
      MPI_Start(&request);
    } else {
      MPI_Isend(data, 9, MPI_CHAR, next, 1, MPI_COMM_WORLD, &request);
    }
    data[8] = 7;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (rank == 2) {
    receive(data, 9);
  }
}

static void leave(void) {
  MPI_Comm comm, half;
  MPI_Request request;
  MPI_Win win;
  MPI_File file;
  static char attached[1000 + MPI_BSEND_OVERHEAD];
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Comm_free(&half);
  MPI_Win_create(data, sizeof(data), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Recv_init(data + 2, 1, MPI_CHAR, 0, 4, MPI_COMM_WORLD, &request);
  if (rank < 2) {
    MPI_Irecv(data, 1, MPI_CHAR, 0, 5, comm, &request);
    MPI_Irecv(data + 1, 1, MPI_CHAR, 0, 5, comm, &request);
    MPI_Buffer_attach(attached, sizeof(attached));
    MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL,
                  &file);
  }
  if (rank == 1) {
    for (int i = 0; i < 3; i++) {
      MPI_Send(block, 1, MPI_CHAR, size - 1, 6, comm);
    }
  }
}

/* All that is there is freed, and buffers are used as they should. */
static void right(void) {
  MPI_Request request[2];
  MPI_Datatype column;
  MPI_Comm comm;
  double matrix[8][8] = {{0}}, *copy = malloc(sizeof(matrix));
  int *counts = calloc(size, sizeof(int)), *places = calloc(size, sizeof(int));
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
  MPI_Comm_free(&comm);
  /* Columns lie between each other. */
  MPI_Type_vector(8, 1, 8, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  MPI_Irecv(&matrix[0][1], 1, column, previous, 1, MPI_COMM_WORLD, &request[0]);
  MPI_Isend(&matrix[0][0], 1, column, next, 1, MPI_COMM_WORLD, &request[1]);
  MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
  /* Two sends of the same. */
  for (int i = 0; i < 2; i++) {
    MPI_Isend(block, 1000, MPI_CHAR, next, 1, MPI_COMM_WORLD, &request[i]);
  }
  receive(data, 1000);
  receive(data, 1000);
  MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
  memset(block, rank, 1000);
  /* Blocks of one array. */
  for (int i = 0; i < size; i++) {
    counts[i] = 2;
    places[i] = 4 * i;
  }
  MPI_Allgatherv(copy + 4 * rank + 2, 2, MPI_DOUBLE, copy, counts, places,
                 MPI_DOUBLE, MPI_COMM_WORLD);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DOUBLE, copy, 2, MPI_DOUBLE,
                MPI_COMM_WORLD);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DOUBLE, copy, 2, MPI_DOUBLE,
               MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, copy, 64, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Reduce(copy, rank ? NULL : &matrix, 64, MPI_DOUBLE, MPI_SUM, 0,
             MPI_COMM_WORLD);
  MPI_Scan(copy, &matrix, 64, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Bcast(copy, 1, column, 0, MPI_COMM_WORLD);
  MPI_Gather(rank ? &matrix : MPI_IN_PLACE, 1, MPI_DOUBLE, copy, 1, MPI_DOUBLE,
             0, MPI_COMM_WORLD);
  MPI_Type_free(&column);
  free(copy);
  free(counts);
  free(places);
}

static void act(const char *mode) {
  if (strcmp(mode, "foreign-heap") == 0) {
    foreign(false);
  } else if (strcmp(mode, "foreign-global") == 0) {
    foreign(true);
  } else if (strcmp(mode, "freed") == 0) {
    freed(100000);
  } else if (strcmp(mode, "freed-small") == 0) {
    freed(48);
  } else if (strcmp(mode, "too-long") == 0) {
    MPI_Bcast(rank == 1 ? block : data, 1500, MPI_CHAR, 0, MPI_COMM_WORLD);
  } else if (strcmp(mode, "inside-too-long") == 0) {
    MPI_Gather(rank == 1 ? block + 800 : data, 300, MPI_CHAR, data + 400, 300,
               MPI_CHAR, 0, MPI_COMM_WORLD);
  } else if (strcmp(mode, "wild") == 0) {
    receive(rank == 1 ? (char *)0x10000 + 16 : data, 8);
  } else if (strcmp(mode, "constant") == 0) {
    receive(rank == 1 ? (void *)"constant" : data, 8);
  } else if (strcmp(mode, "overlap") == 0) {
    MPI_Allgather(data + 3, 4, MPI_CHAR, data, 4, MPI_CHAR, MPI_COMM_WORLD);
  } else if (strcmp(mode, "overlap-reduce") == 0) {
    MPI_Allreduce(data, data + 4, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  } else if (strcmp(mode, "same-reduce") == 0) {
    MPI_Allreduce(data, data, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  } else if (strcmp(mode, "overlap-sendrecv") == 0) {
    MPI_Sendrecv(data, 9, MPI_CHAR, next, 1, data + 8, 9, MPI_CHAR, previous, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (strcmp(mode, "messages-overlap") == 0) {
    int counts[64], places[64];
    for (int i = 0; i < size; i++) {
      counts[i] = 5;
      places[i] = 4 * i;
    }
    MPI_Allgatherv(block, 5, MPI_CHAR, data, counts, places, MPI_CHAR,
                   MPI_COMM_WORLD);
  } else if (strcmp(mode, "pending-receive") == 0) {
    pending(true);
  } else if (strcmp(mode, "pending-send") == 0) {
    pending(false);
  } else if (strcmp(mode, "pending-collective") == 0) {
    MPI_Request request;
    MPI_Ibcast(data, 100, MPI_CHAR, 0, MPI_COMM_WORLD, &request);
    if (rank == 1) {
      receive(data + 50, 1);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (strcmp(mode, "changed") == 0) {
    changed(false);
  } else if (strcmp(mode, "changed-persistent") == 0) {
    changed(true);
  } else if (strcmp(mode, "leave") == 0) {
    leave();
  } else if (strcmp(mode, "right") == 0) {
    right();
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  next = (rank + 1) % size;
  previous = (rank + size - 1) % size;
  block = malloc(1000);
  memset(block, rank, 1000);
  MPI_Barrier(MPI_COMM_WORLD);
  act(argc > 1 ? argv[1] : "");
  MPI_Finalize();
  if (rank == 0) {
    puts("all done");
  }
  free(block);
  return 0;
}
