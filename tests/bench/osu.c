/* Latency, bandwidth and rate of messages, in the manner of the OSU
   micro-benchmarks: RESULT lines, one per test and length.

     osu [latency|bandwidth|rate|exchange|put|get|bcast|allreduce|alltoall]
         [seconds]

   latency: half a round trip between ranks 0 and 1; bandwidth: 64 messages at a
   time from 0 to 1; rate: all ranks in pairs, 64 messages at a time; exchange:
   ranks 0 and 1, MPI_Sendrecv; put, get: rank 0 to and from the window of 1, 8
   accesses and a flush. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 64, ACCESSES = 8, MOST = 8 << 20 };

static int rank, size;
static double seconds = 0.3;
static char *in, *out;
static MPI_Win win;

typedef void step_fn(int n);

static void ping_pong(int n) {
  const MPI_Comm w = MPI_COMM_WORLD;
  if (rank == 0) {
    MPI_Send(out, n, MPI_CHAR, 1, 1, w);
    MPI_Recv(in, n, MPI_CHAR, 1, 1, w, MPI_STATUS_IGNORE);
  } else if (rank == 1) {
    MPI_Recv(in, n, MPI_CHAR, 0, 1, w, MPI_STATUS_IGNORE);
    MPI_Send(out, n, MPI_CHAR, 0, 1, w);
  }
}

/* A window of messages and an answer. */
static void window(int n, bool sender, int peer) {
  const MPI_Comm w = MPI_COMM_WORLD;
  MPI_Request r[WINDOW];
  char answer = 0;
  for (int i = 0; i < WINDOW; i++) {
    if (sender) {
      MPI_Isend(out, n, MPI_CHAR, peer, 2, w, &r[i]);
    } else {
      MPI_Irecv(in, n, MPI_CHAR, peer, 2, w, &r[i]);
    }
  }
  MPI_Waitall(WINDOW, r, MPI_STATUSES_IGNORE);
  if (sender) {
    MPI_Recv(&answer, 1, MPI_CHAR, peer, 3, w, MPI_STATUS_IGNORE);
  } else {
    MPI_Send(&answer, 1, MPI_CHAR, peer, 3, w);
  }
}

static void stream(int n) {
  if (rank < 2) {
    window(n, rank == 0, 1 - rank);
  }
}

static void pairs(int n) {
  const int half = size / 2;
  if (rank < 2 * half) {
    window(n, rank < half, rank < half ? rank + half : rank - half);
  }
}

static void exchange(int n) {
  if (rank < 2) {
    MPI_Sendrecv(out, n, MPI_CHAR, 1 - rank, 4, in, n, MPI_CHAR, 1 - rank, 4,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void put(int n) {
  for (int i = 0; i < ACCESSES && rank == 0; i++) {
    MPI_Put(out, n, MPI_CHAR, 1, 0, n, MPI_CHAR, win);
  }
  MPI_Win_flush_all(win);
}

static void get(int n) {
  for (int i = 0; i < ACCESSES && rank == 0; i++) {
    MPI_Get(in, n, MPI_CHAR, 1, 0, n, MPI_CHAR, win);
  }
  MPI_Win_flush_all(win);
}

static void bcast(int n) {
  MPI_Bcast(in, n, MPI_CHAR, 0, MPI_COMM_WORLD);
}
static void allreduce(int n) {
  MPI_Allreduce(out, in, n / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void alltoall(int n) {
  MPI_Alltoall(out, n / size, MPI_CHAR, in, n / size, MPI_CHAR, MPI_COMM_WORLD);
}

/* Seconds of one step: as many as fit into the time. */
static double measure(step_fn *step, int n) {
  int count = 1;
  double took = 0;
  step(n);
  while (took < seconds) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < count; i++) {
      step(n);
    }
    took = MPI_Wtime() - start;
    MPI_Bcast(&took, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (took < seconds) {
      count = took < seconds / 100 ? count * 10
                                   : (int)(count * 1.2 * seconds / took) + 1;
    }
  }
  return took / count;
}

static void run(const char *name, step_fn *step, double per_step) {
  static const int lengths[] = {8, 1024, 8192, 65536, 1 << 20, MOST};
  for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
    const int n = lengths[i];
    const double t = measure(step, n);
    if (rank == 0) {
      printf("RESULT osu test=%s ranks=%d bytes=%d us=%.3f MBps=%.1f "
             "messages_per_s=%.0f\n",
             name, size, n, t / per_step * 1e6, per_step * n / t * 1e-6,
             per_step / t);
    }
  }
}

/* All have a window, of which rank 0 may access any. */
static void run_window(const char *name, step_fn *step) {
  MPI_Win_create(in, MOST, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_lock_all(0, win);
  run(name, step, ACCESSES);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char *test = argc > 1 ? argv[1] : "latency";
  if (argc > 2) {
    seconds = atof(argv[2]);
  }
  in = calloc(MOST, 1);
  out = calloc(MOST, 1);
  if (!strcmp(test, "latency")) {
    run(test, ping_pong, 2);
  } else if (!strcmp(test, "bandwidth")) {
    run(test, stream, WINDOW);
  } else if (!strcmp(test, "rate")) {
    run(test, pairs, (double)WINDOW * (size / 2));
  } else if (!strcmp(test, "exchange")) {
    run(test, exchange, 1);
  } else if (!strcmp(test, "put")) {
    run_window(test, put);
  } else if (!strcmp(test, "get")) {
    run_window(test, get);
  } else if (!strcmp(test, "bcast")) {
    run(test, bcast, 1);
  } else if (!strcmp(test, "allreduce")) {
    run(test, allreduce, 1);
  } else if (!strcmp(test, "alltoall")) {
    run(test, alltoall, 1);
  }
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
