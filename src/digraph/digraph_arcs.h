/* Arcs as a reader or a generator has them, one after the other, until a graph
   is made of them: in memory; or, where they do not fit, on disk, sorted by the
   node that they begin at, into a .csr that the graph's edges stay in. Both
   ways give the same graph, its edges in the same order. */
#ifndef PEMS_DIGRAPH_DIGRAPH_ARCS_H
#define PEMS_DIGRAPH_DIGRAPH_ARCS_H

#include <pems/sort.h>

#include "digraph/digraph.h"

/* Where edges may go that do not fit in memory. */
struct digraph_beyond {
  const char *path;                  /* the .csr */
  struct pems_disks_options scratch; /* of the sorter */
  int threads;                       /* 0: one per core */
};

struct digraph_budget {
  uint64_t memory;                     /* bytes; 0: no limit */
  const struct digraph_beyond *beyond; /* NULL: what does not fit is refused */
};

struct digraph_arcs {
  const char *name; /* of the graph, for errors */
  uint64_t nodes;
  int both; /* add the reverse of each, not of loops */
  struct pems_error *error;
  /* In memory all of them; else those that are not in the sorter yet. */
  struct digraph_arc *arc;
  uint64_t n, room, most; /* of those: most that there may be */
  uint64_t memory;        /* that they must not exceed; 0: they will not */
  /* On disk only: */
  const struct digraph_beyond *beyond; /* NULL: in memory */
  struct pems_sorter *sorter;
  uint64_t *first; /* nodes + 1: in [v + 1] how many begin at v */
};

/* For `expected` arcs or less (more are refused in memory) between so many
   nodes, or DIGRAPH_ARCS_UNKNOWN. Whether they fit is decided here. `budget`
   may be NULL: no limit. 0 or an errno value, and nothing is to be freed then.
 */
#define DIGRAPH_ARCS_UNKNOWN UINT64_MAX
int digraph_arcs_begin(struct digraph_arcs *a, const char *name, uint64_t nodes,
                       uint64_t expected, int both,
                       const struct digraph_budget *budget,
                       struct pems_error *error);

/* Both of its nodes must be below `nodes`. 0 or an errno value. */
int digraph_arcs_add(struct digraph_arcs *a, struct digraph_arc arc);

/* Makes the graph. Where its edges are in the file, that is complete, and g is
   as if it had been read with its edges outside (g->edge is NULL). `place`:
   where the nodes are, the graph's from now on; or NULL. 0 or an errno value:
   then there is nothing in g, and `place` is freed. */
int digraph_arcs_end(struct digraph_arcs *a, struct digraph *g,
                     struct digraph_place *place);

/* Frees all but the graph. */
void digraph_arcs_free(struct digraph_arcs *a);

/* As digraph_build, within the budget. */
int digraph_arcs_build(struct digraph *g, const char *name, uint64_t nodes,
                       uint64_t arcs, digraph_arc_at *arc_at, void *arg,
                       int both, const struct digraph_budget *budget,
                       struct pems_error *error);

#endif
