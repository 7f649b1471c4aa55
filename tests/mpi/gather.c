/* MPI_Gather and MPI_Gatherv: every root, type, place; in place; gaps. */
#include "test.h"

static struct shape shapes[SHAPES], predefined[PREDEFINED];
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
  if (left_out())
    return;
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
    for (int i = 0; i < size; i++)
      arena_put(&expected, p->displs[i], p->counts[i], seed_of(calls, i, 0));
    if (p->in_place) {
      arena_put(&out, p->displs[rank], p->counts[rank],
                seed_of(calls, rank, 0));
      from = MPI_IN_PLACE;
    }
  }
  if (uniform)
    MPI_Gather(from, p->my_count, p->send->type, out.origin, p->counts[0],
               p->receive->type, p->root, MPI_COMM_WORLD);
  else
    MPI_Gatherv(from, p->my_count, p->send->type, out.origin, p->counts,
                p->displs, p->receive->type, p->root, MPI_COMM_WORLD);
  arena_check(&out, &expected, uniform ? "gather" : "gatherv");
  arena_check(&in, &in_expected, "gather: send buffer");
}

/* `n[i]` times 12 ints (or, with one shape, elements) from rank i. */
static void both(const struct shape *send, const struct shape *receive,
                 const int *n, int uniform, const struct rooms *rooms) {
  struct plan p = {.send = send, .receive = receive};
  p.counts = calloc((size_t)size, sizeof *p.counts);
  p.displs = calloc((size_t)size, sizeof *p.displs);
  /* With gathering by MPI_Gatherv, from the last rank to the first. */
  for (int j = 0; j < size; j++) {
    const int i = uniform ? j : size - 1 - j;
    p.counts[i] = send == receive ? n[i] : count_of(receive, n[i]);
    p.displs[i] = p.extent + (uniform ? 0 : j % 2);
    p.extent = p.displs[i] + p.counts[i];
  }
  p.my_count = send == receive ? n[rank] : count_of(send, n[rank]);
  for (p.root = 0; p.root < size; p.root++)
    for (p.in_place = 0; p.in_place < 2; p.in_place++) {
      p.odd = (p.root + p.in_place) % 3;
      gather(&p, rooms, uniform);
    }
  free(p.counts);
  free(p.displs);
}

static void types(const struct rooms *rooms) {
  int *same = calloc((size_t)size, sizeof *same);
  int *other = calloc((size_t)size, sizeof *other);
  for (int i = 0; i < PREDEFINED; i++) {
    for (int j = 0; j < size; j++) {
      same[j] = i % 5;
      other[j] = (i + j) % 4;
    }
    both(&predefined[i], &predefined[i], same, 1, rooms);
    both(&predefined[i], &predefined[i], other, 0, rooms);
  }
  for (int i = 0; i < SHAPES; i++) {
    for (int j = 0; j < size; j++) {
      same[j] = i % 3;
      other[j] = (i + j) % 3;
    }
    const struct shape *send = &shapes[(i + rank) % SHAPES];
    const struct shape *receive = &shapes[(i + 3) % SHAPES];
    if (send == receive)
      send = &shapes[SHAPES - 1 - (receive == &shapes[SHAPES - 1])];
    both(send, receive, same, 1, rooms);
    both(send, receive, other, 0, rooms);
  }
  free(same);
  free(other);
  report("types");
}

static void lengths(const struct rooms *rooms) {
  const struct shape byte = shape_of("byte", MPI_BYTE);
  int *n = calloc((size_t)size, sizeof *n);
  for (int i = 0; i < SIZES - 1; i++) {
    for (int j = 0; j < size; j++)
      n[j] = sizes[i];
    both(&byte, &byte, n, 1, rooms);
    for (int j = 0; j < size; j++)
      n[j] = j == i % size ? sizes[i] : sizes[(i + j) % 6];
    both(&byte, &byte, n, 0, rooms);
  }
  free(n);
  report("lengths");
}

static void self(void) {
  int in[2] = {rank, 7}, out[2] = {0, 0}, two = 2, none = 0;
  MPI_Gather(in, 2, MPI_INT, out, 2, MPI_INT, 0, MPI_COMM_SELF);
  if (memcmp(in, out, sizeof in) != 0)
    fail("MPI_COMM_SELF: gather");
  in[0]++;
  MPI_Gatherv(in, 2, MPI_INT, out, &two, &none, MPI_INT, 0, MPI_COMM_SELF);
  if (memcmp(in, out, sizeof in) != 0)
    fail("MPI_COMM_SELF: gatherv");
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
