/* Contraction of linked lists and cycles that are spread over the ranks, until
   few nodes are left, which one rank orders; then all learn their places (list
   ranking of Dehne, Ferreira, Caceres, Song and Roncato 2002).

   What a rank can follow within its own share it contracts at once: after that
   every link leads to another rank. So ranks colour the list: for a set S of
   ranks, the nodes outside S whose predecessors are in S are no neighbours, and
   can all be taken out by their predecessors at once. Of the 2v sets of
   pems_cgm_in_set the best one, which is found from sums over all ranks, takes
   out a quarter of the nodes or more: without chance, whatever the list is. */
#ifndef PEMS_CGM_GRAPH_LIST_CONTRACTION_H
#define PEMS_CGM_GRAPH_LIST_CONTRACTION_H

#include "cgm/graph/graph.h"

enum cgm_hop_state {
  CGM_HOP_LIVE,
  CGM_HOP_LED,     /* live, and the link to it comes from this rank */
  CGM_HOP_FOLDED,  /* taken out by `next`, a node of this rank before it */
  CGM_HOP_REMOVED, /* taken out by a node of another rank */
  CGM_HOP_DONE,
};

/* A node and its way to `next`. Once done: its place.

   In lists, `next` of a node that is done is the last node of its list, and
   steps and distance lead to it. In cycles, every node has a key; the leader is
   the node with the smallest. `next` of a node that is done is the leader's
   key, `steps` lead to the leader (0 for itself), `length` is the cycle's. */
struct cgm_hop {
  uint64_t next;
  uint64_t steps;
  union {
    int64_t distance; /* lists */
    uint64_t key;     /* cycles: the smallest on the way before next */
    uint64_t length;  /* cycles, once done */
  };
  uint64_t leader : 48; /* cycles: steps to the node that has the key */
  uint64_t round : 8;   /* in which it was taken out */
  uint64_t state : 8;   /* enum cgm_hop_state */
};

struct cgm_chain {
  struct pems_cgm *machine;
  uint64_t nodes; /* of all ranks */
  uint64_t unit;  /* neighbouring nodes that share a rank: nodes / unit such
                     groups are spread evenly */
  int cycles;     /* there are cycles only; otherwise they are errors */
  struct pems_cgm_list hops; /* this rank's, struct cgm_hop */
};

int pems_cgm_chain_owner(const struct cgm_chain *chain, uint64_t node);
uint64_t pems_cgm_chain_first(const struct cgm_chain *chain);

/* All nodes become done. No node may have two predecessors. MPI_ERR_ARG for a
   cycle where there may be none. On an error the hops are freed. */
int pems_cgm_chain_contract(struct cgm_chain *chain);

#endif
