/* MPI_Reduce and MPI_Allreduce: all operations and types, users' operations in
   rank order, in place, every root. */
#include "values.h"

#include <stdbool.h>

enum { ALL = -1 }; /* instead of a root: MPI_Allreduce */

static void call(const void *from, void *to, int count, MPI_Datatype type,
                 MPI_Op op, int root) {
  if (root == ALL) {
    MPI_Allreduce(from, to, count, type, op, MPI_COMM_WORLD);
  } else {
    MPI_Reduce(from, to, count, type, op, root, MPI_COMM_WORLD);
  }
}

static void reduce(const struct number *n, const struct operation *o, int count,
                   int root, int in_place) {
  if (left_out()) {
    return;
  }
  const size_t bytes = (size_t)count * n->bytes;
  const bool gets = root == ALL || root == rank;
  char *in = contribution(n, o, rank, 0, count);
  char *out =
      in_place && gets ? contribution(n, o, rank, 0, count) : blank(bytes);
  call(in_place && gets ? MPI_IN_PLACE : in, out, count, n->type, o->op, root);
  if (gets) {
    check_folded(out, n, o, 0, size - 1, 0, count, "reduce");
  } else {
    check_blank(out, 0, bytes, "reduce: not the root");
  }
  check_folded(in, n, o, rank, rank, 0, count, "reduce: send buffer");
  free(in);
  free(out);
}

static void reduce_user(const struct user *u, int count, int root,
                        int in_place) {
  if (left_out()) {
    return;
  }
  const size_t bytes = (size_t)count * u->extent;
  const bool gets = root == ALL || root == rank;
  char *in = user_contribution(u, rank, 0, count);
  char *out =
      in_place && gets ? user_contribution(u, rank, 0, count) : blank(bytes);
  call(in_place && gets ? MPI_IN_PLACE : in, out, count, u->type, u->op, root);
  if (gets) {
    check_user(out, u, 0, size - 1, 0, count, "reduce");
  } else {
    check_blank(out, 0, bytes, "reduce: not the root");
  }
  check_user(in, u, rank, rank, 0, count, "reduce: send buffer");
  free(in);
  free(out);
}

static void all_numbers(void) {
  for (int i = 0; i < nnumbers; i++) {
    for (int j = 0; j < NOPERATIONS; j++) {
      if (!(operations[j].classes & numbers[i].class)) {
        continue;
      }
      reduce(&numbers[i], &operations[j], 0, ALL, 0);
      reduce(&numbers[i], &operations[j], 5 + i, ALL, (i + j) % 2);
      reduce(&numbers[i], &operations[j], 1 + j, (i + j) % size, j % 2);
    }
  }
  report("numbers");
}

static void all_roots(void) {
  for (int root = ALL; root < size; root++) {
    for (int in_place = 0; in_place < 2; in_place++) {
      reduce(&numbers[4], &operations[0], 9, root, in_place);
      for (int i = 0; i < USERS; i++) {
        for (int count = 0; count < 4; count++) {
          reduce_user(&users[i], count, root, in_place);
        }
      }
    }
  }
  report("roots");
}

/* With five ranks MPICH 4.0 reads at MPI_IN_PLACE. */
enum { LONG_IN_PLACE = !MPICH_4 };

static void lengths(void) {
  for (int i = 0; i < SIZES; i++) {
    reduce(&numbers[0], &operations[0], sizes[i], ALL, i % 2);
    reduce(&numbers[0], &operations[0], sizes[i], i % size,
           i % 2 && LONG_IN_PLACE);
    reduce(&numbers[22], &operations[2], sizes[i] / 8, i % size, 0);
    for (int j = 0; j < USERS; j++) {
      reduce_user(&users[j], sizes[i] / 16, ALL, i % 2);
      reduce_user(&users[j], sizes[i] / 64, i % size, 1 - i % 2);
    }
  }
  report("lengths");
}

/* A value and its place: equal values give the lowest place. */
#define PAIRS(name, c_type, mpi_type)                                          \
  static void pairs_##name(MPI_Op op, int root) {                              \
    struct {                                                                   \
      c_type value;                                                            \
      int place;                                                               \
    } in[5], out[5];                                                           \
    memset(in, 0, sizeof(in));                                                 \
    memset(out, 0, sizeof(out));                                               \
    for (int i = 0; i < 5; i++) {                                              \
      in[i].value = (c_type)((rank * 3 + i) % 4);                              \
      in[i].place = rank * 10 + i;                                             \
    }                                                                          \
    call(in, out, 5, mpi_type, op, root);                                      \
    for (int i = 0; i < 5 && (root == ALL || root == rank); i++) {             \
      int best = 0;                                                            \
      for (int r = 1; r < size; r++) {                                         \
        const int a = (r * 3 + i) % 4, b = (best * 3 + i) % 4;                 \
        if (op == MPI_MAXLOC ? a > b : a < b)                                  \
          best = r;                                                            \
      }                                                                        \
      if (out[i].value != (c_type)((best * 3 + i) % 4) ||                      \
          out[i].place != best * 10 + i)                                       \
        fail("pairs: " #name " %d: place %d", i, out[i].place);                \
      mix_number((uint64_t)out[i].place);                                      \
    }                                                                          \
  }
PAIRS(short, short, MPI_SHORT_INT)
PAIRS(int, int, MPI_2INT)
PAIRS(long, long, MPI_LONG_INT)
PAIRS(float, float, MPI_FLOAT_INT)
PAIRS(double, double, MPI_DOUBLE_INT)
PAIRS(ldouble, long double, MPI_LONG_DOUBLE_INT)

static void all_pairs(void) {
  for (int root = ALL; root < size; root++) {
    for (int i = 0; i < 2; i++) {
      const MPI_Op op = i ? MPI_MAXLOC : MPI_MINLOC;
      pairs_short(op, root);
      pairs_int(op, root);
      pairs_long(op, root);
      pairs_float(op, root);
      pairs_double(op, root);
      pairs_ldouble(op, root);
    }
  }
  report("pairs");
}

static void self(void) {
  int in = rank + 1, out = 0;
  MPI_Reduce(&in, &out, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_SELF);
  if (out != in) {
    fail("MPI_COMM_SELF: reduce");
  }
  in *= 3;
  MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_MAX, MPI_COMM_SELF);
  if (out != in) {
    fail("MPI_COMM_SELF: allreduce");
  }
  MPI_Allreduce(MPI_IN_PLACE, &out, 1, MPI_INT, MPI_MAX, MPI_COMM_SELF);
  if (out != in) {
    fail("MPI_COMM_SELF: allreduce in place");
  }
}

int main(int argc, char **argv) {
  begin_values(&argc, &argv);
  all_numbers();
  all_roots();
  lengths();
  all_pairs();
  self();
  return end_values();
}
