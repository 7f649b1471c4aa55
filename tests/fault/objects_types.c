/* Datatypes of all constructors, of types that were freed, committed or not,
   with names: see objects.h. */
#include "objects.h"

enum { TYPES = 20, YOUNG = 3, BYTES = 4096 };

static MPI_Datatype types[TYPES];
static MPI_Fint numbers[TYPES];
static MPI_Datatype later; /* committed only in a later step */
static MPI_Datatype young[YOUNG];
static int n_types;

static void keep(MPI_Datatype type) {
  char name[40];
  snprintf(name, sizeof(name), "type %d", n_types);
  MPI_Type_commit(&type);
  if (n_types % 2) {
    MPI_Type_set_name(type, name);
  }
  numbers[n_types] = MPI_Type_c2f(type);
  types[n_types++] = type;
}

static void make_blocks(void) {
  const int lengths[3] = {2, 1, 3}, places[3] = {7, 0, 3};
  const MPI_Aint bytes[3] = {56, 0, 24};
  MPI_Datatype t;
  MPI_Type_contiguous(3, MPI_INT, &t), keep(t);
  MPI_Type_vector(3, 2, 4, MPI_SHORT, &t), keep(t);
  MPI_Type_create_hvector(2, 3, 100, MPI_CHAR, &t), keep(t);
  MPI_Type_indexed(3, lengths, places, MPI_DOUBLE, &t), keep(t);
  MPI_Type_create_hindexed(3, lengths, bytes, MPI_LONG, &t), keep(t);
  MPI_Type_create_indexed_block(3, 2, places, MPI_FLOAT, &t), keep(t);
  MPI_Type_create_hindexed_block(3, 1, bytes, MPI_DOUBLE, &t), keep(t);
}

static void make_arrays(void) {
  const int sizes[2] = {6, 8}, parts[2] = {2, 3}, starts[2] = {1, 4};
  const int how[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
  const int args[2] = {MPI_DISTRIBUTE_DFLT_DARG, 2}, grid[2] = {2, 1};
  MPI_Datatype t;
  MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_INT,
                           &t);
  keep(t);
  MPI_Type_create_darray(2, rank % 2, 2, sizes, how, args, grid, MPI_ORDER_C,
                         MPI_SHORT, &t);
  keep(t);
}

/* Types of types, some of which are gone. */
static void make_nested(void) {
  const int lengths[3] = {1, 2, 1};
  const MPI_Aint bytes[3] = {0, 64, 512};
  MPI_Datatype inner, t, parts[3];
  MPI_Type_vector(2, 1, 2, MPI_INT, &inner);
  MPI_Type_create_resized(inner, -8, 48, &t), keep(t);
  MPI_Type_contiguous(2, inner, &parts[0]);
  MPI_Type_free(&inner);
  parts[1] = types[0];
  parts[2] = MPI_DOUBLE;
  MPI_Type_create_struct(3, lengths, bytes, parts, &t), keep(t);
  MPI_Type_free(&parts[0]);
  MPI_Type_dup(types[2], &t), keep(t);
  MPI_Type_dup(MPI_CHAR, &t), keep(t);
  MPI_Type_create_f90_real(12, 20, &t);
  numbers[n_types] = MPI_Type_c2f(t);
  types[n_types++] = t;
  /* What a type is made of, as MPI tells it: the same type again, or a twin. */
  int ints[8];
  MPI_Aint addresses[8];
  MPI_Type_get_contents(types[n_types - 4], 4, 3, 3, ints, addresses, parts);
  keep(parts[0]);
  keep(parts[1]);
}

static void objects_make(void) {
  make_blocks();
  make_arrays();
  make_nested();
  MPI_Type_contiguous(5, types[1], &later);
  for (int i = 0; i < YOUNG; i++) {
    MPI_Type_contiguous(i + 1, types[i], &young[i]);
    MPI_Type_commit(&young[i]);
  }
}

static void look(MPI_Datatype type) {
  int n, addresses, n_types_in, combiner, size_of, length;
  MPI_Aint low, extent;
  char name[MPI_MAX_OBJECT_NAME] = "";
  MPI_Type_get_envelope(type, &n, &addresses, &n_types_in, &combiner);
  MPI_Type_size(type, &size_of);
  MPI_Type_get_extent(type, &low, &extent);
  MPI_Type_get_name(type, name, &length);
  note(n + 10 * addresses + 100 * n_types_in + 1000 * combiner);
  note(size_of);
  note(low * 1000 + extent);
  note_bytes(name, (size_t)length);
}

/* To the next rank, the bytes where the type has them. */
static void send(MPI_Datatype type, int s) {
  static char from[2 * BYTES], to[2 * BYTES];
  memset(to, 0, sizeof(to));
  for (int i = 0; i < 2 * BYTES; i++) {
    from[i] = (char)(i * 7 + rank + s);
  }
  MPI_Sendrecv(from + BYTES, 2, type, (rank + 1) % size, 1, to + BYTES, 2, type,
               (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  note_bytes(to, sizeof(to));
}

/* As many types at once as there are ranks. */
static void exchange(int s) {
  static long from[600], to[600];
  int counts[64], places[64];
  MPI_Datatype many[64];
  for (int i = 0; i < size; i++) {
    counts[i] = 1;
    places[i] = i * 800;
    many[i] = types[(rank + i) % 2 ? 4 : 0];
  }
  for (int i = 0; i < 600; i++) {
    from[i] = i + rank * 1000 + s;
  }
  MPI_Alltoallw(from, counts, places, many, to, counts, places, many,
                MPI_COMM_WORLD);
  note_bytes(to, sizeof(to));
}

static void objects_use(int s) {
  for (int i = 0; i < n_types; i++) {
    expect(MPI_Type_f2c(numbers[i]) == types[i], "number");
    look(types[i]);
    send(types[i], s);
  }
  exchange(s);
  look(later);
  if (s == 3) {
    MPI_Type_commit(&later);
    send(later, s);
  }
  MPI_Datatype *const y = &young[s % YOUNG];
  send(*y, s);
  MPI_Type_free(y);
  MPI_Type_vector(2, 1, s + 2, types[s % 3], y);
  MPI_Type_commit(y);
  send(*y, s);
}

static void objects_free(void) {
  for (int i = 0; i < n_types; i++) {
    int n, addresses, in, combiner;
    MPI_Type_get_envelope(types[i], &n, &addresses, &in, &combiner);
    if (combiner != MPI_COMBINER_F90_REAL) {
      MPI_Type_free(&types[i]);
    }
  }
  MPI_Type_free(&later);
  for (int i = 0; i < YOUNG; i++) {
    MPI_Type_free(&young[i]);
  }
}
