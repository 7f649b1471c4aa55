/* Graphs that the command line describes. */
#ifndef PEMS_WRAPPERS_GRAPH_JOB_GENERATE_H
#define PEMS_WRAPPERS_GRAPH_JOB_GENERATE_H

#include "digraph/digraph.h"

#define JOB_GENERATE_HELP                                                      \
  "SPEC  make a graph up, of these, with any of their options:\n"              \
  "      road:nodes=N,degree=X,seed=N\n"                                       \
  "      rmat:scale=N,factor=N,least=N,most=N,undirected=1,permute=1,seed=N\n" \
  "      uniform:nodes=N,arcs=N,least=N,most=N,undirected=1,seed=N"

/* Makes the graph that `spec` describes (see generate.h), or says what is wrong
   with it: 0 or an errno value. */
int job_generate(struct digraph *g, const char *spec, struct pems_error *error);

#endif
