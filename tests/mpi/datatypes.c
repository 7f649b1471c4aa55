/* All constructors of datatypes: what the result says of itself, and what a
   message with it moves. */
#include "test.h"

static MPI_Comm team; /* the world in reverse order */
static int me;

/* Bounds and contents: the same as Open MPI's, by the digest. */
static void describe(MPI_Datatype type, const char *name) {
  int n, m, k, combiner;
  struct shape s = shape_of(name, type);
  MPI_Count size_x = -1, lb = -1, extent = -1, true_lb = -1, true_extent = -1;
  MPI_Type_size_x(type, &size_x);
  MPI_Type_get_extent_x(type, &lb, &extent);
  MPI_Type_get_true_extent_x(type, &true_lb, &true_extent);
  if (size_x != s.size || lb != s.lb || extent != s.extent ||
      true_lb != s.true_lb || true_extent != s.true_extent) {
    fail("%s: the functions with _x differ", name);
  }
  mix_number((uint64_t)size_x);
  mix(&lb, sizeof(lb));
  mix(&extent, sizeof(extent));
  mix(&true_lb, sizeof(true_lb));
  mix(&true_extent, sizeof(true_extent));
  MPI_Type_get_envelope(type, &n, &m, &k, &combiner);
  mix_number((uint64_t)combiner);
  if (combiner == MPI_COMBINER_NAMED) {
    return;
  }
  int integers[64];
  MPI_Aint addresses[16];
  MPI_Datatype types[16];
  if (n > 64 || m > 16 || k > 16) {
    fail("%s: %d integers, %d addresses, %d types", name, n, m, k);
    return;
  }
  MPI_Type_get_contents(type, n, m, k, integers, addresses, types);
  mix(integers, (size_t)n * sizeof(*integers));
  mix(addresses, (size_t)m * sizeof(*addresses));
  for (int i = 0; i < k; i++) {
    int inner, a, b, c;
    describe(types[i], name);
    MPI_Type_get_envelope(types[i], &a, &b, &c, &inner);
    if (inner != MPI_COMBINER_NAMED && inner != MPI_COMBINER_F90_REAL &&
        inner != MPI_COMBINER_F90_INTEGER &&
        inner != MPI_COMBINER_F90_COMPLEX) {
      MPI_Type_free(&types[i]);
    }
  }
}

/* Two elements to the next rank, received with the type and as bytes. */
static void travel(MPI_Datatype type, const char *name) {
  const struct shape s = shape_of(name, type);
  const int left = (me + size - 1) % size, right = (me + 1) % size;
  const size_t bytes = 2 * (size_t)s.size;
  MPI_Count elements = -1;
  int n = -1;
  MPI_Status status;
  struct arena out = arena_make(&s, 2, 0, 3, NULL, 0);
  struct arena in = arena_make(&s, 2, 0, 5, NULL, 0), twin = arena_twin(&in);
  arena_put(&out, 0, 2, seed_of(1, me, 0));
  arena_put(&twin, 0, 2, seed_of(1, left, 0));
  MPI_Sendrecv(out.origin, 2, type, right, 1, in.origin, 2, type, left, 1, team,
               &status);
  MPI_Get_count(&status, type, &n);
  MPI_Get_elements_x(&status, type, &elements);
  if (s.size && n != 2) {
    fail("%s: %d came", name, n);
  }
  mix(&elements, sizeof(elements));
  arena_check(&in, &twin, "received");
  char *plain = calloc(bytes + 1, 1), *wanted = malloc(bytes + 1);
  MPI_Sendrecv(out.origin, 2, type, right, 2, plain, (int)bytes, MPI_BYTE, left,
               2, team, MPI_STATUS_IGNORE);
  if (bytes) {
    stream(wanted, bytes, seed_of(1, left, 0));
  }
  if (memcmp(plain, wanted, bytes) != 0) {
    fail("%s: other bytes", name);
  }
  free(plain);
  free(wanted);
  arena_free(&out);
}

static void examine(MPI_Datatype type, const char *name) {
  char text[MPI_MAX_OBJECT_NAME], own[MPI_MAX_OBJECT_NAME];
  int length = -1;
  MPI_Type_commit(&type);
  describe(type, name);
  travel(type, name);
  MPI_Type_get_name(type, text, &length);
  mix(text, (size_t)length);
  snprintf(own, sizeof(own), "%s of %d", name, rank);
  MPI_Type_set_name(type, own);
  MPI_Barrier(team);
  MPI_Type_get_name(type, text, &length);
  if (strcmp(text, own) != 0 || length != (int)strlen(own)) {
    fail("%s: its name is \"%s\"", name, text);
  }
  report(name);
  MPI_Type_free(&type);
  if (type != MPI_DATATYPE_NULL) {
    fail("%s: not freed", name);
  }
}

static void regular(void) {
  MPI_Datatype type, row;
  MPI_Type_contiguous(5, MPI_SHORT, &type);
  examine(type, "contiguous");
  MPI_Type_contiguous(0, MPI_SHORT, &type);
  examine(type, "empty");
  MPI_Type_vector(3, 2, 4, MPI_DOUBLE, &type);
  examine(type, "vector");
  MPI_Type_create_hvector(3, 2, 19, MPI_CHAR, &type);
  examine(type, "hvector");
  MPI_Type_vector(2, 1, 3, MPI_INT, &row);
  MPI_Type_dup(row, &type);
  examine(type, "dup");
  MPI_Type_create_resized(row, -4, 40, &type);
  examine(type, "resized");
  MPI_Type_free(&row);
}

static void irregular(void) {
  const int blocks[4] = {2, 0, 1, 3}, places[4] = {6, 2, 0, 10};
  const MPI_Aint bytes[4] = {24, 1, 4, 50};
  const MPI_Datatype types[4] = {MPI_INT, MPI_DOUBLE, MPI_CHAR, MPI_SHORT};
  MPI_Datatype type;
  MPI_Type_indexed(4, blocks, places, MPI_INT, &type);
  examine(type, "indexed");
  MPI_Type_create_hindexed(4, blocks, bytes, MPI_CHAR, &type);
  examine(type, "hindexed");
  MPI_Type_create_indexed_block(4, 2, places, MPI_FLOAT, &type);
  examine(type, "indexed block");
  const MPI_Aint apart[3] = {40, 0, 20};
  MPI_Type_create_hindexed_block(3, 4, apart, MPI_INT, &type);
  examine(type, "hindexed block");
  const MPI_Aint members[4] = {0, 8, 9, 16};
  MPI_Type_create_struct(4, blocks, members, types, &type);
  examine(type, "struct");
}

static void arrays(void) {
  const int full[3] = {4, 5, 6}, part[3] = {2, 3, 2}, first[3] = {1, 0, 3};
  const int cyclic[3] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK,
                         MPI_DISTRIBUTE_NONE};
  const int block[3] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE,
                        MPI_DISTRIBUTE_CYCLIC};
  const int sizes_of[3] = {1, MPI_DISTRIBUTE_DFLT_DARG,
                           MPI_DISTRIBUTE_DFLT_DARG};
  const int pairs[3] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG, 2};
  const int grid[3] = {2, 2, 1}, other[3] = {2, 1, 2};
  MPI_Datatype type;
  char name[40];
  MPI_Type_create_subarray(3, full, part, first, MPI_ORDER_C, MPI_INT, &type);
  examine(type, "subarray in C's order");
  MPI_Type_create_subarray(3, full, part, first, MPI_ORDER_FORTRAN, MPI_SHORT,
                           &type);
  examine(type, "subarray in Fortran's order");
  for (int i = 0; i < 4; i++) {
    MPI_Type_create_darray(4, i, 3, full, cyclic, sizes_of, grid, MPI_ORDER_C,
                           MPI_INT, &type);
    snprintf(name, sizeof(name), "cyclic darray %d", i);
    examine(type, name);
    MPI_Type_create_darray(4, i, 3, full, block, pairs, other,
                           MPI_ORDER_FORTRAN, MPI_DOUBLE, &type);
    snprintf(name, sizeof(name), "blocked darray %d", i);
    examine(type, name);
  }
}

/* A matrix in blocks on rank 0 is dealt to four ranks and comes back. */
static void dealt(void) {
  const int full[2] = {6, 8}, grid[2] = {2, 2};
  const int how[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
  const int args[2] = {MPI_DISTRIBUTE_DFLT_DARG, 2};
  int matrix[48], mine[12], back[48] = {0};
  MPI_Request requests[5];
  int n = 0;
  if (size < 4) {
    return;
  }
  for (int i = 0; i < 48; i++) {
    matrix[i] = 1000 + i;
  }
  if (me < 4) {
    MPI_Irecv(mine, 12, MPI_INT, 0, 1, team, &requests[n++]);
  }
  for (int pass = 0; pass < 2 && me == 0; pass++) {
    for (int i = 0; i < 4; i++) {
      MPI_Datatype type;
      MPI_Type_create_darray(4, i, 2, full, how, args, grid, MPI_ORDER_C,
                             MPI_INT, &type);
      MPI_Type_commit(&type);
      if (pass == 0) {
        MPI_Isend(matrix, 1, type, i, 1, team, &requests[n++]);
      } else {
        MPI_Irecv(back, 1, type, i, 2, team, &requests[n++]);
      }
      MPI_Type_free(&type); /* while it is in use */
      if (pass == 0 && i == 3) {
        MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
        n = 0;
      }
    }
  }
  if (me != 0) {
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE), n = 0;
  }
  if (me < 4) {
    for (int i = 0; i < 12; i++) {
      const int row = me / 2 * 3 + i / 4;
      const int column = i % 4 / 2 * 4 + me % 2 * 2 + i % 2;
      if (mine[i] != 1000 + 8 * row + column) {
        fail("dealt: %d at %d", mine[i], i);
      }
    }
    MPI_Send(mine, 12, MPI_INT, 0, 2, team);
  }
  MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
  if (me == 0 && memcmp(matrix, back, sizeof(matrix)) != 0) {
    fail("dealt: it came back changed");
  }
}

/* Types by precision, and by size. They are not freed. */
static void fortran(void) {
  MPI_Datatype types[5], again;
  int bytes = 0, n, m, k, combiner, digits[2] = {0, 0};
  MPI_Type_create_f90_real(15, 307, &types[0]);
  MPI_Type_create_f90_real(6, MPI_UNDEFINED, &types[1]);
  MPI_Type_create_f90_complex(15, 307, &types[2]);
  MPI_Type_create_f90_integer(9, &types[3]);
  MPI_Type_create_f90_integer(18, &types[4]);
  const int wanted[5] = {8, 4, 16, 4, 8};
  for (int i = 0; i < 5; i++) {
    MPI_Type_size(types[i], &bytes);
    if (bytes != wanted[i]) {
      fail("type %d by precision: %d bytes", i, bytes);
    }
    describe(types[i], "by precision");
    travel(types[i], "by precision");
  }
  MPI_Type_get_envelope(types[0], &n, &m, &k, &combiner);
  if (combiner != MPI_COMBINER_F90_REAL || n != 2 || m != 0 || k != 0) {
    fail("a real's envelope: %d %d %d %d", combiner, n, m, k);
  } else {
    MPI_Type_get_contents(types[0], 2, 0, 0, digits, NULL, NULL);
  }
  if (digits[0] != 15 || digits[1] != 307) {
    fail("a real's contents: %d, %d", digits[0], digits[1]);
  }
  MPI_Type_create_f90_real(15, 307, &again);
  if (again != types[0]) {
    fail("the same precision is another type");
  }
  double sum = 0, one = me + 1;
  MPI_Allreduce(&one, &sum, 1, types[0], MPI_SUM, team);
  if (sum != size * (size + 1) / 2.0) {
    fail("a sum of reals by precision: %g", sum);
  }
  const int classes[3] = {MPI_TYPECLASS_REAL, MPI_TYPECLASS_INTEGER,
                          MPI_TYPECLASS_COMPLEX};
  for (int i = 0; i < 3; i++) {
    MPI_Type_match_size(classes[i], 8, &again);
    MPI_Type_size(again, &bytes);
    if (bytes != 8) {
      fail("a type of 8 bytes has %d", bytes);
    }
    travel(again, "by size");
  }
  report("by precision");
}

/* A message that ends within an element. */
static void partial(void) {
  MPI_Datatype type;
  MPI_Status status;
  int out[7] = {1, 2, 3, 4, 5, 6, 7}, in[16] = {0}, n = 0;
  MPI_Count elements = -1;
  MPI_Type_vector(2, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Sendrecv(out, 5, MPI_INT, (me + 1) % size, 3, in, 4, type,
               (me + size - 1) % size, 3, team, &status);
  MPI_Get_count(&status, type, &n);
  MPI_Get_elements_x(&status, type, &elements);
  if (n != MPI_UNDEFINED || elements != 5) {
    fail("within an element: %d, %lld", n, (long long)elements);
  }
  MPI_Type_free(&type);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &team);
  MPI_Comm_rank(team, &me);
  regular();
  irregular();
  arrays();
  dealt();
  fortran();
  partial();
  MPI_Comm_free(&team);
  return end();
}
