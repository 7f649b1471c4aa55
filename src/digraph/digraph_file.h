/* Graphs in files. The format is told by the name's end, or by the caller:

     .csr          compressed sparse rows as they lie in memory; it is mapped
     .gr           DIMACS, shortest paths; coordinates in a .co; or Galois', as
                   the file begins
     .mtx          Matrix Market, coordinate
     .txt, .el     an edge list, as SNAP has them
     .e            LDBC Graphalytics, with a .v and a .properties beside it
     .graph        METIS
     .galois       Galois' binary graph, version 1 or 2, weights of 32 bits
     .sg, .wsg     GAP's serialized graph, without and with weights

   All but .csr may be compressed when they are read (digraph_input.h). */
#ifndef PEMS_DIGRAPH_DIGRAPH_FILE_H
#define PEMS_DIGRAPH_DIGRAPH_FILE_H

#include <stdio.h>

#include "digraph/digraph.h"
#include "digraph/digraph_arcs.h"
#include "digraph/generate.h"

enum digraph_format {
  DIGRAPH_BY_NAME,
  DIGRAPH_CSR,
  DIGRAPH_DIMACS,
  DIGRAPH_MATRIX_MARKET,
  DIGRAPH_SNAP,
  DIGRAPH_LDBC,
  DIGRAPH_METIS,
  DIGRAPH_GALOIS,
  DIGRAPH_GAP,
  DIGRAPH_GAP_WEIGHTED,
};

/* All may be 0 or NULL. */
struct digraph_read_options {
  enum digraph_format format;
  const char *places; /* the .co of a .gr; NULL: the one beside it, if any */
  int both;           /* add each edge's reverse, where a format has not both
                         ways anyway; not for a .csr */
  double scale;       /* weights are real numbers times this, rounded; 0: 1 */
  /* Random weights where a file has none, by this seed; {0, 0}: all are 1. */
  struct generate_weights weights;
  uint64_t seed;
  int load;    /* a .csr: read it into memory (of huge pages), do not map it */
  int outside; /* a .csr: leave its edges in the file */
  struct digraph_budget budget; /* but for a .csr */
  FILE *notes; /* told what was done to the graph, if anything; NULL: nothing */
};

/* Reads a graph. Nothing in a file is trusted: whatever is wrong with it ends
   in an error "<path>:<line>: <what>: <what to do>", of code EINVAL. (But a
   file that is mapped must not be cut short while it is used.) Of binary files
   the place is told by node. Where the budget sends edges to a .csr, that is
   written, and they stay in it. `options` may be NULL. Returns 0 or an errno
   value. */
int digraph_read(struct digraph *g, const char *path,
                 const struct digraph_read_options *options,
                 struct pems_error *error);

/* Writes a graph, under another name until it is complete. DIMACS: the places,
   if there are any, to a .co beside it; LDBC: .v and .properties, too. Returns
   0 or an errno value. */
int digraph_write(const struct digraph *g, const char *path,
                  enum digraph_format format, struct pems_error *error);

/* Whether digraph_write knows the format: for callers who have much to do
   before. 0 or EINVAL. */
int digraph_write_check(const char *path, enum digraph_format format,
                        struct pems_error *error);

/* The names that digraph_format_named knows, for messages. */
#define DIGRAPH_FORMATS "csr, dimacs, mtx, snap, ldbc, metis, galois, sg or wsg"

/* The format of a file: `format`, or what the name's end says. */
enum digraph_format digraph_format_of(const char *path,
                                      enum digraph_format format);

/* The format of this name (see DIGRAPH_FORMATS);
   DIGRAPH_BY_NAME if there is none. */
enum digraph_format digraph_format_named(const char *name);

#endif
