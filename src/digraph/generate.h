/* Graphs that are made up, of the kinds that Table 4 of the paper has. They
   depend on the options alone: the same seed gives the same graph everywhere.
   All return 0 or an errno value (see pems/status.h). */
#ifndef PEMS_DIGRAPH_GENERATE_H
#define PEMS_DIGRAPH_GENERATE_H

#include "digraph/digraph.h"
#include "digraph/digraph_arcs.h"

/* Mixes all bits, one to one: the finalizer of splitmix64 (Steele, Lea and
   Flood, Fast splittable pseudorandom number generators, 2014). */
static inline uint64_t generate_mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/* Like a road network: a grid with holes, whose cells have widths from 16 to
   2^17, evenly on a logarithmic scale; every 8th street is an arterial that
   nothing interrupts. Edges go both ways; a weight is an edge's Euclidean
   length times up to 1.3, rounded up, so that no way is shorter than the
   straight line. It is connected, and nodes are numbered row by row. */
struct generate_road {
  uint64_t nodes; /* about; at most 2^31; 0: 1 << 20 */
  double degree;  /* mean out-degree, 2.2 to 3.9, about; 0: 2.4 */
  uint64_t seed;
};

int generate_road(struct digraph *g, const struct generate_road *o,
                  struct pems_error *error);

/* Weights are in [least, most], any as likely; both 0: 1 to 100. */
struct generate_weights {
  uint32_t least, most;
};

/* The weight of something with this random number. */
uint32_t generate_weight(const struct generate_weights *w, uint64_t random);
/* That of edges between two nodes, the same both ways; 1 where w->most is 0. */
uint32_t generate_weight_between(const struct generate_weights *w,
                                 uint64_t seed, uint32_t a, uint32_t b);

/* Power-law degrees: the recursive matrix of Chakrabarti, Zhan and Faloutsos
   (R-MAT, SDM 2004). Loops and several edges between two nodes stay. */
struct generate_rmat {
  int scale;       /* 2^scale nodes, 1 to 31; 0: 20 */
  uint64_t factor; /* arcs per node; 0: 16 */
  double a, b, c;  /* of the quarters; all 0: .57, .19, .19 */
  struct generate_weights weights;
  int permute; /* shuffle the nodes' numbers */
  int both;    /* each arc's reverse, too */
  uint64_t seed;
  struct digraph_budget budget;
};

int generate_rmat(struct digraph *g, const struct generate_rmat *o,
                  struct pems_error *error);

/* Every arc is as likely (Erdos and Renyi), without loops; several between two
   nodes may be. */
struct generate_uniform {
  uint64_t nodes; /* at least 2; 0: 1 << 20 */
  uint64_t arcs;  /* 0: 4 times the nodes */
  struct generate_weights weights;
  int both; /* each arc's reverse, too */
  uint64_t seed;
  struct digraph_budget budget;
};

int generate_uniform(struct digraph *g, const struct generate_uniform *o,
                     struct pems_error *error);

#endif
