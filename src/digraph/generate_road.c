#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "digraph/generate.h"

enum {
  ARTERIAL = 8, /* every such street */
  PILOT = 256,  /* rows and columns of the grid that tells shares */
  RIGHT = 1,    /* the street from a crossing to the next one in its row */
  DOWN = 2,     /* and in its column */
  REACHED = 4,  /* the crossing is in the graph */
};

#define NARROW 16.0 /* least and greatest widths of cells */
#define WIDE 131072.0
#define DETOUR 0.3 /* most of a length that a street is longer by */

/* Crossings have numbers row by row, so that streets go to larger ones. */
struct grid {
  uint32_t rows, columns;
  uint64_t seed;
  uint64_t keep;   /* a street is there if its random number is below this */
  uint32_t *set;   /* of each crossing: parent, then number in the graph */
  uint8_t *street; /* of each crossing: RIGHT, DOWN, REACHED */
  uint64_t nodes, edges; /* of the set of crossing 0 */
  int32_t *x, *y; /* where columns and rows are; x[-1], .. are there, too */
};

static void grid_free(struct grid *r) {
  free(r->set);
  free(r->street);
  free(r->x);
  free(r->y);
}

static int grid_memory(struct grid *r, struct pems_error *error) {
  const uint64_t n = (uint64_t)r->rows * r->columns;
  r->set = digraph_memory(n * sizeof(*r->set), error);
  r->street = r->set ? digraph_memory(n, error) : NULL;
  return r->street ? 0 : ENOMEM;
}

/* --- which streets there are --- */

static bool kept(const struct grid *r, uint64_t crossing, int which) {
  return generate_mix(r->seed + 4 * crossing + (uint64_t)which) < r->keep;
}

static uint8_t streets(const struct grid *r, uint32_t row, uint32_t column) {
  const uint64_t at = (uint64_t)row * r->columns + column;
  int found = 0;
  if (column + 1 < r->columns && (row % ARTERIAL == 0 || kept(r, at, RIGHT))) {
    found |= RIGHT;
  }
  if (row + 1 < r->rows && (column % ARTERIAL == 0 || kept(r, at, DOWN))) {
    found |= DOWN;
  }
  return (uint8_t)found;
}

static void join(struct grid *r) {
  const uint32_t n = r->rows * r->columns;
  for (uint32_t v = 0; v < n; v++) {
    r->set[v] = v;
  }
  for (uint32_t row = 0, v = 0; row < r->rows; row++) {
    for (uint32_t column = 0; column < r->columns; column++, v++) {
      r->street[v] = streets(r, row, column);
      if (r->street[v] & RIGHT) {
        digraph_set_join(r->set, v, v + 1);
      }
      if (r->street[v] & DOWN) {
        digraph_set_join(r->set, v, v + r->columns);
      }
    }
  }
}

/* The arterials are all joined, and what is not joined to them is within their
   meshes: so the set of crossing 0 is by far the largest. */
static void count(struct grid *r) {
  const uint32_t n = r->rows * r->columns;
  r->nodes = r->edges = 0;
  for (uint32_t v = 0; v < n; v++) {
    r->set[v] = r->set[r->set[v]]; /* a set's least member is its root */
    if (r->set[v] != 0) {
      continue;
    }
    r->nodes++;
    r->edges += 2 * (uint64_t)__builtin_popcount(r->street[v]);
    r->street[v] |= REACHED;
  }
}

/* How many streets must go for this degree, found on a small grid, and which
   share of the crossings is left then. */
static int pilot(struct grid *r, double degree, double *share,
                 struct pems_error *error) {
  struct grid small = {.rows = PILOT, .columns = PILOT, .seed = r->seed};
  const int code = grid_memory(&small, error);
  for (int bit = 63; bit >= 54 && !code; bit--) {
    small.keep |= UINT64_C(1) << bit;
    join(&small);
    count(&small);
    if ((double)small.edges > degree * (double)small.nodes) {
      small.keep ^= UINT64_C(1) << bit;
    }
  }
  r->keep = small.keep;
  *share = (double)small.nodes / ((double)PILOT * PILOT);
  grid_free(&small);
  return code;
}

/* --- where they are --- */

/* The places of n streets, and of one more on either side. */
static int32_t *streets_at(uint32_t n, uint64_t seed,
                           struct pems_error *error) {
  int32_t *const at = digraph_memory((n + 2ull) * sizeof(*at), error);
  int32_t sum = 0;
  for (uint32_t i = 0; at && i < n + 2; i++) {
    at[i] = sum;
    const double u = (double)(generate_mix(seed + i) >> 11) * 0x1p-53;
    sum += (int32_t)(NARROW * pow(WIDE / NARROW, u));
  }
  return at;
}

static int32_t least_gap(const int32_t *at, uint32_t i) {
  const int32_t before = at[i + 1] - at[i], after = at[i + 2] - at[i + 1];
  return before < after ? before : after;
}

/* Up to a quarter of the narrowest cell around it from the grid's point. */
static struct digraph_place place_of(const struct grid *r, uint32_t row,
                                     uint32_t column) {
  const int32_t across = least_gap(r->x, column), down = least_gap(r->y, row);
  const uint64_t reach = (uint64_t)(across < down ? across : down) / 2;
  const uint64_t random =
      generate_mix(~r->seed + ((uint64_t)row * r->columns + column));
  const uint64_t low = random & UINT32_MAX, high = random >> 32;
  return (struct digraph_place){
      .x = r->x[column + 1] + (int32_t)(low * reach >> 32) -
           (int32_t)(reach / 2),
      .y = r->y[row + 1] + (int32_t)(high * reach >> 32) - (int32_t)(reach / 2),
  };
}

/* --- the graph --- */

static void number(struct grid *r, struct digraph_place *place) {
  uint32_t next = 0;
  for (uint32_t row = 0, v = 0; row < r->rows; row++) {
    for (uint32_t column = 0; column < r->columns; column++, v++) {
      if (!(r->street[v] & REACHED)) {
        continue;
      }
      place[next] = place_of(r, row, column);
      r->set[v] = next++;
    }
  }
}

/* The street `which` of a crossing, as long both ways: at least the straight
   line, so that A* may trust that. */
static uint32_t length(const struct grid *r, const struct digraph_place *place,
                       uint32_t from, uint32_t to, int which) {
  const struct digraph_place *const a = &place[r->set[from]];
  const struct digraph_place *const b = &place[r->set[to]];
  const double dx = (double)a->x - b->x, dy = (double)a->y - b->y;
  const uint64_t random =
      generate_mix((r->seed ^ 0x10ad) + 4ull * from + which);
  const double detour = DETOUR * (double)(random >> 11) * 0x1p-53;
  const double straight = ceil(sqrt(dx * dx + dy * dy));
  return (uint32_t)(straight + floor(straight * detour));
}

static void add(const struct grid *r, const struct digraph_place *place,
                struct digraph_edge **edge, uint32_t from, uint32_t to) {
  const uint32_t low = from < to ? from : to, high = from < to ? to : from;
  const int which = high - low == 1 ? RIGHT : DOWN;
  *(*edge)++ =
      (struct digraph_edge){r->set[to], length(r, place, low, high, which)};
}

static void fill(const struct grid *r, struct digraph *g) {
  const uint32_t n = r->rows * r->columns, wide = r->columns;
  const struct digraph_place *const place = g->place;
  uint64_t *first = g->memory[0];
  struct digraph_edge *edge = g->memory[1];
  for (uint32_t v = 0; v < n; v++) {
    const int street = r->street[v];
    if (!(street & REACHED)) {
      continue;
    }
    if (v >= wide && r->street[v - wide] & DOWN) {
      add(r, place, &edge, v, v - wide);
    }
    if (v >= 1 && r->street[v - 1] & RIGHT) {
      add(r, place, &edge, v, v - 1);
    }
    if (street & RIGHT) {
      add(r, place, &edge, v, v + 1);
    }
    if (street & DOWN) {
      add(r, place, &edge, v, v + wide);
    }
    *++first = (uint64_t)(edge - g->edge);
  }
}

static int build(struct grid *r, struct digraph *g, struct pems_error *error) {
  int code = grid_memory(r, error);
  r->x = code ? NULL : streets_at(r->columns, generate_mix(r->seed ^ 1), error);
  r->y = r->x ? streets_at(r->rows, generate_mix(r->seed ^ 2), error) : NULL;
  if (!r->y) {
    return ENOMEM;
  }
  join(r);
  count(r);
  code = digraph_allocate(g, r->nodes, r->edges, 1, error);
  if (code) {
    return code;
  }
  number(r, g->memory[2]);
  fill(r, g);
  return 0;
}

int generate_road(struct digraph *g, const struct generate_road *o,
                  struct pems_error *error) {
  struct grid r = {.seed = generate_mix(o->seed ^ 0x60ad)};
  const double nodes = o->nodes ? (double)o->nodes : 1 << 20;
  const double degree = o->degree != 0 ? o->degree : 2.4;
  double share;
  if (!(nodes <= 0x1p31)) {
    return digraph_failure(
        error, EINVAL, "too many nodes: %" PRIu64 ": at most 2^31", o->nodes);
  }
  if (!(degree >= 2.2 && degree <= 3.9)) {
    return digraph_failure(
        error, EINVAL,
        "there is no such road: a mean degree of %g: give 2.2 "
        "to 3.9",
        degree);
  }
  int code = pilot(&r, degree, &share, error);
  if (code) {
    return code;
  }
  r.rows = (uint32_t)lround(sqrt(nodes / share));
  r.rows = r.rows < 2 ? 2 : r.rows;
  r.columns = (uint32_t)lround(nodes / share / r.rows);
  r.columns = r.columns < 2 ? 2 : r.columns;
  code = build(&r, g, error);
  grid_free(&r);
  return code;
}
