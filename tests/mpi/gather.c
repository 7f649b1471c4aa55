/* MPI_Gather and MPI_Gatherv: every root, type, place; in place; gaps. */
#include "cases.h"

static uint64_t calls;

/* What is sent, how much per rank, and where it goes at the root. */
struct plan {
  const struct shape *send, *receive;
  int *counts; /* elements of `receive` from each rank */
  int *displs;
  int extent;   /* elements that the root's buffer spans */
  int my_count; /* elements of `send` */
  int root, odd, in_place;
};

static void gather(const struct plan *p, const struct rooms *rooms,
                   int uniform) {
  if (left_out()) {
    return;
  }
  calls++;
  struct arena in = arena_make(p->send, p->my_count, p->odd, 3, rooms->a, ROOM);
  arena_put(&in, 0, p->my_count, seed_of(calls, rank, 0));
  struct arena in_expected = arena_twin(&in);
  arena_put(&in_expected, 0, p->my_count, seed_of(calls, rank, 0));
  struct arena out = arena_make(p->receive, rank == p->root ? p->extent : 0,
                                p->odd, calls, rooms->b, ROOM);
  struct arena expected = arena_twin(&out);
  void *from = in.origin;
  if (rank == p->root) {
    for (int i = 0; i < size; i++) {
      arena_put(&expected, p->displs[i], p->counts[i], seed_of(calls, i, 0));
    }
    if (p->in_place) {
      arena_put(&out, p->displs[rank], p->counts[rank],
                seed_of(calls, rank, 0));
      from = MPI_IN_PLACE;
    }
  }
  if (uniform) {
    MPI_Gather(from, p->my_count, p->send->type, out.origin, p->counts[0],
               p->receive->type, p->root, MPI_COMM_WORLD);
  } else {
    MPI_Gatherv(from, p->my_count, p->send->type, out.origin, p->counts,
                p->displs, p->receive->type, p->root, MPI_COMM_WORLD);
  }
  arena_check(&out, &expected, uniform ? "gather" : "gatherv");
  arena_check(&in, &in_expected, "gather: send buffer");
}

/* `n[i]` times 12 ints (or, with one shape, elements) from rank i. */
static void both(const struct shape *send, const struct shape *receive,
                 const int *n, int uniform, const struct rooms *rooms) {
  struct plan p = {.send = send, .receive = receive};
  p.counts = calloc((size_t)size, sizeof(*p.counts));
  p.displs = calloc((size_t)size, sizeof(*p.displs));
  /* With gathering by MPI_Gatherv, from the last rank to the first. */
  for (int j = 0; j < size; j++) {
    const int i = uniform ? j : size - 1 - j;
    p.counts[i] = send == receive ? n[i] : count_of(receive, n[i]);
    p.displs[i] = p.extent + (uniform ? 0 : j % 2);
    p.extent = p.displs[i] + p.counts[i];
  }
  p.my_count = send == receive ? n[rank] : count_of(send, n[rank]);
  for (p.root = 0; p.root < size; p.root++) {
    for (p.in_place = 0; p.in_place < 2; p.in_place++) {
      p.odd = (p.root + p.in_place) % 3;
      gather(&p, rooms, uniform);
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

static void self(void) {
  int in[2] = {rank, 7}, out[2] = {0, 0}, two = 2, none = 0;
  MPI_Gather(in, 2, MPI_INT, out, 2, MPI_INT, 0, MPI_COMM_SELF);
  if (memcmp(in, out, sizeof(in)) != 0) {
    fail("MPI_COMM_SELF: gather");
  }
  in[0]++;
  MPI_Gatherv(in, 2, MPI_INT, out, &two, &none, MPI_INT, 0, MPI_COMM_SELF);
  if (memcmp(in, out, sizeof(in)) != 0) {
    fail("MPI_COMM_SELF: gatherv");
  }
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  make_shapes(shapes);
  make_predefined(predefined);
  run_everywhere(types);
  run_everywhere(lengths);
  self();
  free_shapes(shapes);
  return end();
}
