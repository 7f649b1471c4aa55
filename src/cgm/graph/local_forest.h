/* Spanning forests of a few edges, on one rank. */
#ifndef PEMS_CGM_GRAPH_LOCAL_FOREST_H
#define PEMS_CGM_GRAPH_LOCAL_FOREST_H

#include "cgm/graph/graph.h"

/* An edge of a graph that is contracted, and which edge of the graph it is. */
struct cgm_link {
  uint64_t end[2];
  uint64_t edge;
};

/* A node that has become part of another one. */
struct cgm_hook {
  uint64_t child, parent;
};

/* Of links only those stay that make a spanning forest: the first ones. hooks,
   if not NULL: for each node of theirs that is not the smallest of its tree a
   hook onto that, by child. Not collective. */
int pems_cgm_unite(struct pems_cgm *machine, struct pems_cgm_list *links,
                   struct pems_cgm_list *hooks);

#endif
