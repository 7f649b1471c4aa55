/* Collectives on inter-communicators, blocking and not: groups of different
   sizes, every root, also MPI_PROC_NULL's, large and small. Argument: the most
   elements, 60000 unless given. */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In MPICH 5.0.2 it brings what rank 0 of the other group has, whoever is the
   root; the header of MPI 5.0's ABI does not tell which MPI will be there. */
#if defined MPICH_VERSION || defined MPI_ABI_VERSION
enum { IBCAST_WORKS = 0 };
#else
enum { IBCAST_WORKS = 1 };
#endif

static int rank, size;
static MPI_Comm inter;
static int me, mine, others, group;
static uint64_t sum = 14695981039346656037u;

static void note(const int *p, int n) {
  for (int i = 0; i < n; i++) {
    sum = (sum ^ (unsigned)p[i]) * 1099511628211u;
  }
}

static int *ints(int n, int seed) {
  int *p = malloc((n + 1) * sizeof(*p));
  for (int i = 0; i < n; i++) {
    p[i] = (rank * 131 + seed * 17 + i * 7) % 9973;
  }
  return p;
}

static int largest(void) {
  return mine > others ? mine : others;
}

/* The root as this rank names it, when the root is rank r of group g. */
static int root_of(int g, int r) {
  return g != group ? r : r == me ? MPI_ROOT : MPI_PROC_NULL;
}

static void end(bool nonblocking, MPI_Request *request) {
  if (nonblocking) {
    MPI_Wait(request, MPI_STATUS_IGNORE);
  }
}

static void rooted(int g, int r, int n, bool nonblocking) {
  const int root = root_of(g, r), most = largest();
  MPI_Request q;
  int *from = ints(n * most, 1), *to = ints(n * most, 2);
  int *counts = malloc(most * sizeof(int)), *at = malloc(most * sizeof(int));
  for (int i = 0; i < most; i++) {
    counts[i] = n;
    at[i] = (most - 1 - i) * n;
  }
  if (nonblocking && IBCAST_WORKS) {
    MPI_Ibcast(root == MPI_ROOT ? from : to, n, MPI_INT, root, inter, &q);
  } else {
    MPI_Bcast(root == MPI_ROOT ? from : to, n, MPI_INT, root, inter);
  }
  end(nonblocking && IBCAST_WORKS, &q);
  note(to, n * most);
  if (nonblocking) {
    MPI_Igather(from, n, MPI_INT, to, n, MPI_INT, root, inter, &q);
  } else {
    MPI_Gather(from, n, MPI_INT, to, n, MPI_INT, root, inter);
  }
  end(nonblocking, &q);
  note(to, n * most);
  if (nonblocking) {
    MPI_Igatherv(from, n, MPI_INT, to, counts, at, MPI_INT, root, inter, &q);
  } else {
    MPI_Gatherv(from, n, MPI_INT, to, counts, at, MPI_INT, root, inter);
  }
  end(nonblocking, &q);
  note(to, n * most);
  if (nonblocking) {
    MPI_Iscatter(from, n, MPI_INT, to, n, MPI_INT, root, inter, &q);
  } else {
    MPI_Scatter(from, n, MPI_INT, to, n, MPI_INT, root, inter);
  }
  end(nonblocking, &q);
  note(to, n * most);
  if (nonblocking) {
    MPI_Iscatterv(from, counts, at, MPI_INT, to, n, MPI_INT, root, inter, &q);
  } else {
    MPI_Scatterv(from, counts, at, MPI_INT, to, n, MPI_INT, root, inter);
  }
  end(nonblocking, &q);
  note(to, n * most);
  if (nonblocking) {
    MPI_Ireduce(from, to, n, MPI_INT, MPI_SUM, root, inter, &q);
  } else {
    MPI_Reduce(from, to, n, MPI_INT, MPI_SUM, root, inter);
  }
  end(nonblocking, &q);
  note(to, n * most);
  free(from), free(to), free(counts), free(at);
}

static void for_all(int n, bool nonblocking) {
  const int most = largest();
  MPI_Request q;
  int *from = ints(n * most, 3), *to = ints(n * most, 4);
  int *counts = malloc(most * sizeof(int)), *at = malloc(most * sizeof(int));
  int *bytes = malloc(most * sizeof(int));
  MPI_Datatype *types = malloc(most * sizeof(*types));
  for (int i = 0; i < most; i++) {
    counts[i] = n;
    at[i] = (most - 1 - i) * n;
    bytes[i] = at[i] * (int)sizeof(int);
    types[i] = MPI_INT;
  }
  if (nonblocking) {
    MPI_Ibarrier(inter, &q);
    end(true, &q);
    MPI_Iallgather(from, n, MPI_INT, to, n, MPI_INT, inter, &q);
    end(true, &q);
    note(to, n * most);
    MPI_Iallgatherv(from, n, MPI_INT, to, counts, at, MPI_INT, inter, &q);
    end(true, &q);
    note(to, n * most);
    MPI_Ialltoall(from, n, MPI_INT, to, n, MPI_INT, inter, &q);
    end(true, &q);
    note(to, n * most);
    MPI_Ialltoallv(from, counts, at, MPI_INT, to, counts, at, MPI_INT, inter,
                   &q);
    end(true, &q);
    note(to, n * most);
    MPI_Ialltoallw(from, counts, bytes, types, to, counts, bytes, types, inter,
                   &q);
    end(true, &q);
    note(to, n * most);
    MPI_Iallreduce(from, to, n, MPI_INT, MPI_SUM, inter, &q);
    end(true, &q);
  } else {
    MPI_Barrier(inter);
    MPI_Allgather(from, n, MPI_INT, to, n, MPI_INT, inter);
    note(to, n * most);
    MPI_Allgatherv(from, n, MPI_INT, to, counts, at, MPI_INT, inter);
    note(to, n * most);
    MPI_Alltoall(from, n, MPI_INT, to, n, MPI_INT, inter);
    note(to, n * most);
    MPI_Alltoallv(from, counts, at, MPI_INT, to, counts, at, MPI_INT, inter);
    note(to, n * most);
    MPI_Alltoallw(from, counts, bytes, types, to, counts, bytes, types, inter);
    note(to, n * most);
    MPI_Allreduce(from, to, n, MPI_INT, MPI_SUM, inter);
  }
  note(to, n * most);
  free(from), free(to), free(counts), free(at), free(bytes), free(types);
}

/* The sums of counts of both groups must be the same. */
static void scattered(int n, bool nonblocking) {
  const int total = n * mine * others, equal = n * others;
  MPI_Request q;
  int *from = ints(total, 5), *to = ints(total, 6);
  int *counts = malloc(mine * sizeof(int));
  for (int i = 0; i < mine; i++) {
    counts[i] = equal;
  }
  if (mine > 1) {
    counts[0] -= n;
    counts[mine - 1] += n;
  }
  if (nonblocking) {
    MPI_Ireduce_scatter(from, to, counts, MPI_INT, MPI_SUM, inter, &q);
    end(true, &q);
    note(to, equal);
    MPI_Ireduce_scatter_block(from, to, equal, MPI_INT, MPI_MAX, inter, &q);
    end(true, &q);
  } else {
    MPI_Reduce_scatter(from, to, counts, MPI_INT, MPI_SUM, inter);
    note(to, equal);
    MPI_Reduce_scatter_block(from, to, equal, MPI_INT, MPI_MAX, inter);
  }
  note(to, equal);
  free(from), free(to), free(counts);
}

static void all_calls(int n, bool nonblocking) {
  for (int g = 0; g < 2; g++) {
    const int count = g == group ? mine : others;
    for (int r = 0; r < count; r++) {
      rooted(g, r, n, nonblocking);
    }
  }
  for_all(n, nonblocking);
  scattered(n, nonblocking);
  printf("rank %d: %d ints%s: %016llx\n", rank, n,
         nonblocking ? ", nonblocking" : "", (unsigned long long)sum);
}

/* Members of the first group: every third rank, and at least rank 0. */
static void make(void) {
  MPI_Comm local;
  group = rank % 3 != 0;
  MPI_Comm_split(MPI_COMM_WORLD, group, rank, &local);
  MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, group ? 0 : 1, 17, &inter);
  MPI_Comm_free(&local);
  MPI_Comm_rank(inter, &me);
  MPI_Comm_size(inter, &mine);
  MPI_Comm_remote_size(inter, &others);
}

int main(int argc, char **argv) {
  const int most = argc > 1 ? atoi(argv[1]) : 60000;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (most > 0 && size > 1) {
    make();
    const int counts[] = {1, 0, 700, most};
    for (int i = 0; i < 4; i++) {
      all_calls(counts[i], false);
      all_calls(counts[i], true);
    }
    MPI_Comm_free(&inter);
  }
  MPI_Finalize();
  return 0;
}
