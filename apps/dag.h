/* Directed acyclic graphs for time-forward processing: made up, or in a file.
   Nodes are numbered topologically, and layer by layer: no edge stays within a
   layer. Neither nodes nor edges are ever in memory.

   Made up: `nodes` nodes in `layers` layers of about the same size; each node
   has from 0 to 2 * `degree` edges, each to any node of one of the `reach`
   layers that follow its own. All of it depends on `seed` alone.

   A file has, in this machine's byte order, 8 bytes "PEMSDAG1"; the numbers of
   nodes, edges and layers; for each layer the first node behind it; and for
   each edge the two nodes from and to, sorted by `from`: numbers of 8 bytes.
   dag_file writes them. */
#ifndef APPS_DAG_H
#define APPS_DAG_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <pems/status.h>

#include "keys.h"

#define DAG_MAGIC "PEMSDAG1"

enum { DAG_DEGREE_MOST = 1024 };

struct dag_edge {
  uint64_t from, to;
};

struct dag_header {
  char magic[8];
  uint64_t nodes, edges, layers;
};

struct dag {
  uint64_t nodes, layers;
  uint64_t degree, reach, seed; /* of those made up */
  const char *path;             /* of a file, or NULL */

  uint64_t width; /* nodes of a layer, but for the last */
  uint64_t key;   /* made of the seed */
  uint64_t edges; /* in the file */

  /* Where a scan of the edges is. */
  FILE *edge_file, *layer_file;
  uint64_t node, degree_left; /* made up: of `node` so many are to come yet */
  uint64_t left;              /* in the file */
};

/* The options for a struct dag. */
#define SETTINGS_DAG(d)                                                        \
  {"nodes", SETTING_COUNT, &(d)->nodes, "N       of a graph made up"},         \
      {"layers", SETTING_COUNT, &(d)->layers, "N      of it"},                 \
      {"degree", SETTING_COUNT, &(d)->degree, "N      edges per node"},        \
      {"reach", SETTING_COUNT, &(d)->reach,                                    \
       "N       layers that an edge goes on, at most"},                        \
  {                                                                            \
    "seed", SETTING_COUNT, &(d)->seed, "N        of the graph"                 \
  }

/* What SETTINGS_DAG's are if they are not given. */
#define DAG_DEFAULTS                                                           \
  { .nodes = 100000, .layers = 100, .degree = 4, .reach = 10, .seed = 1 }

/* Looks at the options or opens the file; ends the program where they make no
   sense. */
void dag_open(struct dag *dag);
void dag_close(struct dag *dag);
/* Begins a scan of edges and layers. */
void dag_rewind(struct dag *dag);

/* Callbacks of pems_tfp_run, with the dag as their argument. */
int dag_edges(void *dag, void *edges, size_t room, size_t *n,
              struct pems_error *error);
int dag_layer(void *dag, uint64_t first, uint64_t *next,
              struct pems_error *error);
/* As dag_edges, but ends the program on a failure; returns n. */
size_t dag_read(struct dag *dag, struct dag_edge *edges, size_t room);

/* --- of graphs made up --- */

/* How many edges a node has, at most DAG_DEGREE_MOST. */
uint64_t dag_degree(const struct dag *dag, uint64_t node);
/* Its edge i. */
struct dag_edge dag_edge_at(const struct dag *dag, uint64_t node, uint64_t i);

/* A number that belongs to the edge: 1 to 1000. */
static inline uint64_t dag_weight(const struct dag_edge *edge) {
  return 1 + key_mix(edge->from * 0x9e3779b97f4a7c15u ^ edge->to) % 1000;
}

#endif
