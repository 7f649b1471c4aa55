/* Large data between ranks that may be in different processes: messages and
   parts of collective calls, accesses to windows, and reductions; to memory
   that is dense or not, there before its data or not, and at odd addresses. */
#include "test.h"

enum { MOST = 6 << 20, ODD = 3 };
static const int lengths[] = {40000, 300001, MOST};
enum { LENGTHS = sizeof(lengths) / sizeof(*lengths) };

static unsigned char *in, *out; /* MOST bytes, at odd addresses */

static void fill(int n, int salt) {
  for (int i = 0; i < n; i++) {
    out[i] = (unsigned char)(i * 7 + i / 255 + rank * 31 + salt);
  }
  memset(in, 0x55, (size_t)n);
}

static void told(const char *what, int n) {
  mix(in, (size_t)n);
  report(what);
}

/* Round the ring: posted before it is sent, and a while after. */
static void ring(int n) {
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Request r;
  fill(n, 1);
  MPI_Irecv(in, n, MPI_BYTE, from, 0, MPI_COMM_WORLD, &r);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Send(out, n, MPI_BYTE, to, 0, MPI_COMM_WORLD);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  told("posted", n);
  fill(n, 2);
  MPI_Issend(out, n, MPI_BYTE, to, 1, MPI_COMM_WORLD, &r);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Recv(in, n, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  told("late", n);
}

/* Dense to sparse and back, and a part of what was sent. */
static void shapes(int n) {
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Datatype sparse;
  MPI_Type_vector(n / 4, 2, 4, MPI_BYTE, &sparse);
  MPI_Type_commit(&sparse);
  fill(n, 3);
  MPI_Sendrecv(out, n / 4 * 2, MPI_BYTE, to, 2, in, 1, sparse, from, 2,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  told("to a sparse one", n);
  fill(n, 4);
  MPI_Sendrecv(out, 1, sparse, to, 3, in, n, MPI_BYTE, from, 3, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  told("from a sparse one", n);
  fill(n, 5);
  MPI_Sendrecv(out, n / 2, MPI_BYTE, to, 4, in, n, MPI_BYTE, from, 4,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  told("half of the room", n);
  MPI_Type_free(&sparse);
}

static void everybody(int n) {
  fill(n, 6);
  MPI_Alltoall(out, n / size, MPI_BYTE, in, n / size, MPI_BYTE, MPI_COMM_WORLD);
  told("alltoall", n);
  fill(n, 7);
  memcpy(in, out, (size_t)n);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_BYTE, in, n / size, MPI_BYTE,
               MPI_COMM_WORLD);
  told("alltoall in place", n);
  fill(n, 8);
  MPI_Allgather(out, n / size, MPI_BYTE, in, n / size, MPI_BYTE,
                MPI_COMM_WORLD);
  told("allgather", n);
  fill(n, 9);
  memcpy(in, out, (size_t)n);
  MPI_Bcast(in, n, MPI_BYTE, size / 2, MPI_COMM_WORLD);
  told("bcast", n);
  fill(n, 10);
  MPI_Scatter(out, n / size, MPI_BYTE, in, n / size, MPI_BYTE, size - 1,
              MPI_COMM_WORLD);
  told("scatter", n);
}

static void sums(int n) {
  fill(n, 11);
  MPI_Allreduce(out, in, n, MPI_BYTE, MPI_BXOR, MPI_COMM_WORLD);
  told("allreduce", n);
  fill(n, 12);
  memcpy(in, out, (size_t)n);
  MPI_Allreduce(MPI_IN_PLACE, in, n, MPI_BYTE, MPI_BXOR, MPI_COMM_WORLD);
  told("allreduce in place", n);
  fill(n, 13);
  memcpy(in, out, (size_t)n);
  MPI_Reduce_scatter_block(MPI_IN_PLACE, in, n / size, MPI_BYTE, MPI_BXOR,
                           MPI_COMM_WORLD);
  told("reduce_scatter in place", n / size);
  fill(n, 14);
  MPI_Scan(out, in, n, MPI_BYTE, MPI_BXOR, MPI_COMM_WORLD);
  told("scan", n);
}

static void windows(int n) {
  const int to = (rank + 1) % size;
  MPI_Win win;
  fill(n, 15);
  MPI_Win_create(in, n, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  MPI_Put(out, n, MPI_BYTE, to, 0, n, MPI_BYTE, win);
  MPI_Win_fence(0, win);
  told("put", n);
  MPI_Win_free(&win);
  fill(n, 16);
  MPI_Win_create(out, n, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_lock_all(0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Get(in, n, MPI_BYTE, to, 0, n, MPI_BYTE, win);
  MPI_Win_flush(to, win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_unlock_all(win);
  told("get", n);
  MPI_Win_free(&win);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  unsigned char *const memory = malloc(2 * (size_t)MOST + 2 * ODD);
  in = memory + ODD;
  out = in + MOST + ODD;
  for (int i = 0; i < LENGTHS; i++) {
    const int n = lengths[i] / size * size;
    ring(n);
    shapes(n);
    everybody(n);
    if (n < MOST) { /* in little memory they take long */
      sums(n);
    }
    if (size > 1) { /* Open MPI 4.1 makes no windows for one rank alone */
      windows(n);
    }
  }
  free(memory);
  return end();
}
