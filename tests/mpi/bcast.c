/* MPI_Bcast: every root, every type, other types at each rank, sizes. */
#include "test.h"

static struct shape shapes[SHAPES], predefined[PREDEFINED];
static uint64_t calls;

/* Each rank has its own shape of the same signature. */
static void bcast(const struct shape *s, int count, int root, int odd,
                  char *room) {
  if (left_out()) {
    return;
  }
  const uint64_t seed = seed_of(++calls, root, 0);
  struct arena a = arena_make(s, count, odd, calls, room, ROOM);
  struct arena expected = arena_twin(&a);
  arena_put(&expected, 0, count, seed);
  if (rank == root) {
    arena_put(&a, 0, count, seed);
  }
  MPI_Bcast(a.origin, count, s->type, root, MPI_COMM_WORLD);
  arena_check(&a, &expected, "bcast");
}

static void types(const struct rooms *rooms) {
  for (int root = 0; root < size; root++) {
    for (int i = 0; i < SHAPES; i++) {
      for (int n = 0; n < 4; n++) {
        const struct shape *s = &shapes[(rank + i) % SHAPES];
        bcast(s, count_of(s, n), root, i % 3, rooms->a);
      }
    }
    for (int i = 0; i < PREDEFINED; i++) {
      bcast(&predefined[i], i % 7, root, i % 2, rooms->b);
    }
  }
  report("types");
}

static void lengths(const struct rooms *rooms) {
  const struct shape byte = shape_of("byte", MPI_BYTE);
  for (int i = 0; i < SIZES; i++) {
    for (int root = 0; root < size; root += 2) {
      bcast(&byte, sizes[i], root, i % 5, rooms->a);
    }
  }
  report("lengths");
}

static void repeat(const struct rooms *rooms) {
  const struct shape byte = shape_of("byte", MPI_BYTE);
  uint64_t state = 5;
  for (int i = 0; i < 200; i++) {
    const int count = (int)pick(&state, 9000);
    bcast(&byte, count, (int)pick(&state, (unsigned)size), 0, rooms->b);
  }
  report("repeat");
}

static void self(void) {
  double number = rank + 0.5;
  MPI_Bcast(&number, 1, MPI_DOUBLE, 0, MPI_COMM_SELF);
  if (number != rank + 0.5) {
    fail("MPI_COMM_SELF: %g", number);
  }
  MPI_Bcast(NULL, 0, MPI_DOUBLE, 0, MPI_COMM_SELF);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  make_shapes(shapes);
  make_predefined(predefined);
  run_everywhere(types);
  run_everywhere(lengths);
  run_everywhere(repeat);
  self();
  free_shapes(shapes);
  return end();
}
