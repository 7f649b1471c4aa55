/* MPI_Scan and MPI_Exscan: all operations and types, users' operations in rank
   order, in place. */
#include "values.h"

#include <stdbool.h>

static void call(int exclusive, const void *from, void *to, int count,
                 MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  if (exclusive) {
    MPI_Exscan(from, to, count, type, op, comm);
  } else {
    MPI_Scan(from, to, count, type, op, comm);
  }
}

static void scan(const struct number *n, const struct operation *o, int count,
                 int exclusive, int in_place) {
  if (left_out()) {
    return;
  }
  char *in = contribution(n, o, rank, 0, count);
  char *out = in_place ? contribution(n, o, rank, 0, count)
                       : blank((size_t)count * n->bytes);
  call(exclusive, in_place ? MPI_IN_PLACE : in, out, count, n->type, o->op,
       MPI_COMM_WORLD);
  /* What rank 0 has after MPI_Exscan is undefined. */
  if (!exclusive || rank > 0) {
    check_folded(out, n, o, 0, rank - exclusive, 0, count, "scan");
  }
  check_folded(in, n, o, rank, rank, 0, count, "scan: send buffer");
  free(in);
  free(out);
}

static void scan_user(const struct user *u, int count, int exclusive,
                      int in_place) {
  if (left_out()) {
    return;
  }
  char *in = user_contribution(u, rank, 0, count);
  char *out = in_place ? user_contribution(u, rank, 0, count)
                       : blank((size_t)count * u->extent);
  call(exclusive, in_place ? MPI_IN_PLACE : in, out, count, u->type, u->op,
       MPI_COMM_WORLD);
  if (!exclusive || rank > 0) {
    check_user(out, u, 0, rank - exclusive, 0, count, "scan");
  }
  check_user(in, u, rank, rank, 0, count, "scan: send buffer");
  free(in);
  free(out);
}

static void all_numbers(void) {
  for (int i = 0; i < nnumbers; i++) {
    for (int j = 0; j < NOPERATIONS; j++) {
      if (!(operations[j].classes & numbers[i].class)) {
        continue;
      }
      scan(&numbers[i], &operations[j], i + 1, 0, (i + j) % 2);
      scan(&numbers[i], &operations[j], j, 1, (i + j) % 2);
    }
  }
  report("numbers");
}

static void lengths(bool exclusive) {
  for (int i = 0; i < SIZES; i++) {
    scan(&numbers[0], &operations[0], sizes[i], exclusive, i % 2);
    scan(&numbers[22], &operations[2], sizes[i] / 8, exclusive, 1 - i % 2);
    for (int j = 0; j < USERS; j++) {
      scan_user(&users[j], sizes[i] / 64, exclusive, i % 2);
      scan_user(&users[j], i % 4, exclusive, 1 - i % 2);
    }
  }
  report(exclusive ? "lengths, exclusive" : "lengths");
}

static void self(void) {
  int in = rank + 1, out = 0;
  MPI_Scan(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
  if (out != in) {
    fail("MPI_COMM_SELF: scan");
  }
  MPI_Exscan(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
}

int main(int argc, char **argv) {
  begin_values(&argc, &argv);
  all_numbers();
  lengths(false);
  lengths(true);
  self();
  return end_values();
}
