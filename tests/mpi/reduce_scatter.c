/* MPI_Reduce_scatter and MPI_Reduce_scatter_block: types, users' operations in
   rank order, in place, counts that differ and are zero. */
#include "values.h"

#include <stdbool.h>

/* What each rank gets: counts[i] of `total` numbers from `first[i]`. */
struct parts {
  int *counts;
  int first; /* of this rank */
  int total;
};

static struct parts parts_make(int salt, int most, bool uniform) {
  struct parts p = {.counts = calloc((size_t)size, sizeof(*p.counts))};
  for (int i = 0; i < size; i++) {
    p.counts[i] = (uniform ? salt : salt + 3 * i) % (most + 1);
    if (i < rank) {
      p.first += p.counts[i];
    }
    p.total += p.counts[i];
  }
  return p;
}

static void call(const struct parts *p, bool uniform, const void *from,
                 void *to, MPI_Datatype type, MPI_Op op) {
  if (uniform) {
    MPI_Reduce_scatter_block(from, to, p->counts[0], type, op, MPI_COMM_WORLD);
  } else {
    MPI_Reduce_scatter(from, to, p->counts, type, op, MPI_COMM_WORLD);
  }
}

static void numbers_of(const struct number *n, const struct operation *o,
                       int salt, int most, bool uniform, int in_place) {
  if (left_out()) {
    return;
  }
  struct parts p = parts_make(salt, most, uniform);
  const int mine = p.counts[rank];
  char *in = contribution(n, o, rank, 0, p.total);
  if (in_place) {
    call(&p, uniform, MPI_IN_PLACE, in, n->type, o->op);
    const size_t bytes = (size_t)mine * n->bytes;
    memset(in + bytes, 0x5a, (size_t)p.total * n->bytes - bytes);
    check_folded(in, n, o, 0, size - 1, p.first, mine, "in place");
  } else {
    char *out = blank((size_t)mine * n->bytes);
    call(&p, uniform, in, out, n->type, o->op);
    check_folded(out, n, o, 0, size - 1, p.first, mine, "reduce_scatter");
    check_folded(in, n, o, rank, rank, 0, p.total, "send buffer");
    free(out);
  }
  free(in);
  free(p.counts);
}

static void users_of(const struct user *u, int salt, int most, bool uniform,
                     int in_place) {
  if (left_out()) {
    return;
  }
  struct parts p = parts_make(salt, most, uniform);
  const int mine = p.counts[rank];
  char *in = user_contribution(u, rank, 0, p.total);
  if (in_place) {
    call(&p, uniform, MPI_IN_PLACE, in, u->type, u->op);
    const size_t bytes = (size_t)mine * u->extent;
    memset(in + bytes, 0x5a, (size_t)p.total * u->extent - bytes);
    check_user(in, u, 0, size - 1, p.first, mine, "in place");
  } else {
    char *out = blank((size_t)mine * u->extent);
    call(&p, uniform, in, out, u->type, u->op);
    check_user(out, u, 0, size - 1, p.first, mine, "reduce_scatter");
    check_user(in, u, rank, rank, 0, p.total, "send buffer");
    free(out);
  }
  free(in);
  free(p.counts);
}

int main(int argc, char **argv) {
  begin_values(&argc, &argv);
  for (int i = 0; i < nnumbers; i++) {
    for (int j = 0; j < NOPERATIONS; j++) {
      if (operations[j].classes & numbers[i].class) {
        numbers_of(&numbers[i], &operations[j], i, 5, true, (i + j) % 2);
        numbers_of(&numbers[i], &operations[j], i + j, 7, false, (i + j) % 2);
      }
    }
  }
  report("numbers");
  for (int i = 0; i < USERS; i++) {
    for (int salt = 0; salt < 6; salt++) {
      for (int in_place = 0; in_place < 2; in_place++) {
        users_of(&users[i], salt, 4, true, in_place);
        users_of(&users[i], salt, 4, false, in_place);
        users_of(&users[i], 300 + salt, 1000, false, in_place);
      }
    }
  }
  report("users");
  for (int i = 0; i < SIZES; i++) {
    numbers_of(&numbers[0], &operations[0], sizes[i], sizes[i], true, i % 2);
    numbers_of(&numbers[0], &operations[0], sizes[i] / 2, sizes[i], false,
               i % 2);
  }
  report("lengths");
  return end_values();
}
