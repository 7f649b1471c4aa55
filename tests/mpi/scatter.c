/* MPI_Scatter and MPI_Scatterv: every root, type, place; in place; gaps. */
#include "test.h"

static struct shape shapes[SHAPES], predefined[PREDEFINED];
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
  if (left_out())
    return;
  calls++;
  const int is_root = rank == p->root;
  struct arena in =
      arena_make(p->send, is_root ? p->extent : 0, p->odd, 3, rooms->a, ROOM);
  for (int i = 0; i < size && is_root; i++)
    arena_put(&in, p->displs[i], p->counts[i], seed_of(calls, 0, i));
  struct arena in_expected = arena_twin(&in);
  for (int i = 0; i < size && is_root; i++)
    arena_put(&in_expected, p->displs[i], p->counts[i], seed_of(calls, 0, i));
  struct arena out =
      arena_make(p->receive, p->my_count, p->odd, calls, rooms->b, ROOM);
  struct arena expected = arena_twin(&out);
  void *to = out.origin;
  if (is_root && p->in_place)
    to = MPI_IN_PLACE;
  else
    arena_put(&expected, 0, p->my_count, seed_of(calls, 0, rank));
  if (uniform)
    MPI_Scatter(in.origin, p->counts[0], p->send->type, to, p->my_count,
                p->receive->type, p->root, MPI_COMM_WORLD);
  else
    MPI_Scatterv(in.origin, p->counts, p->displs, p->send->type, to,
                 p->my_count, p->receive->type, p->root, MPI_COMM_WORLD);
  arena_check(&out, &expected, uniform ? "scatter" : "scatterv");
  arena_check(&in, &in_expected, "scatter: send buffer");
}

/* `n[i]` times 12 ints (or, with one shape, elements) to rank i. */
static void both(const struct shape *send, const struct shape *receive,
                 const int *n, int uniform, const struct rooms *rooms) {
  struct plan p = {.send = send, .receive = receive};
  p.counts = calloc((size_t)size, sizeof *p.counts);
  p.displs = calloc((size_t)size, sizeof *p.displs);
  for (int j = 0; j < size; j++) {
    const int i = uniform ? j : size - 1 - j;
    p.counts[i] = send == receive ? n[i] : count_of(send, n[i]);
    p.displs[i] = p.extent + (uniform ? 0 : j % 2);
    p.extent = p.displs[i] + p.counts[i];
  }
  p.my_count = send == receive ? n[rank] : count_of(receive, n[rank]);
  for (p.root = 0; p.root < size; p.root++)
    for (p.in_place = 0; p.in_place < 2; p.in_place++) {
      p.odd = (p.root + p.in_place) % 3;
      scatter(&p, rooms, uniform);
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
    const struct shape *receive = &shapes[(i + rank) % SHAPES];
    const struct shape *send = &shapes[(i + 3) % SHAPES];
    if (send == receive)
      receive = &shapes[SHAPES - 1 - (send == &shapes[SHAPES - 1])];
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

/* Unlike a receive buffer, a send buffer may be read twice. */
static void overlapping(void) {
  int *counts = calloc((size_t)size, sizeof *counts);
  int *displs = calloc((size_t)size, sizeof *displs);
  int numbers[8] = {0}, got[8] = {0};
  for (int i = 0; i < 8 && rank == size - 1; i++)
    numbers[i] = 100 + i;
  for (int i = 0; i < size; i++) {
    counts[i] = 4;
    displs[i] = i % 5;
  }
  MPI_Scatterv(numbers, counts, displs, MPI_INT, got, 4, MPI_INT, size - 1,
               MPI_COMM_WORLD);
  for (int i = 0; i < 4; i++)
    if (got[i] != 100 + rank % 5 + i)
      fail("overlapping: %d", got[i]);
  free(counts);
  free(displs);
}

static void self(void) {
  int in[2] = {rank, 7}, out[2] = {0, 0}, two = 2, none = 0;
  MPI_Scatter(in, 2, MPI_INT, out, 2, MPI_INT, 0, MPI_COMM_SELF);
  if (memcmp(in, out, sizeof in) != 0)
    fail("MPI_COMM_SELF: scatter");
  in[0]++;
  MPI_Scatterv(in, &two, &none, MPI_INT, out, 2, MPI_INT, 0, MPI_COMM_SELF);
  if (memcmp(in, out, sizeof in) != 0)
    fail("MPI_COMM_SELF: scatterv");
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
