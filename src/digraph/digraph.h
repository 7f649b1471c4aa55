/* Graphs in compressed sparse rows. */
#ifndef PEMS_DIGRAPH_DIGRAPH_H
#define PEMS_DIGRAPH_DIGRAPH_H

#include <stddef.h>
#include <stdint.h>

#include <pems/status.h>

struct digraph_edge {
  uint32_t to;     /* node, from 0 */
  uint32_t weight; /* 1 where the input has none */
};

/* Where a node is, in any unit (A* finds out how many units of weight one is
   worth at least). */
struct digraph_place {
  int32_t x, y;
};

struct digraph {
  uint64_t nodes;        /* at most UINT32_MAX */
  uint64_t edges;        /* directed */
  const uint64_t *first; /* nodes + 1: where a node's edges begin in `edge` */
  const struct digraph_edge *edge;   /* NULL: they are in the file, ... */
  uint64_t edge_at;                  /* ... from this byte on (see rows.h) */
  const struct digraph_place *place; /* nodes of them, or NULL */
  /* The memory: allocated, or a mapped file of `mapped` bytes. */
  void *memory[3];
  void *map;
  size_t mapped;
};

/* Frees or unmaps what it has, and sets all to 0. */
void digraph_free(struct digraph *g);

/* --- making one --- */

/* An edge with both of its ends, as lists have them. */
struct digraph_arc {
  uint32_t from, to, weight;
};

/* Where arcs come from: arc i of them, the same however often it is asked. */
typedef struct digraph_arc digraph_arc_at(void *arg, uint64_t i);

/* Makes the graph of `arcs` arcs, all between nodes below `nodes`, and of their
   reverses too where `both` says so (not of loops: those are there once). A
   node's edges are in the order of the arcs. Asks for each arc twice, in order,
   and needs no memory but the graph's. Returns 0 or ENOMEM or EINVAL (too many
   nodes or arcs), and then leaves nothing in g; so do those below. */
int digraph_build(struct digraph *g, uint64_t nodes, uint64_t arcs,
                  digraph_arc_at *arc_at, void *arg, int both,
                  struct pems_error *error);

/* The same, of a list. */
int digraph_from_edges(struct digraph *g, uint64_t nodes,
                       const struct digraph_arc *arcs, uint64_t n, int both,
                       struct pems_error *error);

/* Makes the graph of all edges of g turned round. It has no places. */
int digraph_transpose(const struct digraph *g, struct digraph *turned,
                      struct pems_error *error);

/* Allocates the arrays of a graph of this size, for a caller who fills them in
   by the pointers in `memory`: first, edge and place (if `places`). The first
   nodes + 1 offsets are 0, the rest is not set. */
int digraph_allocate(struct digraph *g, uint64_t nodes, uint64_t edges,
                     int places, struct pems_error *error);

/* Memory for large arrays that are read at random: `bytes` of it, or NULL and
   an error. Freed with free. */
void *digraph_memory(uint64_t bytes, struct pems_error *error);

/* Fills in *error, if it is there, and returns `code`. */
int digraph_failure(struct pems_error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* --- what a graph is like --- */

/* Connected components, with edges taken as undirected: how many there are, and
   the nodes of the largest. */
struct digraph_components {
  uint64_t count;
  uint64_t largest;
};

int digraph_components(const struct digraph *g,
                       struct digraph_components *found,
                       struct pems_error *error);

/* Node numbers in sets that are joined, each known by its least number: parent
   is where a number's set goes on, itself at the end. */
uint32_t digraph_set_find(uint32_t *parent, uint32_t node);
void digraph_set_join(uint32_t *parent, uint32_t a, uint32_t b);

#endif
