/* Nonblocking collectives: every one of them, many under way at once on
   several communicators, completed in any order, with point-to-point messages
   in between, large and small, in place, and with types and operations that are
   freed before the end. Prints sums of what came. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;
static uint64_t sum = 14695981039346656037u;

static void note(const void *p, size_t n) {
  const unsigned char *c = p;
  for (size_t i = 0; i < n; i++) {
    sum = (sum ^ c[i]) * 1099511628211u;
  }
}

static void say(const char *what) {
  printf("rank %d: %s: %016llx\n", rank, what, (unsigned long long)sum);
}

/* a * x + b * y of pairs: not commutative. */
static void affine(void *in, void *inout, int *n, MPI_Datatype *type) {
  int *a = in, *b = inout;
  (void)type;
  for (int i = 0; i < *n; i++) {
    const int m = a[2 * i] * b[2 * i] % 10007;
    const int c = (a[2 * i + 1] * b[2 * i] + b[2 * i + 1]) % 10007;
    b[2 * i] = m;
    b[2 * i + 1] = c;
  }
}

static int *ints(int n, int seed) {
  int *p = malloc((n + 1) * sizeof(*p));
  for (int i = 0; i < n; i++) {
    p[i] = (rank * 131 + seed * 17 + i * 7) % 9973;
  }
  return p;
}

enum { KINDS = 16, MOST = 64 };

/* What is under way. */
static struct {
  MPI_Request request;
  int *memory[4];
  int n;
} under_way[MOST];

static int *arrays(int at, int which, int n, int seed) {
  return under_way[at].memory[which] = ints(n, seed);
}

/* Collective `kind` with messages of n ints. */
static void start(int at, int kind, MPI_Comm comm, int n, int seed) {
  int me, all;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &all);
  const int root = seed % all;
  MPI_Request *r = &under_way[at].request;
  int *counts = arrays(at, 2, all, 0), *places = arrays(at, 3, all, 0);
  int *from = arrays(at, 0, n * all, seed), *to = arrays(at, 1, n * all, 1);
  under_way[at].n = n * all;
  for (int i = 0; i < all; i++) {
    counts[i] = n;
    places[i] = n * (all - 1 - i);
  }
  MPI_Datatype type;
  switch (kind) {
  case 0:
    MPI_Ibarrier(comm, r);
    break;
  case 1:
    MPI_Type_vector(n, 1, 1, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Ibcast(to, 1, type, root, comm, r);
    MPI_Type_free(&type);
    break;
  case 2:
    MPI_Igather(me == root && seed % 2 ? MPI_IN_PLACE : (void *)from, n,
                MPI_INT, to, n, MPI_INT, root, comm, r);
    break;
  case 3:
    MPI_Igatherv(from, n, MPI_INT, to, counts, places, MPI_INT, root, comm, r);
    break;
  case 4:
    MPI_Iscatter(from, n, MPI_INT, to, n, MPI_INT, root, comm, r);
    break;
  case 5:
    MPI_Iscatterv(from, counts, places, MPI_INT, to, n, MPI_INT, root, comm, r);
    break;
  case 6:
    MPI_Iallgather(from, n, MPI_INT, to, n, MPI_INT, comm, r);
    break;
  case 7:
    MPI_Iallgatherv(from, n, MPI_INT, to, counts, places, MPI_INT, comm, r);
    break;
  case 8:
    MPI_Ialltoall(seed % 2 ? MPI_IN_PLACE : (void *)from, n, MPI_INT, to, n,
                  MPI_INT, comm, r);
    break;
  case 9:
    MPI_Ialltoallv(from, counts, places, MPI_INT, to, counts, places, MPI_INT,
                   comm, r);
    break;
  case 10:
    MPI_Ireduce(from, to, n, MPI_INT, MPI_SUM, root, comm, r);
    break;
  case 11:
    MPI_Iallreduce(seed % 2 ? MPI_IN_PLACE : (void *)from, to, n * all, MPI_INT,
                   MPI_BXOR, comm, r);
    break;
  case 12:
    MPI_Ireduce_scatter(from, to, counts, MPI_INT, MPI_MAX, comm, r);
    break;
  case 13:
    MPI_Ireduce_scatter_block(from, to, n, MPI_INT, MPI_MIN, comm, r);
    break;
  case 14:
    MPI_Iscan(from, to, n, MPI_INT, MPI_SUM, comm, r);
    break;
  default:
    if (me == 0) {
      memset(to, 0, n * sizeof(*to)); /* stays as it is */
    }
    MPI_Iexscan(from, to, n, MPI_INT, MPI_SUM, comm, r);
  }
}

static void finish(int at) {
  note(under_way[at].memory[1], under_way[at].n * sizeof(int));
  for (int i = 0; i < 4; i++) {
    free(under_way[at].memory[i]);
  }
}

/* All kinds at once on two communicators, awaited from the last to the first,
   while messages go round. */
static void all_at_once(MPI_Comm one, MPI_Comm other, int n, int seed) {
  int there = 0;
  for (int kind = 0; kind < KINDS; kind++) {
    start(there++, kind, one, n, seed + kind);
    start(there++, kind, other, n / 3 + 1, seed + kind + 1);
    int token = rank + kind, came;
    MPI_Sendrecv(&token, 1, MPI_INT, (rank + 1) % size, kind, &came, 1, MPI_INT,
                 (rank + size - 1) % size, kind, one, MPI_STATUS_IGNORE);
    note(&came, sizeof(came));
  }
  for (int i = there - 1; i >= 0; i--) {
    MPI_Status status;
    MPI_Wait(&under_way[i].request, &status);
    finish(i);
  }
}

static void by_waitall(MPI_Comm comm, int n) {
  MPI_Request requests[KINDS];
  for (int kind = 0; kind < KINDS; kind++) {
    start(kind, kind, comm, n, kind);
    requests[kind] = under_way[kind].request;
  }
  MPI_Waitall(KINDS, requests, MPI_STATUSES_IGNORE);
  for (int kind = 0; kind < KINDS; kind++) {
    finish(kind);
  }
}

static void by_testing(MPI_Comm comm, int n) {
  for (int kind = 0; kind < KINDS; kind++) {
    int flag = 0;
    start(kind, kind, comm, n, 3 * kind);
    while (!flag) {
      MPI_Test(&under_way[kind].request, &flag, MPI_STATUS_IGNORE);
    }
    finish(kind);
  }
}

static void own_operation(MPI_Comm comm, int n) {
  MPI_Datatype pair;
  MPI_Op op;
  MPI_Request requests[3];
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Op_create(affine, 0, &op);
  int *in = ints(2 * n, 5), *out = ints(2 * n, 6), *scan = ints(2 * n, 7);
  int *block = ints(2 * n * size, 8), *part = ints(2 * n, 9);
  MPI_Iallreduce(in, out, n, pair, op, comm, &requests[0]);
  MPI_Iscan(in, scan, n, pair, op, comm, &requests[1]);
  MPI_Ireduce_scatter_block(block, part, n, pair, op, comm, &requests[2]);
  MPI_Type_free(&pair);
  MPI_Op_free(&op);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  note(out, 2 * n * sizeof(int));
  note(scan, 2 * n * sizeof(int));
  note(part, 2 * n * sizeof(int));
  free(in), free(out), free(scan), free(block), free(part);
}

/* One rank starts long before the others. */
static void far_ahead(void) {
  enum { N = 40 };
  MPI_Request requests[N];
  int values[N];
  if (rank == 0) {
    for (int i = 0; i < N; i++) {
      values[i] = 1000 + i;
      MPI_Ibcast(&values[i], 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(N, requests, MPI_STATUSES_IGNORE);
  }
  if (rank == 0 && size > 1) {
    MPI_Send(values, 1, MPI_INT, size - 1, 7, MPI_COMM_WORLD);
  }
  if (rank > 0) {
    for (int i = 0; i < N; i++) {
      MPI_Ibcast(&values[i], 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[i]);
      MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    }
    note(values, sizeof(values));
  }
  if (rank > 0 && rank == size - 1) {
    MPI_Recv(values, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char **argv) {
  MPI_Comm half, mirror, copy;
  (void)argv;
  MPI_Init(NULL, NULL);
  if (argc > 1) {
    MPI_Finalize();
    return 0;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &mirror);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  all_at_once(MPI_COMM_WORLD, half, 5, 1);
  say("all at once");
  all_at_once(copy, mirror, 3000, 2);
  say("larger");
  by_waitall(mirror, 40);
  say("waitall");
  by_testing(half, 100);
  say("test");
  by_waitall(MPI_COMM_SELF, 10);
  say("self");
  own_operation(MPI_COMM_WORLD, 50);
  own_operation(copy, 20000);
  own_operation(mirror, 500);
  say("operations");
  far_ahead();
  say("far ahead");
  all_at_once(MPI_COMM_WORLD, copy, 24000, 3);
  say("large");
  MPI_Comm_free(&half);
  MPI_Comm_free(&mirror);
  MPI_Comm_free(&copy);
  MPI_Finalize();
  return 0;
}
