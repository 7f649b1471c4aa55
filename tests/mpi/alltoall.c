/* MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw: types, sizes, in place. */
#include "test.h"

#include <stdbool.h>

static struct shape shapes[SHAPES], predefined[PREDEFINED];
static uint64_t calls;

enum which { ALLTOALL, ALLTOALLV, ALLTOALLW };
static const char *const names[] = {"alltoall", "alltoallv", "alltoallw"};

/* One side's buffers: one arena, or for MPI_Alltoallw one type per rank, all
   in one block of memory at byte displacements. */
struct side {
  int *counts, *displs;
  MPI_Datatype *types;
  int extent;
};

static struct side side_make(const struct shape *s, enum which which,
                             const int *n, bool one_shape) {
  struct side t = {.extent = 0};
  t.counts = calloc((size_t)size, sizeof(*t.counts));
  t.displs = calloc((size_t)size, sizeof(*t.displs));
  t.types = calloc((size_t)size, sizeof(*t.types));
  for (int j = 0; j < size; j++) {
    const int i = which == ALLTOALL ? j : (size - 1 - j);
    t.counts[i] = one_shape ? n[i] : count_of(s, n[i]);
    t.displs[i] = t.extent + (which == ALLTOALL ? 0 : j % 2);
    t.extent = t.displs[i] + t.counts[i];
    t.types[i] = s->type;
  }
  return t;
}

static void side_free(struct side *t) {
  free(t->counts);
  free(t->displs);
  free(t->types);
}

/* MPI_Alltoallw counts displacements in bytes. */
static void to_bytes(struct side *t, const struct shape *s) {
  for (int i = 0; i < size; i++) {
    t->displs[i] *= (int)s->extent;
  }
}

static void call(enum which which, const void *from, struct side *out,
                 const struct shape *send, void *to, struct side *in,
                 const struct shape *receive) {
  switch (which) {
  case ALLTOALL:
    MPI_Alltoall(from, out->counts[0], send->type, to, in->counts[0],
                 receive->type, MPI_COMM_WORLD);
    break;
  case ALLTOALLV:
    MPI_Alltoallv(from, out->counts, out->displs, send->type, to, in->counts,
                  in->displs, receive->type, MPI_COMM_WORLD);
    break;
  case ALLTOALLW:
    to_bytes(out, send);
    to_bytes(in, receive);
    MPI_Alltoallw(from, out->counts, out->displs, out->types, to, in->counts,
                  in->displs, in->types, MPI_COMM_WORLD);
  }
}

/* Rank i sends n_out[j] to j and gets n_in[j] from j: elements with one shape,
   else times 12 ints. */
static void exchange(enum which which, const struct shape *send,
                     const struct shape *receive, const int *n_out,
                     const int *n_in, int in_place, const struct rooms *rooms) {
  if (left_out()) {
    return;
  }
  const bool one = send == receive;
  const int odd = (int)(++calls % 3);
  struct side out = side_make(send, which, n_out, one);
  struct side in = side_make(receive, which, n_in, one);
  struct arena a = arena_make(send, out.extent, odd, 3, rooms->a, ROOM);
  struct arena b = arena_make(receive, in.extent, odd, calls, rooms->b, ROOM);
  struct arena a_expected = arena_twin(&a), b_expected = arena_twin(&b);
  for (int i = 0; i < size; i++) {
    const uint64_t sent = seed_of(calls, rank, i);
    arena_put(&a, out.displs[i], out.counts[i], sent);
    arena_put(&a_expected, out.displs[i], out.counts[i], sent);
    arena_put(&b_expected, in.displs[i], in.counts[i], seed_of(calls, i, rank));
    if (in_place) {
      arena_put(&b, in.displs[i], in.counts[i], sent);
    }
  }
  call(which, in_place ? MPI_IN_PLACE : a.origin, &out, send, b.origin, &in,
       receive);
  arena_check(&b, &b_expected, names[which]);
  arena_check(&a, &a_expected, "send buffer");
  side_free(&out);
  side_free(&in);
}

/* How much rank i sends to rank j: symmetric where in place demands it. */
static int amount(int i, int j, int salt, int most, int symmetric) {
  if (symmetric && i > j) {
    return amount(j, i, salt, most, 1);
  }
  return (i * 7 + j * 5 + salt) % (most + 1);
}

static void exchange_all(const struct shape *send, const struct shape *receive,
                         int salt, int most, const struct rooms *rooms) {
  int *out = calloc((size_t)size, sizeof(*out));
  int *in = calloc((size_t)size, sizeof(*in));
  for (int in_place = 0; in_place <= (send == receive); in_place++) {
    for (int i = 0; i < size; i++) {
      out[i] = in[i] = salt % (most + 1);
    }
    exchange(ALLTOALL, send, receive, out, in, in_place, rooms);
    for (int i = 0; i < size; i++) {
      out[i] = amount(rank, i, salt, most, in_place);
      in[i] = amount(i, rank, salt, most, in_place);
    }
    exchange(ALLTOALLV, send, receive, out, in, in_place, rooms);
    exchange(ALLTOALLW, send, receive, out, in, in_place, rooms);
  }
  free(out);
  free(in);
}

static void types(const struct rooms *rooms) {
  for (int i = 0; i < PREDEFINED; i++) {
    exchange_all(&predefined[i], &predefined[i], i, 4, rooms);
  }
  for (int i = 0; i < SHAPES; i++) {
    exchange_all(&shapes[i], &shapes[i], i, 2, rooms);
  }
  report("types");
}

static void mixed_types(const struct rooms *rooms) {
  for (int i = 0; i < SHAPES * SHAPES; i++) {
    const struct shape *send = &shapes[i / SHAPES];
    const struct shape *receive = &shapes[(i + rank) % SHAPES];
    /* Whether it is one shape must be agreed on. */
    if (send == receive) {
      send = &shapes[SHAPES - 1 - (receive == &shapes[SHAPES - 1])];
    }
    exchange_all(send, receive, i, 2, rooms);
  }
  report("mixed types");
}

static void lengths(const struct rooms *rooms) {
  const struct shape byte = shape_of("byte", MPI_BYTE);
  int *out = calloc((size_t)size, sizeof(*out));
  int *in = calloc((size_t)size, sizeof(*in));
  for (int i = 0; i < SIZES - 1; i++) {
    for (int in_place = 0; in_place < 2; in_place++) {
      for (int j = 0; j < size; j++) {
        out[j] = in[j] = sizes[i];
      }
      exchange(ALLTOALL, &byte, &byte, out, in, in_place, rooms);
      for (int j = 0; j < size; j++) {
        out[j] = in[j] = sizes[(i + rank + j) % (SIZES - 1)];
      }
      exchange(ALLTOALLV, &byte, &byte, out, in, in_place, rooms);
      exchange(ALLTOALLW, &byte, &byte, out, in, in_place, rooms);
    }
  }
  /* Not symmetric: one sender only, one receiver only, a ring, 1 MiB. */
  for (int special = 0; special < size; special++) {
    for (int j = 0; j < size; j++) {
      out[j] = rank == special ? 4097 + j : 0;
      in[j] = j == special ? 4097 + rank : 0;
    }
    exchange(ALLTOALLV, &byte, &byte, out, in, 0, rooms);
    exchange(ALLTOALLV, &byte, &byte, in, out, 0, rooms);
  }
  for (int j = 0; j < size; j++) {
    out[j] = j == (rank + 1) % size ? 1 << 20 : 1;
    in[j] = rank == (j + 1) % size ? 1 << 20 : 1;
  }
  exchange(ALLTOALLV, &byte, &byte, out, in, 0, rooms);
  free(out);
  free(in);
  report("lengths");
}

/* Many supersteps whose amounts change, with empty ones between. */
static void repeat(const struct rooms *rooms) {
  const struct shape byte = shape_of("byte", MPI_BYTE);
  int *out = calloc((size_t)size, sizeof(*out));
  int *in = calloc((size_t)size, sizeof(*in));
  for (int i = 0; i < 60; i++) {
    const int most = i % 10 == 0 ? 0 : 50 * i + 1;
    for (int j = 0; j < size; j++) {
      out[j] = amount(rank, j, i * 31, most, 0);
      in[j] = amount(j, rank, i * 31, most, 0);
    }
    exchange(ALLTOALLV, &byte, &byte, out, in, 0, rooms);
  }
  free(out);
  free(in);
  report("repeat");
}

/* Each pair of ranks has another type. */
static void types_per_rank(void) {
  char *out = malloc(16 * (size_t)size), *in = calloc((size_t)size, 16);
  struct side a = side_make(&predefined[0], ALLTOALLW, sizes, true);
  struct side b = side_make(&predefined[0], ALLTOALLW, sizes, true);
  for (int i = 0; i < size; i++) {
    const struct shape *s = &predefined[(rank + i) % PREDEFINED];
    a.types[i] = b.types[i] = s->type;
    a.counts[i] = b.counts[i] = s->extent <= 16;
    a.displs[i] = b.displs[i] = 16 * i;
    put(&(struct arena){.shape = *s}, out + 16 * i, 0, s->extent <= 16,
        seed_of(9, rank, i));
  }
  MPI_Alltoallw(out, a.counts, a.displs, a.types, in, b.counts, b.displs,
                b.types, MPI_COMM_WORLD);
  char *expected = calloc((size_t)size, 16);
  for (int i = 0; i < size; i++) {
    const struct shape *s = &predefined[(rank + i) % PREDEFINED];
    put(&(struct arena){.shape = *s}, expected + 16 * i, 0, s->extent <= 16,
        seed_of(9, i, rank));
  }
  if (memcmp(in, expected, 16 * (size_t)size) != 0) {
    fail("a type per rank");
  }
  side_free(&a);
  side_free(&b);
  free(out);
  free(in);
  free(expected);
}

static void self(void) {
  int in[2] = {rank, 7}, out[2] = {0, 0}, two = 2, none = 0;
  MPI_Datatype type = MPI_INT;
  MPI_Alltoall(in, 2, MPI_INT, out, 2, MPI_INT, MPI_COMM_SELF);
  if (memcmp(in, out, sizeof(in)) != 0) {
    fail("MPI_COMM_SELF: alltoall");
  }
  in[0]++;
  MPI_Alltoallv(in, &two, &none, MPI_INT, out, &two, &none, MPI_INT,
                MPI_COMM_SELF);
  if (memcmp(in, out, sizeof(in)) != 0) {
    fail("MPI_COMM_SELF: alltoallv");
  }
  in[0]++;
  MPI_Alltoallw(in, &two, &none, &type, out, &two, &none, &type, MPI_COMM_SELF);
  if (memcmp(in, out, sizeof(in)) != 0) {
    fail("MPI_COMM_SELF: alltoallw");
  }
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  make_shapes(shapes);
  make_predefined(predefined);
  run_everywhere(types);
  run_everywhere(mixed_types);
  run_everywhere(lengths);
  run_everywhere(repeat);
  types_per_rank();
  self();
  free_shapes(shapes);
  return end();
}
