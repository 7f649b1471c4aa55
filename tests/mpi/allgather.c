/* MPI_Allgather and MPI_Allgatherv: types, sizes, in place, gaps. */
#include "cases.h"

#include <stdbool.h>

static uint64_t calls;

/* `n[i]` times 12 ints (or, with one shape, elements) from rank i. */
static void allgather(const struct shape *send, const struct shape *receive,
                      const int *n, int uniform, bool in_place,
                      const struct rooms *rooms) {
  if (left_out()) {
    return;
  }
  int *counts = calloc((size_t)size, sizeof(*counts));
  int *displs = calloc((size_t)size, sizeof(*displs));
  int extent = 0;
  const int odd = (int)(++calls % 3);
  const int mine = send == receive ? n[rank] : count_of(send, n[rank]);
  const uint64_t my_seed = seed_of(calls, rank, 0);
  for (int j = 0; j < size; j++) {
    const int i = uniform ? j : size - 1 - j;
    counts[i] = send == receive ? n[i] : count_of(receive, n[i]);
    displs[i] = extent + (uniform ? 0 : j % 2);
    extent = displs[i] + counts[i];
  }
  struct arena in = arena_make(send, mine, odd, 3, rooms->a, ROOM);
  struct arena in_expected = arena_twin(&in);
  arena_put(&in, 0, mine, my_seed);
  arena_put(&in_expected, 0, mine, my_seed);
  struct arena out = arena_make(receive, extent, odd, calls, rooms->b, ROOM);
  struct arena expected = arena_twin(&out);
  for (int i = 0; i < size; i++) {
    arena_put(&expected, displs[i], counts[i], seed_of(calls, i, 0));
  }
  if (in_place) {
    arena_put(&out, displs[rank], counts[rank], my_seed);
  }
  const void *from = in_place ? MPI_IN_PLACE : in.origin;
  if (uniform) {
    MPI_Allgather(from, mine, send->type, out.origin, counts[0], receive->type,
                  MPI_COMM_WORLD);
  } else {
    MPI_Allgatherv(from, mine, send->type, out.origin, counts, displs,
                   receive->type, MPI_COMM_WORLD);
  }
  arena_check(&out, &expected, uniform ? "allgather" : "allgatherv");
  arena_check(&in, &in_expected, "allgather: send buffer");
  free(counts);
  free(displs);
}

static void both(const struct shape *send, const struct shape *receive,
                 const int *n, int uniform, const struct rooms *rooms) {
  allgather(send, receive, n, uniform, false, rooms);
  allgather(send, receive, n, uniform, true, rooms);
}

static void types(const struct rooms *rooms) {
  int *same = calloc((size_t)size, sizeof(*same));
  int *other = calloc((size_t)size, sizeof(*other));
  for (int i = 0; i < PREDEFINED; i++) {
    for (int j = 0; j < size; j++) {
      same[j] = i % 5;
      other[j] = (i + j) % 4;
    }
    both(&predefined[i], &predefined[i], same, 1, rooms);
    both(&predefined[i], &predefined[i], other, 0, rooms);
  }
  for (int i = 0; i < SHAPES * SHAPES; i++) {
    for (int j = 0; j < size; j++) {
      same[j] = i % 3;
      other[j] = (i + j) % 3;
    }
    const struct shape *receive = &shapes[(i + rank) % SHAPES];
    const struct shape *send = &shapes[i / SHAPES];
    if (send == receive) {
      send = &shapes[SHAPES - 1 - (receive == &shapes[SHAPES - 1])];
    }
    both(send, receive, same, 1, rooms);
    /* Open MPI 4.1 hangs if the types of MPI_Allgatherv differ by rank. */
    send = &shapes[i / SHAPES];
    receive = &shapes[i % SHAPES];
    if (send != receive) {
      both(send, receive, other, 0, rooms);
    }
  }
  free(same);
  free(other);
  report("types");
}

static void lengths(const struct rooms *rooms) {
  try_lengths(rooms, both, SIZES);
}

static void self(void) {
  int in[2] = {rank, 7}, out[2] = {0, 0}, two = 2, none = 0;
  MPI_Allgather(in, 2, MPI_INT, out, 2, MPI_INT, MPI_COMM_SELF);
  if (memcmp(in, out, sizeof(in)) != 0) {
    fail("MPI_COMM_SELF: allgather");
  }
  in[0]++;
  MPI_Allgatherv(in, 2, MPI_INT, out, &two, &none, MPI_INT, MPI_COMM_SELF);
  if (memcmp(in, out, sizeof(in)) != 0) {
    fail("MPI_COMM_SELF: allgatherv");
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
