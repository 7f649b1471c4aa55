/* Neighbourhood collectives of random.c. */
#ifndef TESTS_MPI_RANDOM_NEIGHBOR_H
#define TESTS_MPI_RANDOM_NEIGHBOR_H

#include "random_coll.h"

#include <stdbool.h>

/* Units that rank `from` sends over its i-th edge out. */
static inline int edge_units(const struct call *k, int from, int i, int vary) {
  return vary ? call_units(k, 2, from, i) : k->units;
}

/* The edge out of `from` that is the i-th edge in of `to`: on a Cartesian
   topology the opposite direction, elsewhere the one that comes as early among
   those between the two. */
static inline int edge_of(const struct com *c, int to, int i) {
  const struct edges *in = &c->edges[to];
  const int from = in->in[i];
  if (c->topology == MPI_CART) {
    return i ^ 1;
  }
  int before = 0, j = 0;
  for (int l = 0; l < i; l++) {
    before += in->in[l] == from;
  }
  for (;; j++) {
    if (c->edges[from].out[j] == to && before-- == 0) {
      return j;
    }
  }
}

/* A side of a call with a count for each neighbour. */
static inline struct vector edges_make(struct call *k, bool sends, bool same) {
  const struct com *c = k->com;
  const struct edges *e = &c->edges[c->me];
  const int n = sends ? e->n_out : e->n_in;
  struct vector v = {.shape = call_shape(k)};
  v.counts = op_ints(k->p, n);
  v.places = op_ints(k->p, n);
  for (int i = 0; i < n; i++) {
    const int peer = sends ? e->out[i] : e->in[i];
    int units = 0;
    if (peer == MPI_PROC_NULL) {
      units = 1 + i % 3; /* nothing comes */
    } else if (same) {
      units = call_units(k, 3, peer, 0);
    } else {
      units = sends ? edge_units(k, c->me, i, 1)
                    : edge_units(k, peer, edge_of(c, c->me, i), 1);
    }
    v.counts[i] = units * v.shape.per;
  }
  v.buffer = op_buffer(k->p, v.shape.type, lay_out(v.counts, v.places, n));
  return v;
}

static inline void neighbor_allgather(struct call *k, int vector) {
  const struct com *c = k->com;
  const struct edges *e = &c->edges[c->me];
  struct shape out = call_shape(k);
  const int n = (vector ? call_units(k, 3, c->me, 0) : k->units) * out.per;
  char *from = op_buffer(k->p, out.type, n);
  if (vector) {
    const struct vector in = edges_make(k, false, true);
    if (k->now) {
      MPI_Neighbor_allgatherv(from, n, out.type, in.buffer, in.counts,
                              in.places, in.shape.type, c->handle);
    } else {
      MPI_Ineighbor_allgatherv(from, n, out.type, in.buffer, in.counts,
                               in.places, in.shape.type, c->handle,
                               call_request(k));
    }
    return;
  }
  struct shape in = call_shape(k);
  const int m = k->units * in.per;
  char *to = op_buffer(k->p, in.type, m * e->n_in);
  if (k->now) {
    MPI_Neighbor_allgather(from, n, out.type, to, m, in.type, c->handle);
  } else {
    MPI_Ineighbor_allgather(from, n, out.type, to, m, in.type, c->handle,
                            call_request(k));
  }
}

static inline void neighbor_alltoall(struct call *k) {
  const struct com *c = k->com;
  const struct edges *e = &c->edges[c->me];
  struct shape out = call_shape(k), in = call_shape(k);
  const int n = k->units * out.per, m = k->units * in.per;
  char *from = op_buffer(k->p, out.type, n * e->n_out);
  char *to = op_buffer(k->p, in.type, m * e->n_in);
  if (k->now) {
    MPI_Neighbor_alltoall(from, n, out.type, to, m, in.type, c->handle);
  } else {
    MPI_Ineighbor_alltoall(from, n, out.type, to, m, in.type, c->handle,
                           call_request(k));
  }
}

/* Types and places in bytes, for MPI_Neighbor_alltoallw. */
struct typed {
  MPI_Datatype *types;
  MPI_Aint *places;
};

static inline struct typed typed_make(struct call *k, const struct vector *v,
                                      int n) {
  struct typed t;
  MPI_Aint lb, extent;
  t.types = op_array(k->p, (size_t)n, sizeof(*t.types));
  t.places = op_array(k->p, (size_t)n, sizeof(*t.places));
  MPI_Type_get_extent(v->shape.type, &lb, &extent);
  for (int i = 0; i < n; i++) {
    t.types[i] = v->shape.type;
    t.places[i] = v->places[i] * extent;
  }
  return t;
}

static inline void neighbor_alltoallv(struct call *k, bool types) {
  const MPI_Comm c = k->com->handle;
  const struct edges *e = &k->com->edges[k->com->me];
  const struct vector out = edges_make(k, true, false),
                      in = edges_make(k, false, false);
  if (types) {
    const struct typed sent = typed_make(k, &out, e->n_out);
    const struct typed got = typed_make(k, &in, e->n_in);
    if (k->now) {
      MPI_Neighbor_alltoallw(out.buffer, out.counts, sent.places, sent.types,
                             in.buffer, in.counts, got.places, got.types, c);
    } else {
      MPI_Ineighbor_alltoallw(out.buffer, out.counts, sent.places, sent.types,
                              in.buffer, in.counts, got.places, got.types, c,
                              call_request(k));
    }
  } else if (k->now) {
    MPI_Neighbor_alltoallv(out.buffer, out.counts, out.places, out.shape.type,
                           in.buffer, in.counts, in.places, in.shape.type, c);
  } else {
    MPI_Ineighbor_alltoallv(out.buffer, out.counts, out.places, out.shape.type,
                            in.buffer, in.counts, in.places, in.shape.type, c,
                            call_request(k));
  }
}

/* Open MPI: where both neighbours of a dimension are the same rank, the
   nonblocking MPI_Ineighbor_alltoall* exchange the two messages. */
static inline void neighbor_step(void) {
  static const char *const titles[] = {"allgather", "allgatherv", "alltoall",
                                       "alltoallv", "alltoallw"};
  struct call k = {.com = com_draw_topology(), .unit = draw_unit()};
  const int kind = draw(5), now = draw(2);
  if (!k.com) {
    return;
  }
  k.now =
      !has(INEIGHBOR) || (now && has(NEIGHBOR)) || (kind >= 2 && k.com->small);
  if (k.now && !has(NEIGHBOR)) {
    return;
  }
  k.same_type = draw(2);
  k.units = draw_units(k.unit, 6);
  k.seed = scramble(operation, 11);
  if (!is_member(k.com)) {
    return;
  }
  say("%sneighbor_%s on %d: %d units of %d", k.now ? "" : "i", titles[kind],
      com_number(k.com), k.units, k.unit.n);
  k.p = op_begin();
  com_use(k.com, k.p);
  if (kind < 2) {
    neighbor_allgather(&k, kind);
  } else if (kind == 2) {
    neighbor_alltoall(&k);
  } else {
    neighbor_alltoallv(&k, kind == 4);
  }
  op_end(k.p);
}

#endif
