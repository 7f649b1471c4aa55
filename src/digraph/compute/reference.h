/* What the graph programs are checked against: one thread, textbook
   algorithms. All return 0, or ENOMEM. */
#ifndef PEMS_DIGRAPH_REFERENCE_H
#define PEMS_DIGRAPH_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "digraph/digraph.h"

#define REFERENCE_FAR UINT64_MAX       /* no path */
#define REFERENCE_FAR_LEVEL UINT32_MAX /* the same, of levels */

/* Dijkstra: the distances of all nodes from `source`, and how many there is a
   path to: as many tasks run in strict order. */
int reference_distances(const struct digraph *g, uint32_t source,
                        uint64_t *dist, uint64_t *settled);

/* Breadth-first search: edges of the path with the fewest. */
int reference_levels(const struct digraph *g, uint32_t source, uint32_t *level,
                     uint64_t *reached);

/* At most the distance from `node` to the target, and consistent. */
typedef uint64_t reference_guess_fn(const void *arg, uint32_t node);
/* A*: the distance from source to target, and the nodes settled before it. A
   `guess` of NULL is 0 everywhere: Dijkstra that stops early. */
int reference_route(const struct digraph *g, uint32_t source, uint32_t target,
                    reference_guess_fn *guess, const void *arg, uint64_t *dist,
                    uint64_t *settled);

/* Power iteration, x(v) = 1 - damping + damping * (sum of x(u) / edges of u,
   over the edges that lead from u to v). *rounds: those until no rank changed
   by more than epsilon; it goes on until the sum of all changes is at most
   epsilon / 1000 per node. `normalized`: x(v) = (1 - damping) / n + damping *
   (that sum + the ranks of nodes without edges / n), which add up to 1, and
   epsilon / n instead. */
int reference_ranks(const struct digraph *g, double damping, double epsilon,
                    bool normalized, double *rank, uint64_t *rounds);

/* Kruskal: weight and number of the edges of a minimum spanning forest; edges
   lead both ways. */
int reference_forest(const struct digraph *g, uint64_t *weight,
                     uint64_t *edges);

#endif
