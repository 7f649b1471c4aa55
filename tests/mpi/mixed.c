/* Different collectives in a row, without barriers, with changing roots. */
#include "test.h"

#include <stdbool.h>

enum { MOST = 3000, STEPS = 300 };

/* Every step depends on what the last one left. */
struct state {
  int *a, *b; /* MOST numbers per rank each */
  int *counts, *displs;
  uint64_t dice; /* the same on all ranks */
};

static void uneven(struct state *s, int count) {
  int at = 0;
  for (int i = 0; i < size; i++) {
    s->counts[i] = (count * (i + 1)) % (MOST - 1);
    s->displs[i] = at;
    at += s->counts[i];
  }
}

static void exchange(struct state *s, int count) {
  int *out = calloc((size_t)size, sizeof(*out));
  int *place = calloc((size_t)size, sizeof(*place));
  int at = 0;
  for (int i = 0; i < size; i++) {
    out[i] = (count + rank * 13 + i * 7) % MOST;
    place[i] = i * MOST;
    s->counts[i] = (count + i * 13 + rank * 7) % MOST;
    s->displs[i] = at;
    at += s->counts[i];
  }
  MPI_Alltoallv(s->a, out, place, MPI_INT, s->b, s->counts, s->displs, MPI_INT,
                MPI_COMM_WORLD);
  free(out);
  free(place);
}

static void step(struct state *s, int kind, int count, int root) {
  switch (kind) {
  case 0:
    MPI_Bcast(s->a, count, MPI_INT, root, MPI_COMM_WORLD);
    break;
  case 1:
    MPI_Gather(s->a, count, MPI_INT, s->b, count, MPI_INT, root,
               MPI_COMM_WORLD);
    break;
  case 2:
    MPI_Scatter(s->a, count, MPI_INT, s->b, count, MPI_INT, root,
                MPI_COMM_WORLD);
    break;
  case 3:
    MPI_Allgather(s->a, count, MPI_INT, s->b, count, MPI_INT, MPI_COMM_WORLD);
    break;
  case 4:
    MPI_Alltoall(s->a, count, MPI_INT, s->b, count, MPI_INT, MPI_COMM_WORLD);
    break;
  case 5:
    exchange(s, count);
    break;
  case 6:
    MPI_Reduce(s->a, s->b, count, MPI_INT, MPI_BXOR, root, MPI_COMM_WORLD);
    break;
  case 7:
    MPI_Allreduce(s->a, s->b, count, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    break;
  case 8:
    MPI_Scan(s->a, s->b, count, MPI_INT, MPI_BXOR, MPI_COMM_WORLD);
    break;
  case 9:
    uneven(s, count);
    MPI_Gatherv(s->a, s->counts[rank], MPI_INT, s->b, s->counts, s->displs,
                MPI_INT, root, MPI_COMM_WORLD);
    break;
  case 10:
    uneven(s, count);
    MPI_Scatterv(s->a, s->counts, s->displs, MPI_INT, s->b, s->counts[rank],
                 MPI_INT, root, MPI_COMM_WORLD);
    break;
  case 11:
    uneven(s, count);
    MPI_Allgatherv(s->a, s->counts[rank], MPI_INT, s->b, s->counts, s->displs,
                   MPI_INT, MPI_COMM_WORLD);
    break;
  default:
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void walk(struct state *s, bool rooted_only) {
  const size_t n = (size_t)MOST * (size_t)size;
  for (int i = 0; i < STEPS; i++) {
    const int rooted[] = {0, 1, 2, 6, 9, 10};
    const int kind =
        rooted_only ? rooted[pick(&s->dice, 6)] : (int)pick(&s->dice, 13);
    const int count = (int)pick(&s->dice, i % 3 ? 40 : MOST);
    const int root = (int)pick(&s->dice, (unsigned)size);
    if (left_out()) {
      continue;
    }
    step(s, kind, count, root);
    int *t = s->a;
    s->a = s->b;
    s->b = t;
    s->a[(unsigned)i % n] += i;
  }
  mix(s->a, n * sizeof(int));
  mix(s->b, n * sizeof(int));
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  const size_t n = (size_t)MOST * (size_t)size;
  struct state s = {.dice = 42};
  s.a = malloc(n * sizeof(int));
  s.b = malloc(n * sizeof(int));
  s.counts = calloc((size_t)size, sizeof(int));
  s.displs = calloc((size_t)size, sizeof(int));
  stream(s.a, n * sizeof(int), seed_of(1, rank, 0));
  stream(s.b, n * sizeof(int), seed_of(2, rank, 0));
  walk(&s, false);
  report("all collectives");
  walk(&s, true);
  report("rooted ones");
  free(s.a);
  free(s.b);
  free(s.counts);
  free(s.displs);
  return end();
}
