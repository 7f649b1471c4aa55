/* Has many of something at a time: pending KIND COUNT

   isend     each rank sends COUNT messages of 100 bytes to the next, which
             receives none before all are sent
   irecv     each rank posts COUNT receives before their messages are sent
   unexpected the same as isend, by MPI_Send from rank 1 to rank 0 only
   types     each rank has a datatype of COUNT blocks, and sends one element
   stacks    each rank waits with COUNT bytes on its stack
   Everything that comes is checked; rank 0 prints "ok KIND". */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 100 };

static int rank, ranks, wrong;

static void fill(char *p, int from, int i) {
  for (int j = 0; j < BYTES; j++) {
    p[j] = (char)(from * 31 + i * 7 + j);
  }
}

static void check(const char *p, int from, int i) {
  char right[BYTES];
  fill(right, from, i);
  wrong += memcmp(p, right, BYTES) != 0;
}

static void receive_all(int n, int from) {
  char buffer[BYTES];
  for (int i = 0; i < n; i++) {
    MPI_Recv(buffer, BYTES, MPI_CHAR, from, i % 1000, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    check(buffer, from, i);
  }
}

static void isend(int n) {
  char *const out = malloc((size_t)n * BYTES);
  MPI_Request *const request = malloc((size_t)n * sizeof(*request));
  for (int i = 0; i < n; i++) {
    fill(out + (size_t)i * BYTES, rank, i);
    MPI_Isend(out + (size_t)i * BYTES, BYTES, MPI_CHAR, (rank + 1) % ranks,
              i % 1000, MPI_COMM_WORLD, &request[i]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  receive_all(n, (rank + ranks - 1) % ranks);
  MPI_Waitall(n, request, MPI_STATUSES_IGNORE);
  free(out);
  free(request);
}

static void irecv(int n) {
  const int from = (rank + ranks - 1) % ranks;
  char *const in = malloc((size_t)n * BYTES);
  char out[BYTES];
  MPI_Request *const request = malloc((size_t)n * sizeof(*request));
  for (int i = 0; i < n; i++) {
    MPI_Irecv(in + (size_t)i * BYTES, BYTES, MPI_CHAR, from, i, MPI_COMM_WORLD,
              &request[i]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < n; i++) {
    fill(out, rank, i);
    MPI_Send(out, BYTES, MPI_CHAR, (rank + 1) % ranks, i, MPI_COMM_WORLD);
  }
  MPI_Waitall(n, request, MPI_STATUSES_IGNORE);
  for (int i = 0; i < n; i++) {
    check(in + (size_t)i * BYTES, from, i);
  }
  free(in);
  free(request);
}

static void unexpected(int n) {
  char out[BYTES];
  for (int i = 0; rank == 1 && i < n; i++) {
    fill(out, 1, i);
    MPI_Send(out, BYTES, MPI_CHAR, 0, i % 1000, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    receive_all(n, 1);
  }
}

/* Every second number of an array. */
static void types(int n) {
  int *const length = malloc((size_t)n * sizeof(*length));
  int *const place = malloc((size_t)n * sizeof(*place));
  for (int i = 0; i < n; i++) {
    length[i] = 1;
    place[i] = 2 * i + rank % 2;
  }
  MPI_Datatype type;
  MPI_Type_indexed(n, length, place, MPI_INT, &type);
  MPI_Type_commit(&type);
  free(length);
  free(place);
  int *const numbers = calloc(2 * (size_t)n + 2, sizeof(*numbers));
  for (int i = 0; i < 2 * n + 2; i++) {
    numbers[i] = rank + i;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  int *const got = malloc((size_t)n * sizeof(*got));
  const int from = (rank + ranks - 1) % ranks;
  MPI_Sendrecv(numbers, 1, type, (rank + 1) % ranks, 0, got, n, MPI_INT, from,
               0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < n; i++) {
    wrong += got[i] != from + 2 * i + from % 2;
  }
  MPI_Type_free(&type);
  free(numbers);
  free(got);
}

static __attribute__((noinline)) void stacks(int n) {
  volatile unsigned char array[n];
  for (int step = 0; step < 3; step++) {
    for (int i = 0; i < n; i += 64) {
      wrong += step && array[i] != (unsigned char)(i / 64 + rank + step - 1);
      array[i] = (unsigned char)(i / 64 + rank + step);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static const struct {
  const char *name;
  void (*f)(int);
} kinds[] = {{"isend", isend},
             {"irecv", irecv},
             {"unexpected", unexpected},
             {"types", types},
             {"stacks", stacks}};

int main(int argc, char **argv) {
  int all = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
    if (argc > 2 && strcmp(kinds[i].name, argv[1]) == 0) {
      kinds[i].f(atoi(argv[2]));
    }
  }
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0 && argc > 1) {
    printf("%s %s\n", all ? "wrong" : "ok", argv[1]);
  }
  MPI_Finalize();
  return wrong != 0;
}
