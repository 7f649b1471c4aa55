/* Graphs in compressed sparse rows. */
#ifndef APPS_GRAPH_GRAPH_H
#define APPS_GRAPH_GRAPH_H

#include <stddef.h>
#include <stdint.h>

struct graph_edge {
  uint32_t to;     /* node, from 0 */
  uint32_t weight; /* 1 where the input has none */
};

/* Where a node is, in any unit (A* finds out how many units of weight one is
   worth at least). */
struct graph_place {
  int32_t x, y;
};

struct graph {
  uint64_t nodes;        /* at most UINT32_MAX */
  uint64_t edges;        /* directed */
  const uint64_t *first; /* nodes + 1: where a node's edges begin in `edge` */
  const struct graph_edge *edge;
  const struct graph_place *place; /* nodes of them, or NULL */
  /* The memory: allocated, or a mapped file of `mapped` bytes. */
  void *memory[3];
  void *map;
  size_t mapped;
};

/* Frees or unmaps what it has, and sets all to 0. */
void graph_free(struct graph *g);

#endif
