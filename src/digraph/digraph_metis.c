/* METIS' graphs, which are undirected: "%" comments anywhere, "NODES EDGES
   [FORMAT [WEIGHTS]]", then a line for each node: its size and weights, of
   which we have no use, where the format says that there are any; then its
   neighbours, each with a weight where the format says so. Nodes count from 1;
   each edge is in the lines of both its nodes, but counts once. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "digraph/digraph_formats.h"
#include "digraph/digraph_out.h"
#include "digraph/digraph_text.h"

enum {
  LONGEST = 1 << 30,   /* bytes of a line: of a node's neighbours */
  NEIGHBOUR_LEAST = 2, /* bytes of a neighbour */
  NODE_WEIGHTS_MOST = 1000,
};

struct metis {
  struct digraph_text text;
  const struct digraph_read_options *o;
  uint64_t nodes, edges; /* as the file says */
  uint64_t numbers;      /* before a node's neighbours: size, weights */
  bool weighted;         /* edges have weights */
  struct digraph_arcs arcs;
  uint64_t n;        /* neighbours so far */
  uint64_t up, down; /* sums over edges to larger nodes, and to smaller ones */
  int rounded;
};

/* A number of an edge, the same from both ends: equal sums over those seen from
   either end tell that they are the same edges, as good as certainly. */
static uint64_t sign(uint64_t low, uint64_t high, uint32_t weight) {
  return generate_mix(generate_mix(low << 32 | high) + weight);
}

static void count(uint32_t from, struct digraph_edge edge, uint64_t *up,
                  uint64_t *down) {
  if (from < edge.to) {
    *up += sign(from, edge.to, edge.weight);
  } else {
    *down += sign(edge.to, from, edge.weight);
  }
}

/* --- reading --- */

/* The next line that is no comment, blank or not. */
static int next_line(struct digraph_text *t) {
  int code;
  do {
    code = digraph_text_next(t);
  } while (!code && !digraph_text_ended(t) && *t->at == '%');
  return code;
}

/* The same, but neither is it blank. */
static int next_filled(struct digraph_text *t) {
  int code;
  do {
    code = next_line(t);
  } while (!code && digraph_text_ended(t));
  return code;
}

/* Three digits: whether there are sizes of nodes, weights of nodes, weights of
   edges; and how many weights a node has. */
static int read_format(struct metis *m) {
  struct digraph_text *const t = &m->text;
  uint64_t format = 0, weights = 1;
  int code = 0;
  if (!digraph_text_ended(t)) {
    code = digraph_text_number(t, "the format", 0, 111, &format);
  }
  if (!code && (format % 10 > 1 || format / 10 % 10 > 1)) {
    code = digraph_text_refuse(
        t, "there is no such format: %" PRIu64 ": give three digits 0 or 1",
        format);
  }
  const bool node_weights = format / 10 % 10 == 1;
  if (!code && node_weights && !digraph_text_ended(t)) {
    code = digraph_text_number(t, "the number of weights of a node", 1,
                               NODE_WEIGHTS_MOST, &weights);
  }
  m->numbers = format / 100 + (node_weights ? weights : 0);
  m->weighted = format % 10 == 1;
  return code ? code : digraph_text_done(t);
}

static int read_head(struct metis *m) {
  struct digraph_text *const t = &m->text;
  const int code = next_filled(t);
  if (code == ENODATA) {
    return digraph_text_refuse(t, "the file is empty: begin with \"NODES "
                                  "EDGES\"");
  }
  if (code) {
    return code;
  }
  if (digraph_text_number(t, "the number of nodes", 1, UINT32_MAX, &m->nodes) ||
      digraph_text_number(t, "the number of edges", 0, UINT64_MAX / 128,
                          &m->edges)) {
    return EINVAL;
  }
  return read_format(m);
}

static int begin_arcs(struct metis *m) {
  struct digraph_text *const t = &m->text;
  uint64_t most = 2 * m->edges;
  if (t->bytes && m->nodes > t->bytes) {
    return digraph_text_refuse(t,
                               "the file is too short for %" PRIu64
                               " nodes: get all of it, or correct their number",
                               m->nodes);
  }
  if (t->bytes && most > t->bytes / NEIGHBOUR_LEAST) {
    most = t->bytes / NEIGHBOUR_LEAST;
  }
  return digraph_arcs_begin(&m->arcs, t->path, m->nodes, most, 0, &m->o->budget,
                            t->error);
}

static int read_weight(struct metis *m, struct digraph_arc *arc) {
  if (m->weighted) {
    return digraph_text_weight(&m->text, m->o->scale, &arc->weight,
                               &m->rounded);
  }
  arc->weight =
      generate_weight_between(&m->o->weights, m->o->seed, arc->from, arc->to);
  return 0;
}

static int read_neighbour(struct metis *m, uint32_t node) {
  struct digraph_text *const t = &m->text;
  struct digraph_arc arc = {.from = node};
  uint64_t to;
  if (digraph_text_number(t, "the neighbour", 1, m->nodes, &to)) {
    return EINVAL;
  }
  if (to - 1 == node) {
    return digraph_text_refuse(
        t, "an edge from node %" PRIu64 " to itself: take it out", to);
  }
  if (m->n++ == 2 * m->edges) {
    return digraph_text_refuse(t,
                               "more edges than the first line says: %" PRIu64
                               ": correct that line",
                               m->edges);
  }
  arc.to = (uint32_t)(to - 1);
  const int code = read_weight(m, &arc);
  count(node, (struct digraph_edge){arc.to, arc.weight}, &m->up, &m->down);
  return code ? code : digraph_arcs_add(&m->arcs, arc);
}

static int read_node(struct metis *m, uint32_t node) {
  struct digraph_text *const t = &m->text;
  uint64_t number;
  int code = 0;
  for (uint64_t i = 0; i < m->numbers && !code; i++) {
    code = digraph_text_number(t, "the size or weight of the node", 0,
                               UINT64_MAX, &number);
  }
  while (!code && !digraph_text_ended(t)) {
    code = read_neighbour(m, node);
  }
  return code;
}

static int read_nodes(struct metis *m) {
  struct digraph_text *const t = &m->text;
  for (uint64_t v = 0; v < m->nodes; v++) {
    int code = next_line(t);
    if (code == ENODATA) {
      return digraph_text_refuse(t,
                                 "the file ends after %" PRIu64
                                 " nodes of %" PRIu64 ": get all of it",
                                 v, m->nodes);
    }
    if (!code) {
      code = read_node(m, (uint32_t)v);
    }
    if (code) {
      return code;
    }
  }
  const int code = next_filled(t);
  return code == ENODATA ? 0
         : code          ? code
                         : digraph_text_refuse(t,
                                               "more lines than nodes: %" PRIu64
                                               ": correct the first line",
                                               m->nodes);
}

static int check_edges(const struct metis *m) {
  if (m->n != 2 * m->edges) {
    return digraph_text_refuse(&m->text,
                               "the file has %" PRIu64
                               " neighbours, not twice its %" PRIu64
                               " edges: get all of it, or correct the first "
                               "line",
                               m->n, m->edges);
  }
  return m->up == m->down
             ? 0
             : digraph_text_refuse(&m->text,
                                   "edges differ as seen from their two ends: "
                                   "name each in the lines of both, with one "
                                   "weight");
}

static int read_rest(struct metis *m, struct digraph *g) {
  int code = read_nodes(m);
  if (!code) {
    code = check_edges(m);
  }
  if (!code) {
    code = digraph_arcs_end(&m->arcs, g, NULL);
  }
  digraph_arcs_free(&m->arcs);
  return code;
}

int digraph_read_metis(struct digraph *g, const char *path,
                       const struct digraph_read_options *o,
                       struct pems_error *error) {
  struct metis m = {.o = o};
  int code = digraph_text_open(&m.text, path, error);
  if (code) {
    return code;
  }
  m.text.longest = LONGEST;
  code = read_head(&m);
  if (!code) {
    code = begin_arcs(&m);
  }
  if (!code) {
    code = read_rest(&m, g);
  }
  digraph_text_close(&m.text);
  if (!code && m.rounded && o->notes) {
    fprintf(o->notes, "%s: weights were rounded: scale them to keep more\n",
            path);
  }
  return code;
}

/* --- writing --- */

struct shape {
  uint64_t loops, up, down;
  bool ones; /* all weights are 1 */
};

static struct shape shape_of(const struct digraph *g) {
  struct shape s = {.ones = true};
  for (uint64_t v = 0; v < g->nodes; v++) {
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
      s.ones = s.ones && g->edge[i].weight == 1;
      s.loops += g->edge[i].to == v;
      if (g->edge[i].to != v) {
        count((uint32_t)v, g->edge[i], &s.up, &s.down);
      }
    }
  }
  return s;
}

static int check_shape(const struct shape *s, const char *path,
                       struct pems_error *error) {
  if (s->up != s->down) {
    return digraph_failure(error, EINVAL,
                           "%.300s: METIS has undirected graphs only: add the "
                           "reverse of each edge, or take another format",
                           path);
  }
  return s->loops == 0
             ? 0
             : digraph_failure(error, EINVAL,
                               "%.300s: METIS has no edges from a node to "
                               "itself, but here are %" PRIu64
                               ": take another format",
                               path, s->loops);
}

int digraph_write_metis(const struct digraph *g, const char *path,
                        struct pems_error *error) {
  const struct shape shape = shape_of(g);
  struct digraph_out out;
  int code = check_shape(&shape, path, error);
  if (!code) {
    code = digraph_out_open(&out, path, error);
  }
  if (code) {
    return code;
  }
  digraph_out_number(&out, g->nodes, ' ');
  digraph_out_number(&out, g->edges / 2, shape.ones ? '\n' : ' ');
  digraph_out_text(&out, shape.ones ? "" : "001\n");
  for (uint64_t v = 0; v < g->nodes; v++) {
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
      digraph_out_number(&out, g->edge[i].to + 1ull, ' ');
      if (!shape.ones) {
        digraph_out_number(&out, g->edge[i].weight, ' ');
      }
    }
    digraph_out_text(&out, "\n");
  }
  return digraph_out_close(&out);
}
