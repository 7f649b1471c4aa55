/* The formats, for graph_file.c. All return 0 or an errno value; options are
   complete (see graph_file.c). */
#ifndef APPS_GRAPH_GRAPH_FORMATS_H
#define APPS_GRAPH_GRAPH_FORMATS_H

#include "graph_file.h"

/* Leave nothing in g if they fail. */
int graph_read_csr(struct graph *g, const char *path,
                   const struct graph_read_options *o,
                   struct pems_error *error);
int graph_read_dimacs(struct graph *g, const char *path,
                      const struct graph_read_options *o,
                      struct pems_error *error);
int graph_read_matrix_market(struct graph *g, const char *path,
                             const struct graph_read_options *o,
                             struct pems_error *error);
int graph_read_snap(struct graph *g, const char *path,
                    const struct graph_read_options *o,
                    struct pems_error *error);

int graph_write_csr(const struct graph *g, const char *path,
                    struct pems_error *error);
int graph_write_dimacs(const struct graph *g, const char *path,
                       struct pems_error *error);
int graph_write_matrix_market(const struct graph *g, const char *path,
                              struct pems_error *error);
int graph_write_snap(const struct graph *g, const char *path,
                     struct pems_error *error);
int graph_write_galois(const struct graph *g, const char *path,
                       struct pems_error *error);
int graph_write_gap(const struct graph *g, const char *path,
                    struct pems_error *error);

#endif
