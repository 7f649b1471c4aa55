/* Derived datatypes at origin and target, in every flavour of access; lengths
   around blocks and messages; types that are freed before the epoch ends. */
#include "test.h"

static struct shape shapes[SHAPES];
static uint64_t calls;
enum { BEFORE = 4096 };

/* Rank r's memory: `count` elements of the target's shape, and a margin. */
static void access_one(const struct shape *origin, const struct shape *target,
                       int n, int way) {
  if (left_out()) {
    return;
  }
  calls++;
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  const int n_origin = count_of(origin, n), n_target = count_of(target, n);
  /* Room before, so that displacements are not negative. */
  const size_t room = arena_bytes(target, n_target) + 16;
  char *whole = malloc(room + BEFORE);
  struct arena there =
      arena_make(target, n_target, 0, calls, whole + BEFORE, room);
  struct arena there_after = arena_twin(&there);
  struct arena here = arena_make(origin, n_origin, 0, calls + 7, NULL, 0);
  struct arena here_after = arena_twin(&here);
  MPI_Win win;
  MPI_Win_create(whole, (MPI_Aint)(room + BEFORE), 1, MPI_INFO_NULL,
                 MPI_COMM_WORLD, &win);
  /* The memory has the same layout everywhere. */
  const MPI_Aint at = there.origin - whole;
  MPI_Datatype type = target->type;
  if (target->type != MPI_INT) {
    MPI_Type_dup(target->type, &type);
  }
  if (way == 0) {
    arena_put(&here, 0, n_origin, seed_of(calls, rank, to));
    arena_put(&here_after, 0, n_origin, seed_of(calls, rank, to));
    arena_put(&there_after, 0, n_target, seed_of(calls, from, rank));
  } else {
    arena_put(&there, 0, n_target, seed_of(calls, rank, from));
    arena_put(&there_after, 0, n_target, seed_of(calls, rank, from));
    arena_put(&here_after, 0, n_origin, seed_of(calls, to, rank));
  }
  MPI_Win_fence(0, win);
  if (way == 0) {
    MPI_Put(here.origin, n_origin, origin->type, to, at, n_target, type, win);
  } else if (way == 1) {
    MPI_Get(here.origin, n_origin, origin->type, to, at, n_target, type, win);
  } else {
    MPI_Get_accumulate(NULL, 0, MPI_INT, here.origin, n_origin, origin->type,
                       to, at, n_target, type, MPI_NO_OP, win);
  }
  if (target->type != MPI_INT) {
    MPI_Type_free(&type);
  }
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
  arena_check(&there, &there_after, way ? "get: target" : "put: target");
  arena_check(&here, &here_after, way ? "get: origin" : "put: origin");
  free(whole);
}

static void pairs(void) {
  for (int i = 0; i < SHAPES; i++) {
    for (int j = 0; j < SHAPES; j++) {
      for (int way = 0; way < 2; way++) {
        access_one(&shapes[i], &shapes[j], 1 + (i + j) % 3, way);
      }
    }
  }
  report("pairs");
}

static void lengths(void) {
  const int n[] = {0, 85, 86, 1400, 6000};
  for (int i = 0; i < 5; i++) {
    for (int way = 0; way < 2; way++) {
      access_one(&shapes[1], &shapes[4], n[i], way);
      access_one(&shapes[8], &shapes[3], n[i], way);
      access_one(&shapes[5], &shapes[8], n[i], way);
    }
  }
  report("lengths");
}

/* Sums into a matrix's column, and pieces that make no whole. */
static void sums(void) {
  enum { ROWS = 300, COLUMNS = 7 };
  double *memory = calloc(ROWS * COLUMNS, sizeof(double));
  double *column = malloc(sizeof(double) * ROWS);
  double *old = calloc(ROWS, sizeof(double));
  MPI_Datatype strided, block;
  MPI_Win win;
  MPI_Type_vector(ROWS, 1, COLUMNS, MPI_DOUBLE, &strided);
  MPI_Type_commit(&strided);
  MPI_Type_contiguous(ROWS, MPI_DOUBLE, &block);
  MPI_Type_commit(&block);
  MPI_Win_create(memory, sizeof(double) * ROWS * COLUMNS, sizeof(double),
                 MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  for (int i = 0; i < ROWS; i++) {
    column[i] = i + rank;
  }
  MPI_Win_fence(0, win);
  for (int to = 0; to < size; to++) {
    for (int c = 0; c < COLUMNS; c++) {
      MPI_Accumulate(column, 1, block, to, c, 1, strided, MPI_SUM, win);
    }
  }
  MPI_Win_fence(0, win);
  for (int i = 0; i < ROWS * COLUMNS; i++) {
    if (memory[i] != size * (i / COLUMNS) + size * (size - 1) / 2) {
      fail("sums: element %d: %g", i, memory[i]);
      break;
    }
  }
  MPI_Win_fence(0, win);
  MPI_Get_accumulate(column, 1, block, old, ROWS, MPI_DOUBLE, (rank + 1) % size,
                     rank % COLUMNS, 1, strided, MPI_REPLACE, win);
  MPI_Win_fence(0, win);
  mix(memory, sizeof(double) * ROWS * COLUMNS);
  mix(old, sizeof(double) * ROWS);
  MPI_Win_free(&win);
  MPI_Type_free(&strided);
  MPI_Type_free(&block);
  free(memory);
  free(column);
  free(old);
  report("sums");
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  make_shapes(shapes);
  pairs();
  lengths();
  sums();
  free_shapes(shapes);
  return end();
}
