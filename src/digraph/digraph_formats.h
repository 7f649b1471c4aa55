/* The formats, for digraph_file.c. All return 0 or an errno value; options are
   complete (see digraph_file.c). */
#ifndef PEMS_DIGRAPH_DIGRAPH_FORMATS_H
#define PEMS_DIGRAPH_DIGRAPH_FORMATS_H

#include <stdbool.h>

#include "digraph/digraph_file.h"
#include "digraph/digraph_out.h"

/* Leave nothing in g if they fail. */
int digraph_read_csr(struct digraph *g, const char *path,
                     const struct digraph_read_options *o,
                     struct pems_error *error);
int digraph_read_dimacs(struct digraph *g, const char *path,
                        const struct digraph_read_options *o,
                        struct pems_error *error);
int digraph_read_matrix_market(struct digraph *g, const char *path,
                               const struct digraph_read_options *o,
                               struct pems_error *error);
int digraph_read_snap(struct digraph *g, const char *path,
                      const struct digraph_read_options *o,
                      struct pems_error *error);
int digraph_read_metis(struct digraph *g, const char *path,
                       const struct digraph_read_options *o,
                       struct pems_error *error);
int digraph_read_ldbc(struct digraph *g, const char *path,
                      const struct digraph_read_options *o,
                      struct pems_error *error);
int digraph_read_galois(struct digraph *g, const char *path,
                        const struct digraph_read_options *o,
                        struct pems_error *error);
int digraph_read_gap(struct digraph *g, const char *path,
                     const struct digraph_read_options *o,
                     struct pems_error *error);
int digraph_read_gap_weighted(struct digraph *g, const char *path,
                              const struct digraph_read_options *o,
                              struct pems_error *error);

/* Whether a file, which may be compressed, begins as Galois' graphs do: their
   names end like those of DIMACS. */
bool digraph_is_galois(const char *path);

int digraph_write_csr(const struct digraph *g, const char *path,
                      struct pems_error *error);
int digraph_write_dimacs(const struct digraph *g, const char *path,
                         struct pems_error *error);
int digraph_write_matrix_market(const struct digraph *g, const char *path,
                                struct pems_error *error);
int digraph_write_snap(const struct digraph *g, const char *path,
                       struct pems_error *error);
int digraph_write_galois(const struct digraph *g, const char *path,
                         struct pems_error *error);
int digraph_write_gap(const struct digraph *g, const char *path,
                      struct pems_error *error);
int digraph_write_gap_weighted(const struct digraph *g, const char *path,
                               struct pems_error *error);
int digraph_write_metis(const struct digraph *g, const char *path,
                        struct pems_error *error);
int digraph_write_ldbc(const struct digraph *g, const char *path,
                       struct pems_error *error);

/* Writes all edges of a graph, row by row. 0 or an errno value. */
typedef int digraph_csr_edges(void *arg, struct digraph_out *out);
/* A .csr of a graph whose edges are elsewhere; then they are in that file. */
int digraph_write_csr_edges(struct digraph *g, const char *path,
                            digraph_csr_edges *edges, void *arg,
                            struct pems_error *error);

#endif
