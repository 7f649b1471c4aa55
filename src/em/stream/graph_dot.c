/* Drawing a graph, in Graphviz' language. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "config/options.h"
#include "config/size.h"
#include "em/stream/graph.h"

static const char *const shapes[] = {
    [LOOK_SCAN] = "box",           [LOOK_SORTER] = "invtrapezium",
    [LOOK_FILE] = "circle",        [LOOK_ASYNC] = "octagon",
    [LOOK_DEAL] = "parallelogram",
};

/* A name between quotes. */
static void print_quoted(FILE *f, const char *text) {
  for (; *text; text++) {
    if (*text == '"' || *text == '\\') {
      fputc('\\', f);
    }
    fputc(*text == '\n' ? ' ' : *text, f);
  }
}

/* A sorter whose input is pushed is drawn as two: the run creator and the
   merger. */
static bool is_split(const struct pems_node *n) {
  return n->kind->cut == CUT_SORTER && n->inputs && n->in_connected &&
         node_in(n)->push;
}

static bool planned(const struct pems_graph *g) {
  return g->state != GRAPH_NEW;
}

static bool ran(const struct pems_graph *g) {
  return g->state >= GRAPH_RUNNING;
}

/* --- nodes --- */

static void print_bytes(FILE *f, const char *what, uint64_t bytes) {
  char text[16];
  if (bytes) {
    fprintf(f, "\\n%s %s", what, size_format(bytes, text, sizeof(text)));
  }
}

/* Of a sorter, for forming runs, merging, or both. */
enum { FORMS = 1, MERGES = 2 };

static void print_plan(FILE *f, const struct pems_node *n, int does,
                       const struct pems_node_counts *c) {
  if (does & FORMS) {
    print_bytes(f, n->kind->cut == CUT_SORTER ? "form" : "buffers", c->memory);
  }
  if (does & MERGES) {
    print_bytes(f, "merge", c->merge_memory);
  }
  const int threads = does & FORMS ? c->threads : c->merge_threads;
  if (threads) {
    fprintf(f, "\\n%d thread%s", threads, threads > 1 ? "s" : "");
  }
}

static void print_counts(FILE *f, const struct pems_node_counts *c,
                         int inputs) {
  char text[16];
  if (c->runs) {
    fprintf(f, "\\n%" PRIu64 " run%s, %d pass%s", c->runs,
            c->runs > 1 ? "s" : "", c->passes, c->passes == 1 ? "" : "es");
  }
  const uint64_t records = inputs ? c->records_in : c->records_out;
  const uint64_t bytes = inputs ? c->bytes_in : c->bytes_out;
  fprintf(f, "\\n%llu records, %s", (unsigned long long)records,
          size_format(bytes, text, sizeof(text)));
  if (c->seconds > 0) {
    fprintf(f, "\\n%.3f s", c->seconds);
  }
  if (c->wait_seconds > 0) {
    fprintf(f, "\\n%.3f s waiting", c->wait_seconds);
  }
}

static void print_node(FILE *f, const struct pems_node *n, int does) {
  static const char *const parts[] = {
      [FORMS] = "\\nruns", [MERGES] = "\\nmerging", [FORMS | MERGES] = ""};
  struct pems_node_counts counts;
  fprintf(f, "    n%d%s [shape=%s, label=\"", n->number,
          does == MERGES ? "m" : "", shapes[n->kind->look]);
  print_quoted(f, n->name);
  fprintf(f, "%s", parts[does]);
  pems_node_counts(n, &counts);
  if (planned(n->graph)) {
    print_plan(f, n, does, &counts);
  }
  if (ran(n->graph)) {
    print_counts(f, &counts, n->inputs);
  }
  fprintf(f, "\"];\n");
}

/* The part of node n that is in that phase. */
static void print_in_phase(FILE *f, const struct pems_graph *g,
                           const struct pems_node *n, int phase) {
  const int in = planned(g) ? g->component[n->component[SIDE_IN]].phase : 0;
  const int out = planned(g) ? g->component[n->component[SIDE_OUT]].phase : 0;
  if (!is_split(n)) {
    if (in == phase) {
      print_node(f, n, FORMS | MERGES);
    }
    return;
  }
  if (in == phase) {
    print_node(f, n, FORMS);
  }
  if (out == phase) {
    print_node(f, n, MERGES);
  }
}

static void print_phase(FILE *f, const struct pems_graph *g, int phase) {
  fprintf(f, "  subgraph cluster_%d {\n    label=\"phase %d\";\n", phase,
          phase);
  for (const struct pems_node *n = g->first; n; n = n->next) {
    print_in_phase(f, g, n, phase);
  }
  fprintf(f, "  }\n");
}

/* --- edges --- */

static void print_edge(FILE *f, const struct graph_edge *e) {
  fprintf(f, "  n%d%s -> n%d [style=%s", e->from->number,
          is_split(e->from) ? "m" : "", e->to->number,
          e->push ? "dashed" : "solid");
  if (e->size) {
    fprintf(f, ", tooltip=\"%zu bytes\"", e->size);
  }
  if (e->type) {
    fprintf(f, ", label=\"");
    print_quoted(f, e->type);
    fprintf(f, "\"");
  }
  fprintf(f, "];\n");
}

static void print_edges(FILE *f, const struct pems_graph *g) {
  for (const struct graph_edge *e = g->edges; e; e = e->next) {
    print_edge(f, e);
  }
  for (const struct pems_node *n = g->first; n; n = n->next) {
    if (is_split(n)) {
      fprintf(f, "  n%d -> n%dm [arrowhead=none, penwidth=3];\n", n->number,
              n->number);
    }
    if (n->starter) {
      fprintf(f, "  n%d -> n%d [style=dotted, constraint=false];\n",
              n->starter->number, n->number);
    }
  }
}

static void print_totals(FILE *f, const struct pems_graph *g) {
  char text[16];
  fprintf(f, "  label=\"%s, %d thread%s",
          size_format(g->o.memory, text, sizeof(text)), g->o.threads,
          g->o.threads > 1 ? "s" : "");
  if (g->error.code) {
    fprintf(f, "\\n");
    print_quoted(f, g->error.text);
  }
  fprintf(f, "\";\n");
}

int pems_graph_dot(const struct pems_graph *graph, FILE *file) {
  if (!graph || !file) {
    return EINVAL;
  }
  fprintf(file, "digraph stream {\n  rankdir=TB;\n");
  if (planned(graph)) {
    print_totals(file, graph);
  }
  for (int i = 0; i < (planned(graph) ? graph->phases : 1); i++) {
    print_phase(file, graph, i);
  }
  print_edges(file, graph);
  fprintf(file, "}\n");
  return ferror(file) ? EIO : 0;
}
