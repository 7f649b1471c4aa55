/* Floods what keeps messages: before their receives, between processes, packed
   for calls. What arrives is checked.

   flood letters|deferred|windows|mail|reductions|rounds [BYTES]: prints "ok
   KIND". */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static unsigned char value(int from, int to, int i) {
  return (unsigned char)(31 * from + 7 * to + 3 * i + 1);
}

static void require(bool right, const char *what, int from) {
  if (!right) {
    fprintf(stderr, "flood: rank %d: wrong %s from %d\n", rank, what, from);
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
}

/* Each sends `messages` of n bytes to all others before anyone receives. */
static void letters(int messages, int n, MPI_Comm comm) {
  unsigned char *const bytes = malloc(n);
  for (int i = 0; i < messages; i++) {
    for (int to = 0; to < size; to++) {
      if (to != rank) {
        memset(bytes, value(rank, to, i), n);
        MPI_Send(bytes, n, MPI_BYTE, to, i, comm);
      }
    }
  }
  for (int i = messages - 1; i >= 0; i--) { /* the last first: all are kept */
    for (int from = 0; from < size; from++) {
      if (from != rank) {
        MPI_Recv(bytes, n, MPI_BYTE, from, i, comm, MPI_STATUS_IGNORE);
        require(bytes[0] == value(from, rank, i) &&
                    bytes[n - 1] == value(from, rank, i),
                "message", from);
      }
    }
  }
  free(bytes);
}

/* On new communicators, some of whose members have not heard of them yet. */
static void deferred(int messages, int n) {
  MPI_Comm comm[4];
  for (int i = 0; i < 4; i++) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
    letters(messages / 4, n, comm[i]);
  }
  for (int i = 0; i < 4; i++) {
    MPI_Comm_free(&comm[i]);
  }
}

/* Vectors that processes combine: by mail, in pieces where they are long. */
static void mail(int calls, int n) {
  const int count = n / (int)sizeof(uint64_t);
  uint64_t *const in = malloc(n), *const out = malloc(n);
  for (int i = 0; i < calls; i++) {
    for (int k = 0; k < count; k++) {
      in[k] = (uint64_t)rank + k + i;
    }
    MPI_Allreduce(in, out, count, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (int k = 0; k < count; k++) {
      require(out[k] ==
                  (uint64_t)size * (size - 1) / 2 + (uint64_t)size * (k + i),
              "sum", i);
    }
  }
  free(in);
  free(out);
}

/* As many calls at once, of short vectors: a part of them finds no room. */
static void reductions(int calls, int n) {
  const int count = n / (int)sizeof(uint64_t) / size * size;
  uint64_t *const in = malloc(n);
  uint64_t **const out = malloc(calls * sizeof(*out));
  MPI_Request *const request = malloc(calls * sizeof(*request));
  for (int k = 0; k < count; k++) {
    in[k] = (uint64_t)rank + k;
  }
  for (int i = 0; i < calls; i++) {
    out[i] = malloc(n);
    if (i % 4 == 0) {
      MPI_Iscan(in, out[i], count, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD,
                &request[i]);
    } else if (i % 4 == 1) {
      MPI_Ireduce_scatter_block(in, out[i], count / size, MPI_UINT64_T, MPI_SUM,
                                MPI_COMM_WORLD, &request[i]);
    } else if (i % 4 == 2) {
      MPI_Ireduce(in, out[i], count, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD,
                  &request[i]);
    } else {
      memcpy(out[i], in, n);
      MPI_Iallreduce(MPI_IN_PLACE, out[i], count, MPI_UINT64_T, MPI_SUM,
                     MPI_COMM_WORLD, &request[i]);
    }
  }
  MPI_Waitall(calls, request, MPI_STATUSES_IGNORE);
  for (int i = 0; i < calls; i++) {
    const uint64_t below = i % 4 == 0 ? rank + 1 : size; /* that are summed */
    const int first = i % 4 == 1 ? rank * (count / size) : 0;
    const int got = i % 4 == 1               ? count / size
                    : i % 4 == 2 && rank > 0 ? 0
                                             : count;
    for (int k = 0; k < got; k++) {
      require(out[i][k] == below * (below - 1) / 2 + below * (first + k),
              "result of call", i);
    }
    free(out[i]);
  }
  free(in);
  free(out);
  free(request);
}

/* Many accesses to windows that are new. */
static void windows(int messages, int n) {
  unsigned char *const bytes = malloc(n);
  for (int i = 0; i < messages / 10; i++) {
    unsigned char *memory;
    MPI_Win win;
    MPI_Win_allocate((MPI_Aint)n * size, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                     &memory, &win);
    memset(bytes, value(rank, 0, i), n);
    MPI_Win_lock_all(0, win);
    for (int to = 0; to < size; to++) {
      MPI_Put(bytes, n, MPI_BYTE, to, (MPI_Aint)n * rank, n, MPI_BYTE, win);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int from = 0; from < size; from++) {
      require(memory[(size_t)n * from] == value(from, 0, i) &&
                  memory[(size_t)n * from + n - 1] == value(from, 0, i),
              "access", from);
    }
    MPI_Win_free(&win);
  }
  free(bytes);
}

/* Large messages of several calls at once cross between the processes. */
static void rounds(int calls, int n) {
  unsigned char **const in = malloc(calls * sizeof(*in));
  unsigned char **const out = malloc(calls * sizeof(*out));
  MPI_Request *const request = malloc(calls * sizeof(*request));
  for (int i = 0; i < calls; i++) {
    in[i] = malloc((size_t)n * size);
    out[i] = malloc((size_t)n * size);
    for (int to = 0; to < size; to++) {
      memset(in[i] + (size_t)n * to, value(rank, to, i), n);
    }
    MPI_Ialltoall(in[i], n, MPI_BYTE, out[i], n, MPI_BYTE, MPI_COMM_WORLD,
                  &request[i]);
  }
  MPI_Waitall(calls, request, MPI_STATUSES_IGNORE);
  for (int i = 0; i < calls; i++) {
    for (int from = 0; from < size; from++) {
      const unsigned char *const got = out[i] + (size_t)n * from;
      require(got[0] == value(from, rank, i) &&
                  got[n - 1] == value(from, rank, i),
              "block", from);
    }
    free(in[i]);
    free(out[i]);
  }
  free(in);
  free(out);
  free(request);
}

int main(int argc, char **argv) {
  const char *const kind = argc > 1 ? argv[1] : "";
  const int n = argc > 2 ? atoi(argv[2]) : 4096;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(kind, "letters") == 0) {
    letters(100, n, MPI_COMM_WORLD);
  } else if (strcmp(kind, "deferred") == 0) {
    deferred(100, n);
  } else if (strcmp(kind, "windows") == 0) {
    windows(100, n);
  } else if (strcmp(kind, "reductions") == 0) {
    reductions(40, n);
  } else if (strcmp(kind, "mail") == 0) {
    mail(8, n);
  } else if (strcmp(kind, "rounds") == 0) {
    rounds(4, n);
  } else {
    fprintf(stderr, "flood: %s: unknown\n", kind);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    printf("ok %s\n", kind);
  }
  MPI_Finalize();
  return 0;
}
