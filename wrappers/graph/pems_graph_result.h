/* What pems-graph writes about nodes or edges: a row for each, as text, CSV or
   binary. */
#ifndef PEMS_WRAPPERS_PEMS_GRAPH_RESULT_H
#define PEMS_WRAPPERS_PEMS_GRAPH_RESULT_H

#include "digraph/digraph_out.h"

enum graph_result_format {
  GRAPH_RESULT_TEXT,
  GRAPH_RESULT_CSV,
  GRAPH_RESULT_BINARY
};

struct graph_result {
  struct digraph_out out;
  struct pems_error error;
  enum graph_result_format format;
};

enum graph_value_kind {
  GRAPH_INDEX, /* the row's number: not in binary files, where it is implied */
  GRAPH_U64,   /* UINT64_MAX: none, "inf" */
  GRAPH_U32,
  GRAPH_NODE, /* of 32 bits; UINT32_MAX: none, "-" */
  GRAPH_F64,
};

struct graph_value {
  enum graph_value_kind kind;
  uint64_t whole;
  double real;
};

/* Where results would go: a word for the format, or NULL where the end of the
   name says it (.csv, .bin, else text). Or the process ends. */
enum graph_result_format graph_result_format(const char *word,
                                             const char *path);

/* These end the process where something fails. `names`: of the columns, as
   "node,distance". */
void graph_result_open(struct graph_result *r, const char *path,
                       enum graph_result_format format, const char *names);
void graph_result_row(struct graph_result *r, const struct graph_value *value,
                      int n);
void graph_result_close(struct graph_result *r);

#endif
