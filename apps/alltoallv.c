/* One MPI_Alltoallv of n integers in all, as in Figure 7.2 of D. E. Robillard's
   thesis on PEMS2, and a check of every one of them.

   A plain MPI program: alltoallv N */
#include <inttypes.h>
#include <limits.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { EXIT_USAGE = 2 };

/* n integers dealt to v * v messages; the first n mod v^2 hold one more. */
struct deal {
  uint64_t n;
  int ranks;
};

/* Messages in one direction: their lengths and starts, in integers. */
struct messages {
  int *count;
  int *start;
  int *data;
  uint64_t total;
};

static void *allocate(uint64_t n, size_t size) {
  void *p = malloc((n > 0 ? n : 1) * size);
  if (p == NULL) {
    fprintf(stderr, "alltoallv: out of memory, bytes wanted: %" PRIu64 "\n",
            n * size);
    exit(EXIT_FAILURE);
  }
  return p;
}

/* Length of the message from one rank to another. */
static int message_length(const struct deal *d, int from, int to) {
  const uint64_t v = (uint64_t)d->ranks;
  const uint64_t number = v * (uint64_t)from + (uint64_t)to;
  return (int)(d->n / (v * v) + (number < d->n % (v * v)));
}

/* Integer i of the message from one rank to another. */
static int value(const struct deal *d, int from, int to, int i) {
  const uint32_t message = (uint32_t)d->ranks * (uint32_t)from + (uint32_t)to;
  return (int)((message * 2654435761u ^ (uint32_t)i) & INT_MAX);
}

/* Lays the messages out one after another; `sending` tells whether they go from
   this rank or come to it. */
static struct messages lay_out(const struct deal *d, int rank, bool sending) {
  struct messages m = {.total = 0};
  m.count = allocate((uint64_t)d->ranks, sizeof(*m.count));
  m.start = allocate((uint64_t)d->ranks, sizeof(*m.start));
  for (int peer = 0; peer < d->ranks; peer++) {
    m.count[peer] =
        sending ? message_length(d, rank, peer) : message_length(d, peer, rank);
    m.start[peer] = (int)m.total;
    m.total += (uint64_t)m.count[peer];
  }
  m.data = allocate(m.total, sizeof(*m.data));
  return m;
}

static void messages_free(struct messages *m) {
  free(m->data);
  free(m->start);
  free(m->count);
}

static void fill(const struct deal *d, int rank, struct messages *m) {
  for (int to = 0; to < d->ranks; to++) {
    int *const message = m->data + m->start[to];
    for (int i = 0; i < m->count[to]; i++) {
      message[i] = value(d, rank, to, i);
    }
  }
}

static uint64_t count_wrong(const struct deal *d, int rank,
                            const struct messages *m) {
  uint64_t wrong = 0;
  for (int from = 0; from < d->ranks; from++) {
    const int *const message = m->data + m->start[from];
    for (int i = 0; i < m->count[from]; i++) {
      wrong += message[i] != value(d, from, rank, i);
    }
  }
  return wrong;
}

/* Exchanges and returns the number of wrong integers on all ranks. */
static uint64_t exchange(const struct deal *d, int rank) {
  struct messages out = lay_out(d, rank, true);
  fill(d, rank, &out);
  struct messages in = lay_out(d, rank, false);
  MPI_Alltoallv(out.data, out.count, out.start, MPI_INT, in.data, in.count,
                in.start, MPI_INT, MPI_COMM_WORLD);
  messages_free(&out);
  const uint64_t wrong = count_wrong(d, rank, &in);
  messages_free(&in);

  uint64_t total;
  MPI_Allreduce(&wrong, &total, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return total;
}

/* Reads the number of integers. Returns NULL, or what is wrong. */
static const char *parse(struct deal *d, int argc, char **argv) {
  char *end;
  if (argc != 2 || argv[1][0] < '0' || argv[1][0] > '9') {
    return "usage: alltoallv N";
  }
  d->n = strtoull(argv[1], &end, 10);
  if (*end != '\0') {
    return "usage: alltoallv N";
  }
  /* Starts are ints, and a share is at most v integers longer than n / v. */
  const uint64_t v = (uint64_t)d->ranks;
  if (d->n / v > INT_MAX - v) {
    return "more than 2^31 integers per rank: use more ranks";
  }
  return NULL;
}

int main(int argc, char **argv) {
  struct deal deal;
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &deal.ranks);

  const char *const problem = parse(&deal, argc, argv);
  if (problem != NULL) {
    if (rank == 0) {
      fprintf(stderr, "alltoallv: %s\n", problem);
    }
    MPI_Finalize();
    return EXIT_USAGE;
  }

  const double start = MPI_Wtime();
  const uint64_t wrong = exchange(&deal, rank);
  if (rank == 0) {
    printf("RESULT app=alltoallv elements=%" PRIu64 " ranks=%d seconds=%.6f "
           "wrong=%" PRIu64 "\n",
           deal.n, deal.ranks, MPI_Wtime() - start, wrong);
  }
  MPI_Finalize();
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
