/* Collectives whose messages are small, large and empty for one rank or
   another, made by ranks that come at different times, several under way at
   once: what crosses between processes may start with any pair of ranks. */
#include "test.h"

#include <time.h>

enum { MOST = 16, ROUNDS = 6, UNDER_WAY = 3 };

static uint32_t state;

static uint32_t next(void) {
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}

/* The same on all ranks: bytes from a to b in a round. */
static int length(int round, int a, int b) {
  static const int lengths[] = {0,     1,         100,       4096,   32767,
                                32768, 32769,     70000,     0,      0,
                                8,     200 << 10, 300 << 10, 1 << 20};
  state = (uint32_t)(round * 7919 + a * 131 + b * 17 + 1);
  next();
  return lengths[next() % (sizeof(lengths) / sizeof(*lengths))];
}

static unsigned char byte(int round, int a, int b, int i) {
  return (unsigned char)(round * 5 + a * 31 + b * 7 + i + (i >> 8));
}

/* Some come late, so that others may lie on disk by then. */
static void come(int round) {
  state = (uint32_t)(round * 31 + rank + 1);
  next();
  if (next() % 4 == 0) {
    const struct timespec late = {0, 2000000};
    nanosleep(&late, NULL);
  }
}

struct exchange {
  int send_count[MOST], send_start[MOST], receive_count[MOST],
      receive_start[MOST];
  unsigned char *send, *receive;
  int received;
  MPI_Request request;
};

static void fill(struct exchange *x, int round) {
  int sent = 0, received = 0;
  for (int r = 0; r < size; r++) {
    x->send_count[r] = length(round, rank, r);
    x->send_start[r] = sent + r % 3; /* not aligned */
    sent = x->send_start[r] + x->send_count[r];
    x->receive_count[r] = length(round, r, rank);
    x->receive_start[r] = received + r % 5;
    received = x->receive_start[r] + x->receive_count[r];
  }
  x->received = received;
  x->send = malloc((size_t)sent + 1);
  x->receive = calloc((size_t)received + 1, 1);
  for (int r = 0; r < size; r++) {
    for (int i = 0; i < x->send_count[r]; i++) {
      x->send[x->send_start[r] + i] = byte(round, rank, r, i);
    }
  }
}

static void check(struct exchange *x, int round) {
  for (int r = 0; r < size; r++) {
    int i = 0;
    while (i < x->receive_count[r] &&
           x->receive[x->receive_start[r] + i] == byte(round, r, rank, i)) {
      i++;
    }
    if (i < x->receive_count[r]) {
      fail("round %d: byte %d from %d", round, i, r);
    }
  }
  mix(x->receive, (size_t)x->received);
  free(x->send);
  free(x->receive);
}

static void blocking(int round) {
  struct exchange x;
  fill(&x, round);
  come(round);
  MPI_Alltoallv(x.send, x.send_count, x.send_start, MPI_BYTE, x.receive,
                x.receive_count, x.receive_start, MPI_BYTE, MPI_COMM_WORLD);
  check(&x, round);
}

static void several(int round) {
  struct exchange x[UNDER_WAY];
  for (int k = 0; k < UNDER_WAY; k++) {
    fill(&x[k], round + k);
    come(round + k);
    MPI_Ialltoallv(x[k].send, x[k].send_count, x[k].send_start, MPI_BYTE,
                   x[k].receive, x[k].receive_count, x[k].receive_start,
                   MPI_BYTE, MPI_COMM_WORLD, &x[k].request);
  }
  for (int k = UNDER_WAY - 1; k >= 0; k--) {
    MPI_Wait(&x[k].request, MPI_STATUS_IGNORE);
  }
  for (int k = 0; k < UNDER_WAY; k++) {
    check(&x[k], round + k);
  }
}

/* One message of each rank goes to all. */
static void to_all(int round) {
  int count[MOST], start[MOST], total = 0;
  for (int r = 0; r < size; r++) {
    count[r] = length(round, r, r);
    start[r] = total + r % 2;
    total = start[r] + count[r];
  }
  unsigned char *mine = malloc((size_t)count[rank] + 1);
  unsigned char *all = calloc((size_t)total + 1, 1);
  for (int i = 0; i < count[rank]; i++) {
    mine[i] = byte(round, rank, rank, i);
  }
  come(round);
  MPI_Allgatherv(mine, count[rank], MPI_BYTE, all, count, start, MPI_BYTE,
                 MPI_COMM_WORLD);
  for (int r = 0; r < size; r++) {
    for (int i = 0; i < count[r]; i++) {
      if (all[start[r] + i] != byte(round, r, r, i)) {
        fail("round %d: byte %d of all, from %d", round, i, r);
        break;
      }
    }
  }
  mix(all, (size_t)total);
  free(mine);
  free(all);
}

/* Large messages from or to one rank, which comes last. */
static void rooted(int round) {
  const int root = round % size, n = 150000 + round;
  unsigned char *one = malloc((size_t)n);
  unsigned char *all = calloc((size_t)n, (size_t)size);
  memset(one, rank + round, (size_t)n);
  if (rank == root) {
    come(round);
  }
  MPI_Gather(one, n, MPI_BYTE, all, n, MPI_BYTE, root, MPI_COMM_WORLD);
  if (rank == root) {
    mix(all, (size_t)n * (size_t)size);
  }
  MPI_Scatter(all, n, MPI_BYTE, one, n, MPI_BYTE, root, MPI_COMM_WORLD);
  if (one[0] != (unsigned char)(rank + round) || one[n - 1] != one[0]) {
    fail("round %d: scattered", round);
  }
  if (rank == root) {
    memset(one, round, (size_t)n);
  }
  MPI_Bcast(one, n, MPI_BYTE, root, MPI_COMM_WORLD);
  mix(one, (size_t)n);
  free(one);
  free(all);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  for (int round = 0; round < ROUNDS; round++) {
    blocking(round);
    several(round);
    to_all(round);
    rooted(round);
    report("round");
  }
  return end();
}
