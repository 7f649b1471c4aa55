/* Thousands of messages that nobody has asked for yet, more than memory is kept
   for: small and large ones, received in another order. */
#include "test.h"

enum { SMALL = 1500, MIDDLE = 120, MOST = 30000 };

static int length_of(int i) {
  return i % 7 == 0 ? 0 : i % 5 == 0 ? 700 : 1 + i % 50;
}

static void check(const int *p, int n, int from, int i) {
  for (int j = 0; j < n; j++) {
    if (p[j] != from + i + j) {
      fail("message %d of rank %d: int %d: %d", i, from, j, p[j]);
      return;
    }
  }
}

static void send_all(int n, int (*length)(int), const int to) {
  int *out = malloc(MOST * sizeof(*out));
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < length(i); j++) {
      out[j] = rank + i + j;
    }
    MPI_Send(out, length(i), MPI_INT, to, i, MPI_COMM_WORLD);
  }
  free(out);
}

static void receive_all(int n, int (*length)(int), int from) {
  int *in = malloc(MOST * sizeof(*in)), count;
  MPI_Status status;
  for (int k = 0; k < n; k++) {
    /* From both ends to the middle. */
    const int i = k % 2 ? n - 1 - k / 2 : k / 2;
    MPI_Recv(in, MOST, MPI_INT, from, i, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    if (count != length(i)) {
      fail("message %d: %d ints", i, count);
    }
    check(in, count, from, i);
  }
  free(in);
}

/* 1 KiB: what any library keeps at once. */
static int middle(int i) {
  return 200 + i % 50;
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  if (size == 1) { /* Open MPI keeps few messages of a rank to itself */
    return end();
  }
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  send_all(SMALL, length_of, next);
  MPI_Barrier(MPI_COMM_WORLD);
  receive_all(SMALL, length_of, previous);
  send_all(MIDDLE, middle, (rank + size / 2) % size);
  MPI_Barrier(MPI_COMM_WORLD);
  receive_all(MIDDLE, middle, (rank + size - size / 2) % size);
  /* Buffered ones of any length. */
  enum { LARGE = 20 };
  char *buffer = malloc(3 << 20);
  int *out = malloc(MOST * sizeof(*out)), *in = malloc(MOST * sizeof(*in));
  MPI_Buffer_attach(buffer, 3 << 20);
  for (int i = 0; i < LARGE; i++) {
    for (int j = 0; j < MOST; j++) {
      out[j] = rank + i + j;
    }
    MPI_Bsend(out, MOST - i, MPI_INT, next, i, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < LARGE; i++) {
    MPI_Recv(in, MOST, MPI_INT, previous, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(in, MOST - i, previous, i);
  }
  int bytes;
  MPI_Buffer_detach(&buffer, &bytes);
  free(buffer);
  free(out);
  free(in);
  return end();
}
