/* The formats, for digraph_file.c. All return 0 or an errno value; options are
   complete (see digraph_file.c). */
#ifndef PEMS_DIGRAPH_DIGRAPH_FORMATS_H
#define PEMS_DIGRAPH_DIGRAPH_FORMATS_H

#include "digraph/digraph_file.h"

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

#endif
