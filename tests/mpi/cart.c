/* Cartesian topologies: ranks and coordinates, shifts, subgrids. */
#include "test.h"

enum { DIMS = 4 };

static uint64_t state = 5;

static int product(const int *dims, int n) {
  int p = 1;
  for (int i = 0; i < n; i++) {
    p *= dims[i];
  }
  return p;
}

/* Ranks are numbered with the last dimension fastest. */
static void check_ranks(MPI_Comm cart, const int *dims, const int *periods,
                        int n) {
  int here, ranks, wild[DIMS], back;
  MPI_Comm_rank(cart, &here);
  MPI_Comm_size(cart, &ranks);
  for (int r = 0; r < ranks; r++) {
    int coords[DIMS], rest = r;
    MPI_Cart_coords(cart, r, n, coords);
    for (int i = n - 1; i >= 0; i--) {
      if (coords[i] != rest % dims[i]) {
        fail("coords of %d: dimension %d: %d", r, i, coords[i]);
      }
      rest /= dims[i];
      wild[i] =
          coords[i] + (periods[i] ? ((int)pick(&state, 5) - 2) * dims[i] : 0);
    }
    MPI_Cart_rank(cart, wild, &back);
    if (back != r) {
      fail("rank of the coordinates of %d: %d", r, back);
    }
    mix(coords, (size_t)n * sizeof(*coords));
  }
  int got[DIMS], got_periods[DIMS], mine[DIMS], coords[DIMS], ndims;
  MPI_Cartdim_get(cart, &ndims);
  MPI_Cart_get(cart, n, got, got_periods, mine);
  MPI_Cart_coords(cart, here, n, coords);
  if (ndims != n || memcmp(got, dims, (size_t)n * sizeof(*got)) != 0 ||
      memcmp(mine, coords, (size_t)n * sizeof(*mine)) != 0) {
    fail("MPI_Cart_get");
  }
  mix(got_periods, (size_t)n * sizeof(*got_periods));
}

static void check_shifts(MPI_Comm cart, int n) {
  for (int i = 0; i < n; i++) {
    for (int steps = -5; steps <= 5; steps++) {
      int from, to, back, unused;
      MPI_Cart_shift(cart, i, steps, &from, &to);
      mix_number((uint64_t)from);
      mix_number((uint64_t)to);
      MPI_Cart_shift(cart, i, -steps, &back, &unused);
      if (back != to) {
        fail("shift by %d and by %d", steps, -steps);
      }
    }
  }
}

static int sum_of_ranks(MPI_Comm comm) {
  int mine = rank, sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
  return sum;
}

/* MPICH 4.0 makes one grid without dimensions, of rank 0, not one of each. */
enum { FIRST_SUBGRID = MPICH_4 };

static void check_subgrids(MPI_Comm cart, const int *dims, int n) {
  for (int which = FIRST_SUBGRID; which < 1 << n; which++) {
    int remain[DIMS], wanted = 1, ranks, kind, ndims;
    MPI_Comm sub;
    for (int i = 0; i < n; i++) {
      remain[i] = which >> i & 1;
      wanted *= remain[i] ? dims[i] : 1;
    }
    MPI_Cart_sub(cart, remain, &sub);
    MPI_Comm_size(sub, &ranks);
    MPI_Topo_test(sub, &kind);
    MPI_Cartdim_get(sub, &ndims);
    if (ranks != wanted || kind != MPI_CART) {
      fail("subgrid %d of %d ranks, not %d", which, ranks, wanted);
    }
    int got[DIMS] = {0}, periods[DIMS] = {0}, coords[DIMS] = {0};
    MPI_Cart_get(sub, ndims, got, periods, coords);
    if (product(got, ndims) != ranks) {
      fail("subgrid %d: dimensions", which);
    }
    mix(got, sizeof(got));
    mix(periods, sizeof(periods));
    mix(coords, sizeof(coords));
    mix_number((uint64_t)sum_of_ranks(sub));
    MPI_Comm_free(&sub);
  }
}

static void grid(const int *dims, const int *periods, int n) {
  MPI_Comm cart, dup;
  int kind;
  MPI_Cart_create(MPI_COMM_WORLD, n, dims, periods, (int)pick(&state, 2),
                  &cart);
  if ((cart == MPI_COMM_NULL) != (rank >= product(dims, n))) {
    fail("who is in the grid");
  }
  if (cart == MPI_COMM_NULL) {
    return;
  }
  MPI_Topo_test(cart, &kind);
  if (kind != MPI_CART) {
    fail("MPI_Topo_test: %d", kind);
  }
  check_ranks(cart, dims, periods, n);
  check_shifts(cart, n);
  check_subgrids(cart, dims, n);
  MPI_Comm_dup(cart, &dup);
  MPI_Comm_free(&cart);
  check_shifts(dup, n);
  mix_number((uint64_t)sum_of_ranks(dup));
  MPI_Comm_free(&dup);
}

static void grids(void) {
  for (int n = 1; n <= DIMS; n++) {
    for (int which = 0; which < 4; which++) {
      int dims[DIMS] = {0}, periods[DIMS];
      MPI_Dims_create(which == 3 ? (size + 1) / 2 : size, n, dims);
      for (int i = 0; i < n; i++) {
        periods[i] = which == 0 ? 0 : which == 1 ? 1 : (int)pick(&state, 2);
      }
      /* All ranks draw the same numbers: */
      uint64_t common = state;
      grid(dims, periods, n);
      state = common + 1;
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
  report("grids");
}

/* The heat flows round: messages along a ring. */
static void ring(void) {
  int periodic = 1, from, to;
  double heat = rank, sum = 0, expected = size * (size - 1) / 2.0;
  MPI_Comm cart;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 1, &cart);
  MPI_Cart_shift(cart, 0, 1, &from, &to);
  for (int i = 0; i < size; i++) {
    sum += heat;
    MPI_Sendrecv_replace(&heat, 1, MPI_DOUBLE, to, 1, from, 1, cart,
                         MPI_STATUS_IGNORE);
  }
  if (sum != expected) {
    fail("ring: %g, not %g", sum, expected);
  }
  MPI_Comm_free(&cart);
}

static void map(void) {
  int dims[1] = {(size + 1) / 2}, periods[1] = {0}, mapped, all[1] = {size};
  MPI_Comm cart;
  MPI_Cart_create(MPI_COMM_WORLD, 1, all, periods, 0, &cart);
  MPI_Cart_map(cart, 1, dims, periods, &mapped);
  printf("rank %d: mapped to %d\n", rank,
         mapped == MPI_UNDEFINED ? -1 : mapped);
  MPI_Comm_free(&cart);
}

static void no_dimensions(void) {
  MPI_Comm cart;
  int n = -1, ranks, r;
  MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &cart);
  if ((cart == MPI_COMM_NULL) != (rank > 0)) {
    fail("a grid without dimensions");
  }
  if (cart == MPI_COMM_NULL) {
    return;
  }
  MPI_Cartdim_get(cart, &n);
  MPI_Comm_size(cart, &ranks);
  MPI_Cart_rank(cart, NULL, &r);
  printf("rank %d: %d dimensions, %d ranks, rank %d\n", rank, n, ranks, r);
  MPI_Comm_free(&cart);
}

static void class_of(int code, const char *what) {
  int class;
  MPI_Error_class(code, &class);
  printf("rank %d: %s: class %d\n", rank, what, class);
}

static void errors(void) {
  int dims[2] = {1, 1}, none[2] = {1, 0}, below[2] = {-1, -1}, n, beyond = 5;
  int many[2] = {size, 2}, periods[2] = {0, 0}, from, to;
  MPI_Comm cart, other;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  class_of(MPI_Cart_create(MPI_COMM_NULL, 1, dims, periods, 0, &other), "null");
  class_of(MPI_Cart_create(MPI_COMM_SELF, -1, dims, periods, 0, &other),
           "-1 dimensions");
  class_of(MPI_Cart_create(MPI_COMM_SELF, 1, NULL, periods, 0, &other),
           "no dimensions");
  class_of(MPI_Cart_create(MPI_COMM_WORLD, 2, many, periods, 0, &other),
           "too many");
  class_of(MPI_Cart_create(MPI_COMM_SELF, 2, none, periods, 0, &other),
           "dimension 0");
  class_of(MPI_Cart_create(MPI_COMM_SELF, 2, below, periods, 0, &other),
           "dimension -1");
  class_of(MPI_Cart_shift(MPI_COMM_WORLD, 0, 1, &from, &to), "shift, no grid");
  class_of(MPI_Cartdim_get(MPI_COMM_WORLD, &n), "cartdim, no grid");
  class_of(MPI_Cart_rank(MPI_COMM_WORLD, dims, &n), "rank, no grid");
  class_of(MPI_Cart_coords(MPI_COMM_WORLD, 0, 1, &n), "coords, no grid");
  class_of(MPI_Cart_sub(MPI_COMM_WORLD, dims, &other), "sub, no grid");
  class_of(MPI_Cart_map(MPI_COMM_SELF, 1, NULL, periods, &n), "map, nothing");
  MPI_Cart_create(MPI_COMM_SELF, 2, dims, periods, 0, &cart);
  class_of(MPI_Cart_shift(cart, -1, 1, &from, &to), "shift -1");
  class_of(MPI_Cart_shift(cart, 0, 1, NULL, &to), "shift to nowhere");
  class_of(MPI_Cart_rank(cart, many + 1, &n), "rank outside");
  class_of(MPI_Cart_coords(cart, beyond, 2, dims), "coords of no rank");
  class_of(MPI_Cart_coords(cart, 0, -1, dims), "coords, -1");
  class_of(MPI_Cart_get(cart, 2, NULL, NULL, NULL), "get to nowhere");
  class_of(MPI_Graphdims_get(cart, &n, &n), "no graph");
  MPI_Comm_free(&cart);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  grids();
  ring();
  map();
  no_dimensions();
  if (ERRORS_COMPARE) {
    errors();
  }
  return end();
}
