/* Collectives of random.c, on any communicator; `now` tells the blocking ones
   from those that are waited for later. */
#ifndef TESTS_MPI_RANDOM_COLL_H
#define TESTS_MPI_RANDOM_COLL_H

#include "random_comm.h"

#include <stdbool.h>

/* One call, as all its ranks know it. */
struct call {
  struct com *com;
  int now;
  int root_side, root;
  int in_place;
  struct unit unit;
  int units;     /* per message, or at most */
  int same_type; /* all ranks describe the units alike */
  uint64_t seed;
  struct pending *p;
};

static inline bool call_is_root(const struct call *k) {
  return k->com->side == k->root_side && k->com->me == k->root;
}

/* What this rank passes as root. */
static inline int call_root(const struct call *k) {
  if (!is_inter(k->com) || k->com->side != k->root_side) {
    return k->root;
  }
  return call_is_root(k) ? MPI_ROOT : MPI_PROC_NULL;
}

/* On an inter-communicator only one group sends to the root or gets from it. */
static inline bool call_takes_part(const struct call *k) {
  return !is_inter(k->com) || k->com->side != k->root_side;
}

static inline struct shape call_shape(struct call *k) {
  return k->same_type ? op_same_shape(k->p, k->unit, k->seed)
                      : op_shape(k->p, k->unit);
}

/* Units from a rank to another one in calls with a count for each. */
static inline int call_units(const struct call *k, int side, int from, int to) {
  uint64_t state =
      scramble(k->seed, (uint64_t)(side * 10007 + from * 101 + to));
  switch (pick(&state, 4)) {
  case 0:
    return 0;
  case 1:
    return (int)pick(&state, 3) % (k->units + 1);
  default:
    return (int)pick(&state, (unsigned)k->units + 1);
  }
}

/* Blocks for n peers: counts and places in elements of a shape, in any order
   and with gaps; the elements that they span. */
static inline int lay_out(const int *counts, int *places, int n) {
  int order[MOST_RANKS * 2], at = 0;
  for (int i = 0; i < n; i++) {
    order[i] = i;
  }
  for (int i = n - 1; i > 0; i--) {
    const int j = own(i + 1), swap = order[i];
    order[i] = order[j];
    order[j] = swap;
  }
  for (int i = 0; i < n; i++) {
    at += own(3) ? 0 : own(4);
    places[order[i]] = at;
    at += counts[order[i]];
  }
  return at;
}

static inline MPI_Request *call_request(struct call *k) {
  return op_request(k->p);
}

/* --- moving --- */

static inline void coll_barrier(struct call *k) {
  if (k->now) {
    MPI_Barrier(k->com->handle);
  } else {
    MPI_Ibarrier(k->com->handle, call_request(k));
  }
}

static inline void coll_bcast(struct call *k) {
  const int root = call_root(k);
  struct shape s = call_shape(k);
  const int n = k->units * s.per;
  char *b = root == MPI_PROC_NULL ? NULL : op_buffer(k->p, s.type, n);
  if (k->now) {
    MPI_Bcast(b, n, s.type, root, k->com->handle);
  } else {
    MPI_Ibcast(b, n, s.type, root, k->com->handle, call_request(k));
  }
}

/* The buffers of a rooted call: one message at each, all at the root. */
struct rooted {
  struct shape one, all;
  char *one_buffer, *all_buffer;
  int n, n_all; /* elements of a message */
  int *counts, *places;
};

static inline struct rooted rooted_make(struct call *k, bool vector) {
  struct rooted r = {.n = 0};
  const int peers = com_peers(k->com), root = call_is_root(k);
  const int side = is_inter(k->com) ? !k->root_side : 0;
  const int me = k->com->me;
  /* Open MPI: a leader takes the root's counts for its own type's. */
  k->same_type |= vector && is_inter(k->com);
  r.one = call_shape(k);
  r.all = call_shape(k);
  r.one_buffer = r.all_buffer = NULL;
  r.n = (vector ? call_units(k, side, me, 0) : k->units) * r.one.per;
  r.n_all = k->units * r.all.per;
  if (call_takes_part(k)) {
    r.one_buffer = op_buffer(k->p, r.one.type, r.n);
    if (root && k->in_place) {
      r.one_buffer = MPI_IN_PLACE;
    }
  }
  if (root && vector) {
    r.counts = op_ints(k->p, peers);
    r.places = op_ints(k->p, peers);
    for (int i = 0; i < peers; i++) {
      r.counts[i] = call_units(k, side, i, 0) * r.all.per;
    }
    const int all = lay_out(r.counts, r.places, peers);
    r.all_buffer = op_buffer(k->p, r.all.type, all);
  } else if (root) {
    r.all_buffer = op_buffer(k->p, r.all.type, r.n_all * peers);
  }
  return r;
}

static inline void coll_gather(struct call *k) {
  const struct rooted r = rooted_make(k, false);
  const MPI_Comm c = k->com->handle;
  const int root = call_root(k);
  if (k->now) {
    MPI_Gather(r.one_buffer, r.n, r.one.type, r.all_buffer, r.n_all, r.all.type,
               root, c);
  } else {
    MPI_Igather(r.one_buffer, r.n, r.one.type, r.all_buffer, r.n_all,
                r.all.type, root, c, call_request(k));
  }
}

static inline void coll_scatter(struct call *k) {
  const struct rooted r = rooted_make(k, false);
  const MPI_Comm c = k->com->handle;
  const int root = call_root(k);
  if (k->now) {
    MPI_Scatter(r.all_buffer, r.n_all, r.all.type, r.one_buffer, r.n,
                r.one.type, root, c);
  } else {
    MPI_Iscatter(r.all_buffer, r.n_all, r.all.type, r.one_buffer, r.n,
                 r.one.type, root, c, call_request(k));
  }
}

static inline void coll_gatherv(struct call *k) {
  const struct rooted r = rooted_make(k, true);
  const MPI_Comm c = k->com->handle;
  const int root = call_root(k);
  if (k->now) {
    MPI_Gatherv(r.one_buffer, r.n, r.one.type, r.all_buffer, r.counts, r.places,
                r.all.type, root, c);
  } else {
    MPI_Igatherv(r.one_buffer, r.n, r.one.type, r.all_buffer, r.counts,
                 r.places, r.all.type, root, c, call_request(k));
  }
}

static inline void coll_scatterv(struct call *k) {
  const struct rooted r = rooted_make(k, true);
  const MPI_Comm c = k->com->handle;
  const int root = call_root(k);
  if (k->now) {
    MPI_Scatterv(r.all_buffer, r.counts, r.places, r.all.type, r.one_buffer,
                 r.n, r.one.type, root, c);
  } else {
    MPI_Iscatterv(r.all_buffer, r.counts, r.places, r.all.type, r.one_buffer,
                  r.n, r.one.type, root, c, call_request(k));
  }
}

static inline void coll_allgather(struct call *k) {
  const struct com *c = k->com;
  struct shape out = call_shape(k), in = call_shape(k);
  const int n = k->units * out.per, m = k->units * in.per;
  char *from = op_buffer(k->p, out.type, n);
  char *to = op_buffer(k->p, in.type, m * com_peers(c));
  if (k->in_place) {
    from = MPI_IN_PLACE;
  }
  if (k->now) {
    MPI_Allgather(from, n, out.type, to, m, in.type, c->handle);
  } else {
    MPI_Iallgather(from, n, out.type, to, m, in.type, c->handle,
                   call_request(k));
  }
}

/* Open MPI hangs where ranks describe the same message differently. */
static inline void coll_allgatherv(struct call *k) {
  k->same_type = 1;
  const struct com *c = k->com;
  const int peers = com_peers(c), there = is_inter(c) ? !c->side : 0;
  struct shape s = call_shape(k);
  const int n = call_units(k, c->side, c->me, 0) * s.per;
  int *counts = op_ints(k->p, peers), *places = op_ints(k->p, peers);
  for (int i = 0; i < peers; i++) {
    counts[i] = call_units(k, there, i, 0) * s.per;
  }
  char *from = op_buffer(k->p, s.type, n);
  char *to = op_buffer(k->p, s.type, lay_out(counts, places, peers));
  if (MPICH_4 && com_peers(c) == 1) { /* takes no notice of it */
    places[0] = 0;
  }
  if (k->in_place) {
    from = MPI_IN_PLACE;
  }
  if (k->now) {
    MPI_Allgatherv(from, n, s.type, to, counts, places, s.type, c->handle);
  } else {
    MPI_Iallgatherv(from, n, s.type, to, counts, places, s.type, c->handle,
                    call_request(k));
  }
}

static inline void coll_alltoall(struct call *k) {
  k->same_type |= k->in_place;
  const struct com *c = k->com;
  const int peers = com_peers(c);
  struct shape out = call_shape(k), in = call_shape(k);
  const int n = k->units * out.per, m = k->units * in.per;
  char *from = op_buffer(k->p, out.type, n * peers);
  char *to = op_buffer(k->p, in.type, m * peers);
  if (k->in_place) {
    from = MPI_IN_PLACE;
  }
  if (k->now) {
    MPI_Alltoall(from, n, out.type, to, m, in.type, c->handle);
  } else {
    MPI_Ialltoall(from, n, out.type, to, m, in.type, c->handle,
                  call_request(k));
  }
}

/* A count for each peer, sent or received. */
struct vector {
  struct shape shape;
  int *counts, *places;
  char *buffer;
};

static inline struct vector vector_make(struct call *k, bool sends) {
  const struct com *c = k->com;
  const int peers = com_peers(c);
  struct vector v = {.shape = call_shape(k)};
  v.counts = op_ints(k->p, peers);
  v.places = op_ints(k->p, peers);
  for (int i = 0; i < peers; i++) {
    int from = sends ? c->me : i, to = sends ? i : c->me;
    const int side = sends ? c->side : is_inter(c) ? !c->side : 0;
    if (k->in_place && from > to) { /* as much comes as goes */
      from = to, to = sends ? c->me : i;
    }
    v.counts[i] = call_units(k, side, from, to) * v.shape.per;
  }
  v.buffer = op_buffer(k->p, v.shape.type, lay_out(v.counts, v.places, peers));
  return v;
}

/* Open MPI: MPI_Ialltoallv and MPI_Ialltoallw in place hang where counts
   differ. */
static inline void coll_alltoallv(struct call *k) {
  k->in_place &= k->now;
  k->same_type |= k->in_place;
  const MPI_Comm c = k->com->handle;
  const struct vector out = vector_make(k, true), in = vector_make(k, false);
  const void *from = k->in_place ? MPI_IN_PLACE : out.buffer;
  if (k->now) {
    MPI_Alltoallv(from, out.counts, out.places, out.shape.type, in.buffer,
                  in.counts, in.places, in.shape.type, c);
  } else {
    MPI_Ialltoallv(from, out.counts, out.places, out.shape.type, in.buffer,
                   in.counts, in.places, in.shape.type, c, call_request(k));
  }
}

/* The types of MPI_Alltoallw: the same for all peers, places in bytes. */
static inline MPI_Datatype *vector_types(struct call *k, struct vector *v) {
  const int peers = com_peers(k->com);
  MPI_Datatype *types = op_array(k->p, (size_t)peers, sizeof(*types));
  MPI_Aint lb, extent;
  MPI_Type_get_extent(v->shape.type, &lb, &extent);
  for (int i = 0; i < peers; i++) {
    types[i] = v->shape.type;
    v->places[i] *= (int)extent;
  }
  return types;
}

static inline void coll_alltoallw(struct call *k) {
  /* Open MPI scales the places on one rank; with a topology MPI_Ialltoallw
     takes the number of neighbours for that of ranks. */
  if ((k->com->n[0] == 1 && !is_inter(k->com)) ||
      (!k->now && k->com->topology)) {
    coll_alltoallv(k);
    return;
  }
  k->in_place &= k->now;
  k->same_type |= k->in_place;
  const MPI_Comm c = k->com->handle;
  struct vector out = vector_make(k, true), in = vector_make(k, false);
  MPI_Datatype *sent = vector_types(k, &out), *got = vector_types(k, &in);
  const void *from = k->in_place ? MPI_IN_PLACE : out.buffer;
  if (k->now) {
    MPI_Alltoallw(from, out.counts, out.places, sent, in.buffer, in.counts,
                  in.places, got, c);
  } else {
    MPI_Ialltoallw(from, out.counts, out.places, sent, in.buffer, in.counts,
                   in.places, got, c, call_request(k));
  }
}

/* --- computing --- */

/* What is combined: associative exactly, so that the order of evaluation cannot
   be seen. */
struct sum {
  MPI_Datatype type;
  MPI_Op op;
  int small; /* numbers that doubles add exactly */
  int size;
};

static MPI_Op op_compose, op_mix;
static MPI_Datatype type_pair;

/* x -> a x + b, one after the other: associative, not commutative. */
static void compose(void *in, void *inout, int *n, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < *n; i++) {
    uint32_t x[2], y[2], z[2];
    memcpy(x, (char *)in + i * 8, 8);
    memcpy(y, (char *)inout + i * 8, 8);
    z[0] = x[0] * y[0];
    z[1] = x[1] * y[0] + y[1];
    memcpy((char *)inout + i * 8, z, 8);
  }
}

/* Commutative. */
static void mix(void *in, void *inout, int *n, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < *n; i++) {
    uint64_t x, y;
    memcpy(&x, (char *)in + i * 8, 8);
    memcpy(&y, (char *)inout + i * 8, 8);
    x ^= y;
    memcpy((char *)inout + i * 8, &x, 8);
  }
}

static inline void sums_begin(void) {
  MPI_Op_create(compose, 0, &op_compose);
  MPI_Op_create(mix, 1, &op_mix);
  MPI_Type_contiguous(2, MPI_UNSIGNED, &type_pair);
  MPI_Type_commit(&type_pair);
}

static inline void sums_end(void) {
  MPI_Op_free(&op_compose);
  MPI_Op_free(&op_mix);
  MPI_Type_free(&type_pair);
}

enum { SUMS = 12 };

static inline struct sum sum_of(uint64_t seed) {
  const struct sum all[SUMS] = {
      {MPI_INT, MPI_SUM, 0, 4},      {MPI_UNSIGNED, MPI_PROD, 0, 4},
      {MPI_LONG, MPI_MAX, 0, 8},     {MPI_SHORT, MPI_MIN, 0, 2},
      {MPI_BYTE, MPI_BXOR, 0, 1},    {MPI_DOUBLE, MPI_SUM, 1, 8},
      {MPI_INT, MPI_LAND, 0, 4},     {MPI_2INT, MPI_MINLOC, 0, 8},
      {MPI_UNSIGNED, MPI_BOR, 0, 4}, {type_pair, op_compose, 0, 8},
      {type_pair, op_compose, 0, 8}, {type_pair, op_mix, 0, 8},
  };
  return all[pick(&seed, SUMS)];
}

/* A buffer of n numbers. */
static inline char *sum_buffer(struct call *k, const struct sum *s, int n) {
  char *b = op_buffer(k->p, s->type, n);
  uint64_t state = scramble(k->seed, (uint64_t)rank);
  for (int i = 0; s->small && i < n; i++) {
    const double number = (int)pick(&state, 2000) - 1000;
    memcpy(b + (size_t)i * sizeof(number), &number, sizeof(number));
  }
  return b;
}

static inline int sum_count(const struct call *k) {
  return k->units * k->unit.n;
}

static inline void coll_reduce(struct call *k) {
  const struct sum s = sum_of(k->seed);
  const int n = sum_count(k), root = call_root(k);
  const MPI_Comm c = k->com->handle;
  const bool in_place = k->in_place && call_is_root(k);
  char *from = call_takes_part(k) && !in_place ? sum_buffer(k, &s, n) : NULL;
  char *to = call_is_root(k) ? sum_buffer(k, &s, n) : NULL;
  if (in_place) {
    from = MPI_IN_PLACE;
  }
  if (k->now) {
    MPI_Reduce(from, to, n, s.type, s.op, root, c);
  } else {
    MPI_Ireduce(from, to, n, s.type, s.op, root, c, call_request(k));
  }
}

enum all_kind { ALL, SCAN, EXSCAN };

static inline void reduce_all(struct call *k, enum all_kind kind) {
  const struct sum s = sum_of(k->seed);
  const int n = sum_count(k);
  const MPI_Comm c = k->com->handle;
  char *from = k->in_place ? MPI_IN_PLACE : sum_buffer(k, &s, n);
  char *to = sum_buffer(k, &s, n);
  if (kind == ALL && k->now) {
    MPI_Allreduce(from, to, n, s.type, s.op, c);
  } else if (kind == ALL) {
    MPI_Iallreduce(from, to, n, s.type, s.op, c, call_request(k));
  } else if (kind == SCAN && k->now) {
    MPI_Scan(from, to, n, s.type, s.op, c);
  } else if (kind == SCAN) {
    MPI_Iscan(from, to, n, s.type, s.op, c, call_request(k));
  } else if (k->now) {
    MPI_Exscan(from, to, n, s.type, s.op, c);
  } else {
    MPI_Iexscan(from, to, n, s.type, s.op, c, call_request(k));
  }
}

static inline void coll_allreduce(struct call *k) {
  reduce_all(k, ALL);
}

static inline void coll_scan(struct call *k) {
  reduce_all(k, is_inter(k->com) ? ALL : SCAN);
}

static inline void coll_exscan(struct call *k) {
  reduce_all(k, is_inter(k->com) ? ALL : EXSCAN);
}

/* In place, the result is at the buffer's beginning: no more than that. */
static inline void result_only(struct call *k, const struct sum *s, int n) {
  k->p->buffers[0].partly = k->in_place;
  k->p->buffers[0].only = (size_t)n * (size_t)s->size;
}

static inline void coll_reduce_scatter_block(struct call *k) {
  const struct sum s = sum_of(k->seed);
  const struct com *c = k->com;
  /* Both groups of an inter-communicator give as much as the other takes. */
  const int mine = sum_count(k) * (is_inter(c) ? com_peers(c) : 1);
  const int all = mine * c->n[c->side];
  char *from = k->in_place ? MPI_IN_PLACE : sum_buffer(k, &s, all);
  char *to = sum_buffer(k, &s, k->in_place ? all : mine);
  result_only(k, &s, mine);
  if (k->now) {
    MPI_Reduce_scatter_block(from, to, mine, s.type, s.op, c->handle);
  } else {
    MPI_Ireduce_scatter_block(from, to, mine, s.type, s.op, c->handle,
                              call_request(k));
  }
}

static inline void coll_reduce_scatter(struct call *k) {
  if (is_inter(k->com)) {
    coll_reduce_scatter_block(k);
    return;
  }
  const struct sum s = sum_of(k->seed);
  const struct com *c = k->com;
  const int n = c->n[0];
  /* Open MPI: rank 0's is wrong if the operation does not commute. */
  k->in_place &= s.op != op_compose;
  int *counts = op_ints(k->p, n), all = 0;
  for (int i = 0; i < n; i++) {
    counts[i] = call_units(k, 0, i, 0) * k->unit.n;
    all += counts[i];
  }
  char *from = k->in_place ? MPI_IN_PLACE : sum_buffer(k, &s, all);
  char *to = sum_buffer(k, &s, k->in_place ? all : counts[c->me]);
  result_only(k, &s, counts[c->me]);
  if (k->now) {
    MPI_Reduce_scatter(from, to, counts, s.type, s.op, c->handle);
  } else {
    MPI_Ireduce_scatter(from, to, counts, s.type, s.op, c->handle,
                        call_request(k));
  }
}

/* ------------------------------------------------------------------------- */

static const struct {
  const char *name;
  void (*run)(struct call *k);
  int blocks; /* as many messages as peers, at some rank */
  int weight;
} kinds[] = {
    {"barrier", coll_barrier, 0, 1},
    {"bcast", coll_bcast, 0, 3},
    {"gather", coll_gather, 1, 2},
    {"gatherv", coll_gatherv, 1, 2},
    {"scatter", coll_scatter, 1, 2},
    {"scatterv", coll_scatterv, 1, 2},
    {"allgather", coll_allgather, 1, 2},
    {"allgatherv", coll_allgatherv, 1, 2},
    {"alltoall", coll_alltoall, 1, 2},
    {"alltoallv", coll_alltoallv, 1, 3},
    {"alltoallw", coll_alltoallw, 1, 2},
    {"reduce", coll_reduce, 0, 2},
    {"allreduce", coll_allreduce, 0, 2},
    {"reduce_scatter", coll_reduce_scatter, 1, 2},
    {"reduce_scatter_block", coll_reduce_scatter_block, 1, 2},
    {"scan", coll_scan, 0, 1},
    {"exscan", coll_exscan, 0, 1},
};
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

static const char *only_kind; /* -k */

static inline int draw_kind(void) {
  int total = 0, i = 0;
  for (int j = 0; j < KINDS; j++) {
    total += kinds[j].weight;
  }
  for (int left = draw(total); left >= kinds[i].weight; i++) {
    left -= kinds[i].weight;
  }
  for (int j = 0; only_kind && j < KINDS; j++) {
    i = strcmp(kinds[j].name, only_kind) == 0 ? j : i;
  }
  return i;
}

static inline void coll_step(bool now) {
  struct call k = {.com = com_draw(2), .now = now, .unit = draw_unit()};
  const int kind = draw_kind();
  const int n = k.com->n[0] > k.com->n[1] ? k.com->n[0] : k.com->n[1];
  k.root_side = is_inter(k.com) ? draw(2) : 0;
  k.root = draw(k.com->n[k.root_side]);
  k.in_place = draw(4) == 0 && !is_inter(k.com);
  k.same_type = draw(2);
  k.units = draw_units(k.unit, kinds[kind].blocks ? n : 1);
  k.seed = scramble(operation, 11);
  if (!is_member(k.com)) {
    return;
  }
  say("%s%s on %d: %d units of %d, root %d of %d%s%s", now ? "" : "i",
      kinds[kind].name, com_number(k.com), k.units, k.unit.n, k.root,
      k.root_side, k.in_place ? ", in place" : "",
      k.same_type ? "" : ", different types");
  k.p = op_begin();
  com_use(k.com, k.p);
  kinds[kind].run(&k);
  op_end(k.p);
}

#endif
