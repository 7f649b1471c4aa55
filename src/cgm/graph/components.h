/* The work behind pems_cgm_components and pems_cgm_bipartite. */
#ifndef PEMS_CGM_GRAPH_COMPONENTS_H
#define PEMS_CGM_GRAPH_COMPONENTS_H

#include "cgm/graph/graph.h"

/* As pems_cgm_components. If `cover`, of the graph's double cover: it has nodes
   2u and 2u + 1 for each node u, and for each edge u, v those from 2u to 2v + 1
   and from 2u + 1 to 2v; it has no forest. */
int pems_cgm_find_components(struct pems_cgm *machine, uint64_t nodes,
                             const struct pems_cgm_list *edges, int cover,
                             struct pems_cgm_list *components,
                             struct pems_cgm_list *forest);

#endif
