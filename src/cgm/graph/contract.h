/* Graphs that become smaller: nodes hook onto neighbours, round by round. */
#ifndef PEMS_CGM_GRAPH_CONTRACT_H
#define PEMS_CGM_GRAPH_CONTRACT_H

#include "cgm/graph/graph.h"
#include "cgm/graph/local_forest.h"

#include <stdbool.h>

/* What the search for components has come to. */
struct cgm_fusion {
  struct pems_cgm *machine;
  uint64_t nodes;
  uint64_t few;   /* nodes that may come to one rank */
  uint64_t first; /* node of this rank */
  const struct pems_cgm_list *edges;
  int cover;
  uint64_t *behind;             /* by rank: edges of it and those before */
  struct pems_cgm_list links;   /* struct cgm_link */
  struct pems_cgm_list parents; /* by node: itself, or what it hooked onto */
  struct pems_cgm_list rounds;  /* by node: unsigned char: when; 0: not */
  struct pems_cgm_list forest;  /* uint64_t: edges */
  struct pems_cgm_list hooks;   /* of the round; struct cgm_hook, by child */
  int lent; /* the first hook is that of a group that has begun before */
  bool forest_wanted;
  unsigned char round;
  struct cgm_border *borders; /* v */
};

/* Rounds, until there are at most f->few nodes with links, each of which then
   stands once. f->round: of the stars so far. An error of MPI's, the same in
   all ranks. */
int pems_cgm_contract(struct cgm_fusion *f);
/* Owners of nodes note what those have hooked onto in this round; the list
   (struct cgm_hook) is freed. */
int pems_cgm_note_hooks(struct cgm_fusion *f, struct pems_cgm_list *hooks);
/* For pems_cgm_send: the rank of a hook's child; `arg` is a struct cgm_fusion.
 */
int pems_cgm_owner_of_hook(void *arg, const void *hook);

#endif
