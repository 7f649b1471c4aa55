/* MPI_Scatter and MPI_Scatterv: every root, type, place; in place; gaps. */
#include "cases.h"

#include <stdbool.h>

static uint64_t calls;

/* What each rank gets, and where it lies at the root. */
struct plan {
  const struct shape *send, *receive;
  int *counts; /* elements of `send` for each rank */
  int *displs;
  int extent;   /* elements that the root's buffer spans */
  int my_count; /* elements of `receive` */
  int root, odd, in_place;
};

static void scatter(const struct plan *p, const struct rooms *rooms,
                    int uniform) {
  if (left_out()) {
    return;
  }
  calls++;
  const bool is_root = rank == p->root;
  struct arena in =
      arena_make(p->send, is_root ? p->extent : 0, p->odd, 3, rooms->a, ROOM);
  for (int i = 0; i < size && is_root; i++) {
    arena_put(&in, p->displs[i], p->counts[i], seed_of(calls, 0, i));
  }
  struct arena in_expected = arena_twin(&in);
  for (int i = 0; i < size && is_root; i++) {
    arena_put(&in_expected, p->displs[i], p->counts[i], seed_of(calls, 0, i));
  }
  struct arena out =
      arena_make(p->receive, p->my_count, p->odd, calls, rooms->b, ROOM);
  struct arena expected = arena_twin(&out);
  void *to = out.origin;
  if (is_root && p->in_place) {
    to = MPI_IN_PLACE;
  } else {
    arena_put(&expected, 0, p->my_count, seed_of(calls, 0, rank));
  }
  if (uniform) {
    MPI_Scatter(in.origin, p->counts[0], p->send->type, to, p->my_count,
                p->receive->type, p->root, MPI_COMM_WORLD);
  } else {
    MPI_Scatterv(in.origin, p->counts, p->displs, p->send->type, to,
                 p->my_count, p->receive->type, p->root, MPI_COMM_WORLD);
  }
  arena_check(&out, &expected, uniform ? "scatter" : "scatterv");
  arena_check(&in, &in_expected, "scatter: send buffer");
}

/* `n[i]` times 12 ints (or, with one shape, elements) to rank i. */
static void both(const struct shape *receive, const struct shape *send,
                 const int *n, int uniform, const struct rooms *rooms) {
  struct plan p = {.send = send, .receive = receive};
  p.counts = calloc((size_t)size, sizeof(*p.counts));
  p.displs = calloc((size_t)size, sizeof(*p.displs));
  for (int j = 0; j < size; j++) {
    const int i = uniform ? j : size - 1 - j;
    p.counts[i] = send == receive ? n[i] : count_of(send, n[i]);
    p.displs[i] = p.extent + (uniform ? 0 : j % 2);
    p.extent = p.displs[i] + p.counts[i];
  }
  p.my_count = send == receive ? n[rank] : count_of(receive, n[rank]);
  for (p.root = 0; p.root < size; p.root++) {
    for (p.in_place = 0; p.in_place < 2; p.in_place++) {
      p.odd = (p.root + p.in_place) % 3;
      scatter(&p, rooms, uniform);
    }
  }
  free(p.counts);
  free(p.displs);
}

static void types(const struct rooms *rooms) {
  rooted_types(rooms, both);
}

static void lengths(const struct rooms *rooms) {
  try_lengths(rooms, both, SIZES - 1);
}

/* Unlike a receive buffer, a send buffer may be read twice. */
static void overlapping(void) {
  int *counts = calloc((size_t)size, sizeof(*counts));
  int *displs = calloc((size_t)size, sizeof(*displs));
  int numbers[8] = {0}, got[8] = {0};
  for (int i = 0; i < 8 && rank == size - 1; i++) {
    numbers[i] = 100 + i;
  }
  for (int i = 0; i < size; i++) {
    counts[i] = 4;
    displs[i] = i % 5;
  }
  MPI_Scatterv(numbers, counts, displs, MPI_INT, got, 4, MPI_INT, size - 1,
               MPI_COMM_WORLD);
  for (int i = 0; i < 4; i++) {
    if (got[i] != 100 + rank % 5 + i) {
      fail("overlapping: %d", got[i]);
    }
  }
  free(counts);
  free(displs);
}

static void self(void) {
  int in[2] = {rank, 7}, out[2] = {0, 0}, two = 2, none = 0;
  MPI_Scatter(in, 2, MPI_INT, out, 2, MPI_INT, 0, MPI_COMM_SELF);
  if (memcmp(in, out, sizeof(in)) != 0) {
    fail("MPI_COMM_SELF: scatter");
  }
  in[0]++;
  MPI_Scatterv(in, &two, &none, MPI_INT, out, 2, MPI_INT, 0, MPI_COMM_SELF);
  if (memcmp(in, out, sizeof(in)) != 0) {
    fail("MPI_COMM_SELF: scatterv");
  }
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  make_shapes(shapes);
  make_predefined(predefined);
  run_everywhere(types);
  run_everywhere(lengths);
  overlapping();
  self();
  free_shapes(shapes);
  return end();
}
