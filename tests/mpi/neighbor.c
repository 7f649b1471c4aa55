/* Neighbourhood collectives on Cartesian, general and distributed graphs: rings
   of one and two ranks, where both neighbours are the same, open ends, several
   edges between two ranks, ranks without any; and what is refused. What comes
   over which edge is checked, since every message names its sender and edge. */
#include "test.h"

#include <stdbool.h>

enum { MOST = 64, INTS_EACH = 3 };

/* The edges of a rank, and which edge of the sender each of those in is. */
struct edges {
  int n_in, n_out;
  int in[MOST], out[MOST], over[MOST];
};

static int content(int from, int edge, int i) {
  return from * 10000 + edge * 100 + i;
}

static void put_edge(int *to, int from, int edge, int n) {
  for (int i = 0; i < n; i++) {
    to[i] = content(from, edge, i);
  }
}

static void expect(const int *got, int from, int edge, int n,
                   const char *what) {
  for (int i = 0; i < n; i++) {
    const int wanted = from == MPI_PROC_NULL ? -1 : content(from, edge, i);
    if (got[i] != wanted) {
      fail("%s: %d instead of %d", what, got[i], wanted);
    }
  }
  mix(got, (size_t)n * sizeof(*got));
}

static void done(MPI_Request *r) {
  MPI_Wait(r, MPI_STATUS_IGNORE);
}

static void try_allgather(MPI_Comm c, const struct edges *e, int later) {
  int out[INTS_EACH], in[MOST * INTS_EACH], counts[MOST], places[MOST];
  MPI_Request r;
  put_edge(out, rank, 0, INTS_EACH);
  memset(in, -1, sizeof(in));
  if (later) {
    MPI_Ineighbor_allgather(out, INTS_EACH, MPI_INT, in, INTS_EACH, MPI_INT, c,
                            &r);
    done(&r);
  } else {
    MPI_Neighbor_allgather(out, INTS_EACH, MPI_INT, in, INTS_EACH, MPI_INT, c);
  }
  for (int i = 0; i < e->n_in; i++) {
    expect(in + i * INTS_EACH, e->in[i], 0, INTS_EACH, "allgather");
  }
  memset(in, -1, sizeof(in));
  for (int i = 0; i < e->n_in; i++) { /* from the last to the first */
    counts[i] = 1 + (e->in[i] + MOST) % INTS_EACH;
    places[i] = (e->n_in - 1 - i) * INTS_EACH;
  }
  const int n = 1 + (rank + MOST) % INTS_EACH;
  if (later) {
    MPI_Ineighbor_allgatherv(out, n, MPI_INT, in, counts, places, MPI_INT, c,
                             &r);
    done(&r);
  } else {
    MPI_Neighbor_allgatherv(out, n, MPI_INT, in, counts, places, MPI_INT, c);
  }
  for (int i = 0; i < e->n_in; i++) {
    expect(in + places[i], e->in[i], 0, counts[i], "allgatherv");
  }
}

/* Units of a message: by its sender and edge. */
static int length(int from, int edge) {
  return (from + edge) % (INTS_EACH + 1);
}

static void try_alltoall(MPI_Comm c, const struct edges *e, int later) {
  int out[MOST * INTS_EACH], in[MOST * INTS_EACH];
  MPI_Request r;
  for (int i = 0; i < e->n_out; i++) {
    put_edge(out + i * INTS_EACH, rank, i, INTS_EACH);
  }
  memset(in, -1, sizeof(in));
  if (later) {
    MPI_Ineighbor_alltoall(out, INTS_EACH, MPI_INT, in, INTS_EACH, MPI_INT, c,
                           &r);
    done(&r);
  } else {
    MPI_Neighbor_alltoall(out, INTS_EACH, MPI_INT, in, INTS_EACH, MPI_INT, c);
  }
  for (int i = 0; i < e->n_in; i++) {
    expect(in + i * INTS_EACH, e->in[i], e->over[i], INTS_EACH, "alltoall");
  }
}

static void try_alltoallv(MPI_Comm c, const struct edges *e, int later,
                          bool typed) {
  int out[MOST * INTS_EACH], in[MOST * INTS_EACH];
  int sent[MOST], got[MOST], from[MOST], to[MOST];
  MPI_Aint from_bytes[MOST], to_bytes[MOST];
  MPI_Datatype types[MOST];
  MPI_Request r;
  for (int i = 0; i < MOST; i++) {
    from[i] = to[i] = i * INTS_EACH;
    from_bytes[i] = to_bytes[i] = i * INTS_EACH * (MPI_Aint)sizeof(int);
    types[i] = MPI_INT;
  }
  for (int i = 0; i < e->n_out; i++) {
    put_edge(out + from[i], rank, i, INTS_EACH);
    sent[i] = length(rank, i);
  }
  for (int i = 0; i < e->n_in; i++) {
    got[i] = e->in[i] == MPI_PROC_NULL ? 2 : length(e->in[i], e->over[i]);
  }
  memset(in, -1, sizeof(in));
  if (typed && later) {
    MPI_Ineighbor_alltoallw(out, sent, from_bytes, types, in, got, to_bytes,
                            types, c, &r);
  } else if (typed) {
    MPI_Neighbor_alltoallw(out, sent, from_bytes, types, in, got, to_bytes,
                           types, c);
  } else if (later) {
    MPI_Ineighbor_alltoallv(out, sent, from, MPI_INT, in, got, to, MPI_INT, c,
                            &r);
  } else {
    MPI_Neighbor_alltoallv(out, sent, from, MPI_INT, in, got, to, MPI_INT, c);
  }
  if (later) {
    done(&r);
  }
  for (int i = 0; i < e->n_in; i++) {
    expect(in + to[i], e->in[i], e->over[i], got[i], "alltoallv");
  }
}

/* Open MPI: nonblocking calls exchange the two messages of a ring of two. */
static void try_all(MPI_Comm c, const struct edges *e, bool small) {
  for (int later = 0; later < 2; later++) {
    try_allgather(c, e, later);
    if (later && small) {
      break;
    }
    try_alltoall(c, e, later);
    try_alltoallv(c, e, later, false);
    try_alltoallv(c, e, later, true);
  }
}

/* dims[0] x dims[1]; those left over have no part in it. */
static void cart(const int *dims, const int *periods) {
  MPI_Comm c;
  struct edges e = {.n_in = 4, .n_out = 4};
  if (dims[0] * dims[1] > size) {
    return;
  }
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &c);
  if (c == MPI_COMM_NULL) {
    return;
  }
  for (int d = 0; d < 2; d++) {
    int before, after;
    MPI_Cart_shift(c, d, 1, &before, &after);
    e.in[2 * d] = e.out[2 * d] = before;
    e.in[2 * d + 1] = e.out[2 * d + 1] = after;
    e.over[2 * d] = 2 * d + 1; /* what comes from before went after there */
    e.over[2 * d + 1] = 2 * d;
  }
  try_all(c, &e, (periods[0] && dims[0] < 3) || (periods[1] && dims[1] < 3));
  MPI_Comm_free(&c);
}

static void carts(void) {
  for (int a = 1; a <= 4; a++) {
    for (int b = 1; b <= 4; b++) {
      for (int p = 0; p < 4; p++) {
        cart((int[2]){a, b}, (int[2]){p & 1, p >> 1});
      }
    }
  }
  report("cart");
}

/* A ring without direction, and one edge of rank 0 with itself. */
static void graph(void) {
  int index[MOST], list[3 * MOST], total = 0;
  struct edges e = {.n_in = 0};
  for (int r = 0; r < size; r++) {
    if (size > 1) {
      list[total++] = (r + 1) % size, list[total++] = (r + size - 1) % size;
    }
    if (r == 0) {
      list[total++] = 0;
    }
    index[r] = total;
  }
  const int first = rank ? index[rank - 1] : 0;
  for (int i = first; i < index[rank]; i++) {
    const int from = list[i];
    e.in[e.n_in] = from;
    /* The ring's edges are two: what went forward comes from behind, but where
       they lead to the same rank the first comes first. */
    e.over[e.n_in] = from == rank ? i - first
                     : size == 2  ? i - first
                                  : 1 - (i - first);
    e.n_in++;
  }
  e.n_out = e.n_in;
  memcpy(e.out, e.in, sizeof(e.in));
  MPI_Comm c;
  MPI_Graph_create(MPI_COMM_WORLD, size, index, list, 0, &c);
  try_all(c, &e, false);
  MPI_Comm_free(&c);
  report("graph");
}

/* Each rank sends three messages to the next one, of which that names the
   others' edges first; rank 0 one to everybody; the last one sends nothing. */
static void dist_graph(void) {
  struct edges e = {.n_in = 0};
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  if (rank == 0) {
    for (int i = 0; i < size; i++) {
      e.out[e.n_out++] = i;
    }
  }
  e.in[0] = 0, e.over[0] = rank, e.n_in = 1;
  for (int i = 0; i < 3; i++) {
    if (rank < size - 1) {
      e.out[e.n_out++] = next;
    }
    if (before < size - 1) {
      e.in[e.n_in++] = before;
    }
  }
  for (int i = 1; i < e.n_in;
       i++) { /* rank 0's come after those to everybody */
    e.over[i] = (before == 0 ? size : 0) + i - 1;
  }
  int weights[MOST];
  for (int i = 0; i < MOST; i++) {
    weights[i] = i;
  }
  MPI_Comm c;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, e.n_in, e.in, weights, e.n_out,
                                 e.out, weights, MPI_INFO_NULL, 0, &c);
  try_all(c, &e, false);
  MPI_Comm_free(&c);
  report("dist_graph");
}

/* Several under way at once, and a blocking one between them. */
static void outstanding(void) {
  enum { N = 4, LARGE = 20000 };
  const int dims = size, periods = 1;
  MPI_Comm c;
  MPI_Request r[N];
  static int out[N][2 * LARGE], in[N][2 * LARGE];
  MPI_Cart_create(MPI_COMM_WORLD, 1, &dims, &periods, 0, &c);
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < 2 * LARGE; j++) {
      out[i][j] = content(rank, i, j);
    }
    MPI_Ineighbor_allgather(out[i], LARGE, MPI_INT, in[i], LARGE, MPI_INT, c,
                            &r[i]);
  }
  int one = rank, two[2];
  MPI_Neighbor_allgather(&one, 1, MPI_INT, two, 1, MPI_INT, c);
  MPI_Waitall(N, r, MPI_STATUSES_IGNORE);
  mix(two, sizeof(two));
  mix(in, sizeof(in));
  MPI_Comm_free(&c);
  report("outstanding");
}

static void class_of(int code) {
  int class;
  MPI_Error_class(code, &class);
  mix_number((uint64_t) class);
}

static void errors(void) {
  const int dims = size, periods = 0;
  int in[2] = {0, 0}, out[2] = {0, 0}, negative[2] = {-1, -1};
  int zero[2] = {0, 0};
  MPI_Comm c;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &dims, &periods, 0, &c);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
  class_of(
      MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD));
  class_of(MPI_Neighbor_alltoall(out, -1, MPI_INT, in, 1, MPI_INT, c));
  class_of(MPI_Neighbor_alltoall(out, 1, MPI_DATATYPE_NULL, in, 1, MPI_INT, c));
  class_of(MPI_Neighbor_alltoall(MPI_IN_PLACE, 1, MPI_INT, in, 1, MPI_INT, c));
  class_of(MPI_Neighbor_allgather(out, -1, MPI_INT, in, 1, MPI_INT, c));
  class_of(MPI_Neighbor_alltoallv(out, negative, zero, MPI_INT, in, negative,
                                  zero, MPI_INT, c));
  class_of(MPI_Neighbor_alltoallv(out, NULL, zero, MPI_INT, in, negative, zero,
                                  MPI_INT, c));
  MPI_Comm_free(&c);
  report("errors");
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  carts();
  graph();
  dist_graph();
  outstanding();
  if (ERRORS_COMPARE) {
    errors();
  }
  return end();
}
