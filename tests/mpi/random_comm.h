/* The communicators of random.c: a table that is the same on all ranks, but for
   the handles. */
#ifndef TESTS_MPI_RANDOM_COMM_H
#define TESTS_MPI_RANDOM_COMM_H

#include "random.h"

#include <stdbool.h>

enum { MOST_RANKS = 64, MOST_COMS = 14, MOST_EDGES = 24 };

/* Neighbours of one rank. */
struct edges {
  int n_in, n_out;
  int in[MOST_EDGES], out[MOST_EDGES];
};

struct com {
  int live;
  MPI_Comm handle; /* MPI_COMM_NULL: this rank is not a member */
  int n[2];        /* members of its groups; an intra-communicator has one */
  int *world[2];   /* their ranks in MPI_COMM_WORLD */
  int side, me;    /* this rank's group, and rank there; -1: not a member */
  int uses;        /* operations of this rank under way */
  int persistent;  /* persistent requests, of all ranks */
  int topology;    /* MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH or 0 */
  int small;       /* Cartesian, periodic in a dimension of 1 or 2 */
  struct edges *edges; /* by rank */
};

static struct com coms[MOST_COMS];

static inline bool is_inter(const struct com *c) {
  return c->n[1] > 0;
}

static inline bool is_member(const struct com *c) {
  return c->me >= 0;
}

/* How many ranks there are to talk to. */
static inline int com_peers(const struct com *c) {
  return is_inter(c) ? c->n[!c->side] : c->n[0];
}

static inline void com_use(struct com *c, struct pending *p) {
  p->com = c;
  c->uses++;
}

static inline void com_unuse(struct com *c) {
  c->uses--;
}

static inline int com_number(const struct com *c) {
  return (int)(c - coms);
}

/* A live one: intra or inter (kind 0 or 1), or any (2). */
static inline struct com *com_draw(int kind) {
  for (;;) {
    struct com *c = &coms[draw(MOST_COMS)];
    if (c->live && (kind == 2 || is_inter(c) == kind)) {
      return c;
    }
  }
}

static inline struct com *com_draw_topology(void) {
  const int first = draw(MOST_COMS);
  for (int i = 0; i < MOST_COMS; i++) {
    struct com *c = &coms[(first + i) % MOST_COMS];
    if (c->live && c->topology) {
      return c;
    }
  }
  return NULL;
}

static inline struct com *com_place(void) {
  for (int i = 0; i < MOST_COMS; i++) {
    if (!coms[i].live) {
      return &coms[i];
    }
  }
  return NULL;
}

/* The table's entry; the handle comes later. */
static inline struct com *com_new(const int *a, int n_a, const int *b,
                                  int n_b) {
  struct com *c = com_place();
  *c = (struct com){.live = 1, .n = {n_a, n_b}, .me = -1};
  c->handle = MPI_COMM_NULL;
  for (int s = 0; s < 2; s++) {
    c->world[s] = calloc((size_t)c->n[s] + 1, sizeof(int));
    for (int i = 0; i < c->n[s]; i++) {
      c->world[s][i] = s ? b[i] : a[i];
      if (c->world[s][i] == rank) {
        c->side = s, c->me = i;
      }
    }
  }
  return c;
}

static inline void com_forget(struct com *c) {
  free(c->world[0]);
  free(c->world[1]);
  free(c->edges);
  c->live = 0;
}

/* What MPI says of it. */
static inline void com_look(struct com *c) {
  const struct com *other = com_draw(2);
  if ((c->handle == MPI_COMM_NULL) != !is_member(c)) {
    die("a communicator's handle for no member, or none for a member");
  }
  if (!is_member(c)) {
    return;
  }
  int n, me, inter, remote = 0, kind, result;
  MPI_Group group;
  MPI_Comm_size(c->handle, &n);
  MPI_Comm_rank(c->handle, &me);
  MPI_Comm_test_inter(c->handle, &inter);
  if (inter) {
    MPI_Comm_remote_size(c->handle, &remote);
  }
  MPI_Topo_test(c->handle, &kind);
  if (n != c->n[c->side] || me != c->me || inter != is_inter(c) ||
      remote != (inter ? c->n[!c->side] : 0) ||
      kind != (c->topology ? c->topology : MPI_UNDEFINED)) {
    say("size %d, rank %d, inter %d, remote %d, topology %d", n, me, inter,
        remote, kind);
    die("a communicator's rank, size or kind");
  }
  if (is_member(other)) {
    MPI_Comm_compare(c->handle, other->handle, &result);
    /* MPICH 5.0.2: the first two of four are congruent with the four. */
    if (n == other->n[other->side]) {
      fold_now((uint64_t)result);
    }
  }
  MPI_Comm_group(c->handle, &group);
  MPI_Group world;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int *there = calloc((size_t)n + 1, sizeof(*there)), *here;
  here = calloc((size_t)n + 1, sizeof(*here));
  for (int i = 0; i < n; i++) {
    here[i] = i;
  }
  MPI_Group_translate_ranks(group, n, here, world, there);
  fold_now(hash(there, (size_t)n * sizeof(*there)));
  free(here);
  free(there);
  MPI_Group_free(&world);
  MPI_Group_free(&group);
}

/* --- making --- */

static inline struct com *com_like(const struct com *c) {
  struct com *new = com_new(c->world[0], c->n[0], c->world[1], c->n[1]);
  new->topology = c->topology;
  new->small = c->small;
  if (c->edges) {
    const size_t n = (size_t)c->n[0] * sizeof(*c->edges);
    new->edges = malloc(n);
    memcpy(new->edges, c->edges, n);
  }
  return new;
}

static inline void com_dup(struct com *c) {
  const int how = draw(3);
  struct com *new = com_like(c);
  if (is_member(c)) {
    if (how == 0) {
      MPI_Comm_dup(c->handle, &new->handle);
    } else if (how == 1) {
      MPI_Comm_dup_with_info(c->handle, MPI_INFO_NULL, &new->handle);
    } else {
      MPI_Request request;
      MPI_Comm_idup(c->handle, &new->handle, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }
  com_look(new);
}

/* Members of c for whom in[rank] is `color`, by key and rank. */
static inline int members_of(const struct com *c, const int *colors, int color,
                             const int *keys, int *world) {
  int n = 0, taken[MOST_RANKS];
  for (int i = 0; i < c->n[0]; i++) {
    if (colors[i] != color) {
      continue;
    }
    int at = n++;
    for (; at > 0 && keys[taken[at - 1]] > keys[i]; at--) {
      taken[at] = taken[at - 1];
    }
    taken[at] = i;
  }
  for (int i = 0; i < n; i++) {
    world[i] = c->world[0][taken[i]];
  }
  return n;
}

/* Only the first of the parts goes into the table. */
static inline void com_split(struct com *c) {
  int colors[MOST_RANKS], keys[MOST_RANKS], world[MOST_RANKS];
  const int n_colors = 1 + draw(3);
  for (int i = 0; i < c->n[0]; i++) {
    colors[i] = draw(6) ? draw(n_colors) : -1;
    keys[i] = draw(2) ? draw(1000) - 500 : 0;
  }
  colors[draw(c->n[0])] = 0;
  const int n = members_of(c, colors, 0, keys, world);
  struct com *new = com_new(world, n, NULL, 0);
  if (is_member(c)) {
    MPI_Comm handle;
    const int color = colors[c->me];
    MPI_Comm_split(c->handle, color < 0 ? MPI_UNDEFINED : color, keys[c->me],
                   &handle);
    if (color == 0) {
      new->handle = handle;
    } else if (color > 0) {
      MPI_Comm_free(&handle);
    } else if (handle != MPI_COMM_NULL) {
      die("MPI_UNDEFINED gives a communicator");
    }
  }
  com_look(new);
}

/* A random subset of c's members, in random order, as ranks in c. */
static inline int draw_subset(const struct com *c, int *ranks) {
  int n = 1 + draw(c->n[0]);
  for (int i = 0; i < c->n[0]; i++) {
    ranks[i] = i;
  }
  for (int i = 0; i < n; i++) {
    const int j = i + draw(c->n[0] - i), swap = ranks[i];
    ranks[i] = ranks[j];
    ranks[j] = swap;
  }
  return n;
}

static inline void com_create(struct com *c) {
  int ranks[MOST_RANKS], world[MOST_RANKS];
  const int n = draw_subset(c, ranks), group_only = draw(2), tag = draw(3);
  for (int i = 0; i < n; i++) {
    world[i] = c->world[0][ranks[i]];
  }
  struct com *new = com_new(world, n, NULL, 0);
  if (is_member(c)) {
    MPI_Group all, some;
    MPI_Comm_group(c->handle, &all);
    MPI_Group_incl(all, n, ranks, &some);
    MPI_Group_free(&all);
    if (!group_only) {
      MPI_Comm_create(c->handle, some, &new->handle);
    } else if (is_member(new)) {
      MPI_Comm_create_group(c->handle, some, tag, &new->handle);
    }
    MPI_Group_free(&some);
  }
  com_look(new);
}

/* Two parts of c, and an inter-communicator of them. */
static inline void com_make_inter(struct com *c) {
  int side[MOST_RANKS], keys[MOST_RANKS], world[2][MOST_RANKS], n[2];
  for (int i = 0; i < c->n[0]; i++) {
    side[i] = draw(2);
    keys[i] = draw(5);
  }
  side[0] = 0, side[c->n[0] - 1] = 1;
  for (int s = 0; s < 2; s++) {
    n[s] = members_of(c, side, s, keys, world[s]);
  }
  const int leaders[2] = {draw(n[0]), draw(n[1])}, tag = draw(5);
  struct com *new = com_new(world[0], n[0], world[1], n[1]);
  if (is_member(c)) {
    MPI_Comm local;
    const int s = side[c->me];
    int leader = 0;
    MPI_Comm_split(c->handle, s, keys[c->me], &local);
    while (c->world[0][leader] != world[!s][leaders[!s]]) {
      leader++;
    }
    MPI_Intercomm_create(local, leaders[s], c->handle, leader, tag,
                         &new->handle);
    MPI_Comm_free(&local);
  }
  com_look(new);
}

static inline void com_merge(struct com *c) {
  int world[MOST_RANKS], n = 0;
  const int first = draw(2);
  for (int s = 0; s < 2; s++) {
    const int which = s ? !first : first;
    memcpy(world + n, c->world[which], (size_t)c->n[which] * sizeof(*world));
    n += c->n[which];
  }
  struct com *new = com_new(world, n, NULL, 0);
  if (is_member(c)) {
    MPI_Intercomm_merge(c->handle, c->side != first, &new->handle);
  }
  com_look(new);
}

static inline void com_free(struct com *c) {
  if (is_member(c)) {
    wait_among(1000000, c);
    MPI_Comm_free(&c->handle);
    if (c->handle != MPI_COMM_NULL) {
      die("the handle of a freed communicator");
    }
  }
  com_forget(c);
}

/* --- topologies --- */

enum { MOST_DIMS = 3 };

static inline int cart_rank(const int *dims, const int *periods,
                            const int *coords, int ndims) {
  int r = 0;
  for (int d = 0; d < ndims; d++) {
    int x = coords[d];
    if (x < 0 || x >= dims[d]) {
      if (!periods[d]) {
        return MPI_PROC_NULL;
      }
      x = (x + dims[d]) % dims[d];
    }
    r = r * dims[d] + x;
  }
  return r;
}

static inline void cart_edges(struct com *c, const int *dims,
                              const int *periods, int ndims) {
  c->edges = calloc((size_t)c->n[0], sizeof(*c->edges));
  for (int r = 0; r < c->n[0]; r++) {
    struct edges *e = &c->edges[r];
    int coords[MOST_DIMS];
    for (int d = ndims - 1, rest = r; d >= 0; rest /= dims[d], d--) {
      coords[d] = rest % dims[d];
    }
    e->n_in = e->n_out = 2 * ndims;
    for (int i = 0; i < 2 * ndims; i++) {
      const int step = i % 2 ? 1 : -1;
      coords[i / 2] += step;
      e->in[i] = e->out[i] = cart_rank(dims, periods, coords, ndims);
      coords[i / 2] -= step;
    }
  }
}

/* Asked for what the table says. */
static inline void cart_look(const struct com *c, int ndims) {
  int dims[MOST_DIMS], periods[MOST_DIMS], coords[MOST_DIMS], r, n;
  MPI_Cartdim_get(c->handle, &n);
  MPI_Cart_get(c->handle, ndims, dims, periods, coords);
  MPI_Cart_rank(c->handle, coords, &r);
  if (n != ndims || r != c->me) {
    die("MPI_Cart_rank");
  }
  for (int d = 0; d < ndims; d++) {
    int from, to;
    MPI_Cart_shift(c->handle, d, 1, &from, &to);
    if (from != c->edges[c->me].in[2 * d] ||
        to != c->edges[c->me].in[2 * d + 1]) {
      die("MPI_Cart_shift");
    }
    MPI_Cart_shift(c->handle, d, 2, &from, &to);
    fold_now((uint64_t)(from * 1000 + to));
  }
  MPI_Cart_coords(c->handle, (c->me + 1) % c->n[0], ndims, coords);
  fold_now(hash(coords, (size_t)ndims * sizeof(*coords)));
}

static inline void com_cart(struct com *c) {
  const int ndims = 1 + draw(MOST_DIMS);
  int dims[MOST_DIMS], periods[MOST_DIMS], n = 1;
  const int most = 1 + draw(c->n[0]);
  for (int d = 0; d < ndims; d++) {
    dims[d] = 1 + draw(most / n);
    periods[d] = draw(2);
    n *= dims[d];
  }
  struct com *new = com_new(c->world[0], n, NULL, 0);
  cart_edges(new, dims, periods, ndims);
  new->topology = MPI_CART;
  for (int d = 0; d < ndims; d++) {
    new->small |= periods[d] && dims[d] < 3;
  }
  if (is_member(c)) {
    MPI_Cart_create(c->handle, ndims, dims, periods, 0, &new->handle);
  }
  com_look(new);
  if (is_member(new)) {
    cart_look(new, ndims);
    int keep[MOST_DIMS] = {1, 0, 1}, sub_size, sub_rank;
    MPI_Comm sub;
    MPI_Cart_sub(new->handle, keep, &sub);
    MPI_Comm_size(sub, &sub_size);
    MPI_Comm_rank(sub, &sub_rank);
    fold_now((uint64_t)(sub_size * 1000 + sub_rank));
    MPI_Comm_free(&sub);
  }
}

/* Undirected edges, several between the same two allowed. */
static inline void com_graph(struct com *c) {
  const int n = 1 + draw(c->n[0]), pairs = draw(2 * n + 1);
  int index[MOST_RANKS], list[MOST_RANKS * MOST_EDGES], total = 0;
  struct com *new = com_new(c->world[0], n, NULL, 0);
  new->edges = calloc((size_t)n, sizeof(*new->edges));
  for (int i = 0; i < pairs; i++) {
    const int a = draw(n), b = draw(n);
    struct edges *x = &new->edges[a], *y = &new->edges[b];
    if (x->n_in > MOST_EDGES - 2 || y->n_in > MOST_EDGES - 2) {
      continue;
    }
    x->in[x->n_in++] = b;
    if (a != b) {
      y->in[y->n_in++] = a;
    }
  }
  for (int r = 0; r < n; r++) {
    struct edges *e = &new->edges[r];
    e->n_out = e->n_in;
    memcpy(e->out, e->in, sizeof(e->in));
    memcpy(list + total, e->in, (size_t)e->n_in * sizeof(*list));
    total += e->n_in;
    index[r] = total;
  }
  new->topology = MPI_GRAPH;
  if (is_member(c)) {
    MPI_Graph_create(c->handle, n, index, list, 0, &new->handle);
  }
  com_look(new);
  if (is_member(new)) {
    int count, got[MOST_EDGES];
    MPI_Graph_neighbors_count(new->handle, new->me, &count);
    MPI_Graph_neighbors(new->handle, new->me, count, got);
    if (count != new->edges[new->me].n_in ||
        memcmp(got, new->edges[new->me].in, (size_t)count * sizeof(*got)) !=
            0) {
      die("MPI_Graph_neighbors");
    }
  }
}

static inline void shuffle(int *list, int n) {
  for (int i = n - 1; i > 0; i--) {
    const int j = draw(i + 1), swap = list[i];
    list[i] = list[j];
    list[j] = swap;
  }
}

static inline void com_dist_graph(struct com *c) {
  const int n = c->n[0], edges = draw(3 * n + 1), weighted = draw(2);
  int weights[MOST_EDGES];
  struct com *new = com_new(c->world[0], n, NULL, 0);
  new->edges = calloc((size_t)n, sizeof(*new->edges));
  for (int i = 0; i < edges; i++) {
    struct edges *from = &new->edges[draw(n)];
    struct edges *to = &new->edges[draw(n)];
    if (from->n_out == MOST_EDGES || to->n_in == MOST_EDGES) {
      continue;
    }
    from->out[from->n_out++] = (int)(to - new->edges);
    to->in[to->n_in++] = (int)(from - new->edges);
  }
  for (int r = 0; r < n; r++) {
    shuffle(new->edges[r].in, new->edges[r].n_in);
    shuffle(new->edges[r].out, new->edges[r].n_out);
  }
  for (int i = 0; i < MOST_EDGES; i++) {
    weights[i] = i;
  }
  new->topology = MPI_DIST_GRAPH;
  struct edges *e = is_member(c) ? &new->edges[new->me] : NULL;
  if (e) {
    MPI_Dist_graph_create_adjacent(
        c->handle, e->n_in, e->in, weighted ? weights : MPI_UNWEIGHTED,
        e->n_out, e->out, weighted ? weights : MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
        &new->handle);
  }
  com_look(new);
  if (!e) {
    return;
  }
  int n_in, n_out, has_weights, in[MOST_EDGES], out[MOST_EDGES];
  MPI_Dist_graph_neighbors_count(new->handle, &n_in, &n_out, &has_weights);
  if (n_in != e->n_in || n_out != e->n_out || !has_weights != !weighted) {
    die("MPI_Dist_graph_neighbors_count");
  }
  MPI_Dist_graph_neighbors(new->handle, n_in, in,
                           weighted ? weights : MPI_UNWEIGHTED, n_out, out,
                           weighted ? weights : MPI_UNWEIGHTED);
  if (memcmp(in, e->in, (size_t)n_in * sizeof(*in)) != 0 ||
      memcmp(out, e->out, (size_t)n_out * sizeof(*out)) != 0) {
    die("MPI_Dist_graph_neighbors");
  }
}

/* --- groups --- */

static inline void fold_group(MPI_Group g) {
  int n, me;
  MPI_Group_size(g, &n);
  MPI_Group_rank(g, &me);
  fold_now((uint64_t)(n * 1000 + me));
}

static inline void groups(struct com *c) {
  int some[MOST_RANKS], others[MOST_RANKS], result;
  const int n = draw_subset(c, some), m = draw_subset(c, others);
  if (!is_member(c)) {
    return;
  }
  MPI_Group all, a, b, made;
  MPI_Comm_group(c->handle, &all);
  MPI_Group_incl(all, n, some, &a);
  MPI_Group_excl(all, m, others, &b);
  fold_group(a);
  fold_group(b);
  MPI_Group_union(a, b, &made);
  fold_group(made);
  MPI_Group_compare(made, all, &result);
  fold_now((uint64_t)result);
  MPI_Group_free(&made);
  MPI_Group_intersection(a, b, &made);
  fold_group(made);
  MPI_Group_free(&made);
  MPI_Group_difference(a, b, &made);
  fold_group(made);
  MPI_Group_free(&made);
  int range[1][3] = {{c->n[0] - 1, 0, -2}};
  MPI_Group_range_incl(all, 1, range, &made);
  fold_group(made);
  MPI_Group_translate_ranks(a, n > 2 ? 2 : n, (int[2]){0, 1}, made, some);
  fold_now(hash(some, (size_t)(n > 2 ? 2 : n) * sizeof(*some)));
  MPI_Group_free(&made);
  MPI_Group_free(&a);
  MPI_Group_free(&b);
  MPI_Group_free(&all);
}

/* One random thing done with communicators. */
static inline void comm_step(void) {
  int live = 0;
  for (int i = 0; i < MOST_COMS; i++) {
    live += coms[i].live;
  }
  const int kind = draw(12);
  struct com *any = com_draw(2), *intra = com_draw(0);
  if (live > 9 || kind > 9) {
    say("free %d", com_number(any));
    if (com_number(any) > 1 && !any->persistent) {
      com_free(any);
    }
  } else if (kind == 1) {
    say("split %d", com_number(intra));
    com_split(intra);
  } else if (kind == 2 && !intra->topology) { /* Open MPI: it may be copied */
    say("create of %d", com_number(intra));
    com_create(intra);
  } else if (kind == 3) {
    say("groups of %d", com_number(intra));
    groups(intra);
  } else if (kind == 4 && has(INTER) && intra->n[0] > 1) {
    say("inter of %d", com_number(intra));
    com_make_inter(intra);
  } else if (kind == 5 && is_inter(any)) {
    say("merge %d", com_number(any));
    com_merge(any);
  } else if (kind == 6 && has(TOPO)) {
    say("cart of %d", com_number(intra));
    com_cart(intra);
  } else if (kind == 7 && has(TOPO)) {
    say("graph of %d", com_number(intra));
    com_graph(intra);
  } else if (kind == 8 && has(TOPO)) {
    say("dist_graph of %d", com_number(intra));
    com_dist_graph(intra);
  } else {
    say("dup %d", com_number(any));
    com_dup(any);
  }
}

static inline void coms_begin(void) {
  int all[MOST_RANKS];
  for (int i = 0; i < size; i++) {
    all[i] = i;
  }
  com_new(all, size, NULL, 0)->handle = MPI_COMM_WORLD;
  /* Each rank has its own, and plays the only member. */
  com_new(&rank, 1, NULL, 0)->handle = MPI_COMM_SELF;
}

static inline void coms_end(void) {
  for (int i = 2; i < MOST_COMS; i++) {
    if (coms[i].live) {
      com_free(&coms[i]);
    }
  }
}

#endif
