#include "digraph/digraph_arcs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "digraph/digraph_formats.h"

enum {
  ROOM_FIRST = 1 << 12,
  BATCH = 1 << 12, /* arcs that go to the sorter at once */
  /* What reading and writing take beside nodes and edges. */
  BUFFERS = 5 << 20,
  /* More arcs than any memory has, without overflow of what they take. */
  MANY = 1 << 30,
};

_Static_assert(sizeof(struct digraph_arc) == 12 &&
                   sizeof(struct digraph_edge) == 8,
               "an arc is a number before an edge");

static uint64_t memory_of_nodes(uint64_t nodes) {
  return (nodes + 1) * sizeof(uint64_t);
}

/* What a graph of so many arcs takes while it is made, of arcs that take `each`
   themselves. */
static uint64_t needed(uint64_t nodes, uint64_t arcs, int both, size_t each) {
  const uint64_t edges = (both ? 2 : 1) * sizeof(struct digraph_edge);
  const uint64_t most = (uint64_t)MANY * MANY / 64;
  return memory_of_nodes(nodes) + (arcs < most ? arcs : most) * (each + edges) +
         BUFFERS;
}

/* Where `arcs` do not fit in memory and may not be elsewhere. */
static int refuse(const char *name, uint64_t nodes, uint64_t arcs,
                  uint64_t bytes, struct pems_error *error) {
  return digraph_failure(error, ENOMEM,
                         "%.300s: up to %" PRIu64 " edges of %" PRIu64
                         " nodes need %" PRIu64
                         "M of memory: give --memory that much, or convert it "
                         "to a .csr first",
                         name, arcs, nodes, (bytes >> 20) + 1);
}

/* --- on disk --- */

static int begin_sorter(struct digraph_arcs *a, uint64_t memory) {
  const struct digraph_beyond *const beyond = a->beyond;
  const struct pems_sort_options options = {
      .size = sizeof(options),
      .record = {.size = sizeof(struct digraph_arc),
                 .key = PEMS_KEY_U32,
                 .key_offset = 0,
                 .stable = 1},
      .memory = memory,
      .threads = beyond->threads,
      .scratch = beyond->scratch,
  };
  return pems_sorter_new(&a->sorter, &options, a->error);
}

static int begin_outside(struct digraph_arcs *a, uint64_t memory) {
  const uint64_t nodes = memory_of_nodes(a->nodes);
  if (nodes >= memory || memory - nodes <= BUFFERS) {
    return digraph_failure(a->error, ENOMEM,
                           "%.300s: %" PRIu64 " nodes need %" PRIu64
                           "M of memory: give --memory more than that",
                           a->name, a->nodes, ((nodes + BUFFERS) >> 20) + 1);
  }
  a->first = digraph_memory(nodes, a->error);
  a->arc = a->first ? digraph_memory(BATCH * sizeof(*a->arc), a->error) : NULL;
  if (!a->arc) {
    return ENOMEM;
  }
  memset(a->first, 0, nodes);
  a->room = BATCH;
  return begin_sorter(a, memory - nodes - BUFFERS);
}

/* What the batch has goes to the sorter. */
static int push(struct digraph_arcs *a) {
  for (uint64_t i = 0; i < a->n; i++) {
    a->first[a->arc[i].from + 1ull]++;
  }
  const int code =
      a->n > 0 ? pems_sorter_push(a->sorter, a->arc, a->n, a->error) : 0;
  a->n = 0;
  return code;
}

/* All edges, in order, from the sorter: for digraph_write_csr_edges. */
static int write_edges(void *arg, struct digraph_out *out) {
  const struct digraph_arcs *const a = arg;
  const void *records;
  size_t n;
  for (;;) {
    const int code = pems_sorter_pull(a->sorter, &records, &n, a->error);
    if (code || n == 0) {
      return code;
    }
    const struct digraph_arc *const arc = records;
    for (size_t i = 0; i < n; i++) {
      digraph_out_bytes(out, &arc[i].to, sizeof(struct digraph_edge));
    }
  }
}

static int end_outside(struct digraph_arcs *a, struct digraph *g) {
  int code = push(a);
  if (!code) {
    code = pems_sorter_finish(a->sorter, a->error);
  }
  for (uint64_t v = 0; v < a->nodes; v++) {
    a->first[v + 1] += a->first[v];
  }
  g->nodes = a->nodes;
  g->edges = a->first[a->nodes];
  g->first = g->memory[0] = a->first;
  a->first = NULL;
  return code ? code
              : digraph_write_csr_edges(g, a->beyond->path, write_edges, a,
                                        a->error);
}

/* --- in memory or there --- */

int digraph_arcs_begin(struct digraph_arcs *a, const char *name, uint64_t nodes,
                       uint64_t expected, int both,
                       const struct digraph_budget *budget,
                       struct pems_error *error) {
  static const struct digraph_budget none;
  const struct digraph_budget *const b = budget ? budget : &none;
  const uint64_t bytes = needed(nodes, expected, both, sizeof(*a->arc));
  *a = (struct digraph_arcs){.name = name,
                             .nodes = nodes,
                             .both = both,
                             .error = error,
                             .most = expected};
  if (!b->memory || bytes <= b->memory) {
    return 0;
  }
  if (!b->beyond && expected == DIGRAPH_ARCS_UNKNOWN) {
    a->memory = b->memory; /* as many as fit */
    return 0;
  }
  if (!b->beyond) {
    return refuse(name, nodes, expected, bytes, error);
  }
  a->beyond = b->beyond;
  const int code = begin_outside(a, b->memory);
  if (code) {
    digraph_arcs_free(a);
  }
  return code;
}

static int grow(struct digraph_arcs *a) {
  uint64_t room = a->room ? 2 * a->room : ROOM_FIRST;
  room = room < a->most ? room : a->most;
  const uint64_t bytes = needed(a->nodes, room, a->both, sizeof(*a->arc));
  if (a->memory && bytes > a->memory) {
    return refuse(a->name, a->nodes, room, bytes, a->error);
  }
  if (room == a->room) {
    return digraph_failure(a->error, EINVAL,
                           "%.300s: more edges than it should have: %" PRIu64
                           ": get it again",
                           a->name, a->most);
  }
  struct digraph_arc *const arc = realloc(a->arc, room * sizeof(*arc));
  if (!arc) {
    return digraph_failure(a->error, ENOMEM,
                           "no memory for the edges of %.300s: %" PRIu64
                           " of them so far: give the machine more",
                           a->name, a->n);
  }
  a->arc = arc;
  a->room = room;
  return 0;
}

static int put(struct digraph_arcs *a, struct digraph_arc arc) {
  if (a->n == a->room) {
    const int code = a->beyond ? push(a) : grow(a);
    if (code) {
      return code;
    }
  }
  a->arc[a->n++] = arc;
  return 0;
}

int digraph_arcs_add(struct digraph_arcs *a, struct digraph_arc arc) {
  const int code = put(a, arc);
  if (code || !a->beyond || !a->both || arc.from == arc.to) {
    return code;
  }
  return put(a, (struct digraph_arc){arc.to, arc.from, arc.weight});
}

int digraph_arcs_end(struct digraph_arcs *a, struct digraph *g,
                     struct digraph_place *place) {
  *g = (struct digraph){0};
  int code = a->beyond ? 0
                       : digraph_from_edges(g, a->nodes, a->arc, a->n, a->both,
                                            a->error);
  g->place = g->memory[2] = place;
  if (a->beyond) {
    code = end_outside(a, g);
  }
  if (code) {
    digraph_free(g);
  }
  return code;
}

void digraph_arcs_free(struct digraph_arcs *a) {
  pems_sorter_free(a->sorter);
  free(a->arc);
  free(a->first);
  *a = (struct digraph_arcs){0};
}

/* --- arcs that can be asked for --- */

static int build_outside(struct digraph *g, struct digraph_arcs *a,
                         uint64_t arcs, digraph_arc_at *arc_at, void *arg) {
  int code = 0;
  for (uint64_t i = 0; i < arcs && !code; i++) {
    code = digraph_arcs_add(a, arc_at(arg, i));
  }
  if (!code) {
    code = digraph_arcs_end(a, g, NULL);
  }
  digraph_arcs_free(a);
  return code;
}

int digraph_arcs_build(struct digraph *g, const char *name, uint64_t nodes,
                       uint64_t arcs, digraph_arc_at *arc_at, void *arg,
                       int both, const struct digraph_budget *budget,
                       struct pems_error *error) {
  struct digraph_arcs a;
  *g = (struct digraph){0};
  /* There is no list of them: only the graph has to fit. */
  if (!budget || !budget->memory ||
      needed(nodes, arcs, both, 0) <= budget->memory) {
    return digraph_build(g, nodes, arcs, arc_at, arg, both, error);
  }
  const int code =
      digraph_arcs_begin(&a, name, nodes, arcs, both, budget, error);
  return code ? code : build_outside(g, &a, arcs, arc_at, arg);
}
