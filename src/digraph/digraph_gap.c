/* GAP's serialized graphs, .sg and with weights .wsg: whether it is directed (a
   byte), edges and nodes (of 64 bits), offsets of rows, and what edges lead to
   (of 32 bits), each with its weight in a .wsg; of a directed graph, then the
   same of the edges turned round, which we have no use for. Little endian, as
   are the machines that this runs on. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "digraph/digraph_binary.h"
#include "digraph/digraph_formats.h"
#include "digraph/digraph_out.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "this format is of little endian machines");

enum { HEAD = 1 + 2 * sizeof(int64_t) };

struct gap {
  struct digraph_binary in;
  const struct digraph_read_options *o;
  bool weighted;
  uint8_t directed;
  uint64_t nodes, edges;
  uint64_t *first;
};

/* --- reading --- */

static size_t edge_bytes(const struct gap *s) {
  return (s->weighted ? 2 : 1) * sizeof(int32_t);
}

static int check_head(const struct gap *s) {
  if (s->directed > 1) {
    return digraph_binary_refuse(
        &s->in,
        "not a serialized graph of GAP: its first byte "
        "is %u: it should be 0 or 1",
        s->directed);
  }
  if (s->nodes == 0 || s->nodes > INT32_MAX) {
    return digraph_binary_refuse(
        &s->in, "%" PRIi64 " nodes: give a graph with 1 to %" PRIi32,
        (int64_t)s->nodes, INT32_MAX);
  }
  if (s->edges > s->in.bytes / edge_bytes(s)) {
    return digraph_binary_refuse(
        &s->in, "too short for %" PRIi64 " edges: get it again",
        (int64_t)s->edges);
  }
  const uint64_t rows =
      (s->nodes + 1) * sizeof(*s->first) + s->edges * edge_bytes(s);
  return digraph_binary_expect(&s->in, HEAD + rows * (1u + s->directed));
}

static int read_head(struct gap *s) {
  const char *const head =
      s->in.bytes < HEAD ? NULL : digraph_binary_next(&s->in, HEAD);
  if (!head) {
    return s->in.code
               ? s->in.code
               : digraph_binary_refuse(&s->in, "not a serialized graph of GAP: "
                                               "it is too short: get it again");
  }
  s->directed = (uint8_t)head[0];
  memcpy(&s->edges, head + 1, sizeof(s->edges));
  memcpy(&s->nodes, head + 1 + sizeof(s->edges), sizeof(s->nodes));
  return check_head(s);
}

static int read_edge(void *arg, struct digraph_arc *arc) {
  struct gap *const s = arg;
  const char *const at = digraph_binary_next(&s->in, edge_bytes(s));
  if (!at) {
    return s->in.code;
  }
  memcpy(&arc->to, at, sizeof(arc->to));
  if (arc->to >= s->nodes) {
    return digraph_binary_refuse(&s->in,
                                 "an edge from node %" PRIu32 " to %" PRIi32
                                 ", which is not there: get it again",
                                 arc->from, (int32_t)arc->to);
  }
  if (!s->weighted) {
    arc->weight =
        generate_weight_between(&s->o->weights, s->o->seed, arc->from, arc->to);
    return 0;
  }
  memcpy(&arc->weight, at + sizeof(arc->to), sizeof(arc->weight));
  return arc->weight <= INT32_MAX
             ? 0
             : digraph_binary_refuse(&s->in,
                                     "an edge of node %" PRIu32
                                     " has the weight %" PRIi32
                                     ": give weights from 0 on",
                                     arc->from, (int32_t)arc->weight);
}

/* One that is not directed has all edges both ways already. */
static int read_all(struct gap *s, struct digraph *g) {
  int code = read_head(s);
  if (!code) {
    code = digraph_binary_offsets(&s->in, s->nodes, s->nodes + 1, s->edges,
                                  &s->first);
  }
  return code ? code
              : digraph_binary_rows(&s->in, g, s->nodes, s->first,
                                    s->o->both && s->directed, &s->o->budget,
                                    read_edge, s);
}

static int read_gap(struct digraph *g, const char *path,
                    const struct digraph_read_options *o, bool weighted,
                    struct pems_error *error) {
  struct gap s = {.o = o, .weighted = weighted};
  int code = digraph_binary_open(&s.in, path, error);
  if (code) {
    return code;
  }
  code = read_all(&s, g);
  free(s.first);
  digraph_binary_close(&s.in);
  return code;
}

int digraph_read_gap(struct digraph *g, const char *path,
                     const struct digraph_read_options *o,
                     struct pems_error *error) {
  return read_gap(g, path, o, false, error);
}

int digraph_read_gap_weighted(struct digraph *g, const char *path,
                              const struct digraph_read_options *o,
                              struct pems_error *error) {
  return read_gap(g, path, o, true, error);
}

/* --- writing --- */

static int check_range(const struct digraph *g, const char *path,
                       struct pems_error *error) {
  uint32_t most = 0;
  for (uint64_t i = 0; i < g->edges; i++) {
    most = g->edge[i].weight > most ? g->edge[i].weight : most;
  }
  if (g->nodes <= INT32_MAX && most <= INT32_MAX) {
    return 0;
  }
  return digraph_failure(error, EINVAL,
                         "%.300s: numbers too large for GAP: %" PRIu64
                         " nodes, weights up to %" PRIu32
                         ": take a graph where they are below 2^31",
                         path, g->nodes, most);
}

static void write_rows(struct digraph_out *out, const struct digraph *g,
                       bool weighted) {
  _Static_assert(sizeof(struct digraph_edge) == 2 * sizeof(int32_t),
                 "a pair as GAP has them");
  digraph_out_bytes(out, g->first, (g->nodes + 1) * sizeof(*g->first));
  if (weighted) {
    digraph_out_bytes(out, g->edge, g->edges * sizeof(*g->edge));
    return;
  }
  for (uint64_t i = 0; i < g->edges; i++) {
    digraph_out_bytes(out, &g->edge[i].to, sizeof(g->edge[i].to));
  }
}

static bool same(const struct digraph *a, const struct digraph *b,
                 bool weighted) {
  bool differ = memcmp(a->first, b->first, (a->nodes + 1) * sizeof(*a->first));
  for (uint64_t i = 0; i < a->edges && !differ; i++) {
    differ = a->edge[i].to != b->edge[i].to ||
             (weighted && a->edge[i].weight != b->edge[i].weight);
  }
  return !differ;
}

static int write_both(const struct digraph *out_edges,
                      const struct digraph *in_edges, const char *path,
                      bool weighted, struct pems_error *error) {
  struct digraph_out out;
  const uint8_t directed = !same(out_edges, in_edges, weighted);
  const int64_t counts[2] = {(int64_t)out_edges->edges,
                             (int64_t)out_edges->nodes};
  const int code = digraph_out_open(&out, path, error);
  if (code) {
    return code;
  }
  digraph_out_bytes(&out, &directed, sizeof(directed));
  digraph_out_bytes(&out, counts, sizeof(counts));
  write_rows(&out, out_edges, weighted);
  if (directed) {
    write_rows(&out, in_edges, weighted);
  }
  return digraph_out_close(&out);
}

/* Transposing sorts a node's edges by the node that they go to, which GAP
   wants: so the edges out are transposed twice. */
static int write_gap(const struct digraph *g, const char *path, bool weighted,
                     struct pems_error *error) {
  struct digraph in_edges = {0}, out_edges = {0};
  int code = check_range(g, path, error);
  if (!code) {
    code = digraph_transpose(g, &in_edges, error);
  }
  if (!code) {
    code = digraph_transpose(&in_edges, &out_edges, error);
  }
  if (!code) {
    code = write_both(&out_edges, &in_edges, path, weighted, error);
  }
  digraph_free(&in_edges);
  digraph_free(&out_edges);
  return code;
}

int digraph_write_gap(const struct digraph *g, const char *path,
                      struct pems_error *error) {
  return write_gap(g, path, false, error);
}

int digraph_write_gap_weighted(const struct digraph *g, const char *path,
                               struct pems_error *error) {
  return write_gap(g, path, true, error);
}
