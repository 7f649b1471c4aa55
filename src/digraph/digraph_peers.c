/* The files of programs that we are compared with, written only. Both are in
   little endian byte order, as are the machines that these run on. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "digraph/digraph_formats.h"
#include "digraph/digraph_out.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "these formats are of little endian machines");

/* --- Galois: offsets of ends, targets, then weights --- */

int digraph_write_galois(const struct digraph *g, const char *path,
                         struct pems_error *error) {
  const uint64_t head[4] = {1, sizeof(uint32_t), g->nodes, g->edges};
  struct digraph_out out;
  const int code = digraph_out_open(&out, path, error);
  if (code) {
    return code;
  }
  digraph_out_bytes(&out, head, sizeof(head));
  digraph_out_bytes(&out, g->first + 1, g->nodes * sizeof(*g->first));
  for (uint64_t i = 0; i < g->edges; i++) {
    digraph_out_bytes(&out, &g->edge[i].to, sizeof(uint32_t));
  }
  digraph_out_pad(&out, g->edges * sizeof(uint32_t), 8);
  for (uint64_t i = 0; i < g->edges; i++) {
    digraph_out_bytes(&out, &g->edge[i].weight, sizeof(uint32_t));
  }
  return digraph_out_close(&out);
}

/* --- GAP: offsets and pairs, and those of the transpose --- */

static int check_gap(const struct digraph *g, const char *path,
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

static void write_rows(struct digraph_out *out, const struct digraph *g) {
  _Static_assert(sizeof(struct digraph_edge) == 2 * sizeof(int32_t),
                 "a pair as GAP has them");
  digraph_out_bytes(out, g->first, (g->nodes + 1) * sizeof(*g->first));
  digraph_out_bytes(out, g->edge, g->edges * sizeof(*g->edge));
}

static bool same(const struct digraph *a, const struct digraph *b) {
  return memcmp(a->first, b->first, (a->nodes + 1) * sizeof(*a->first)) == 0 &&
         memcmp(a->edge, b->edge, a->edges * sizeof(*a->edge)) == 0;
}

static int write_gap(const struct digraph *out_edges,
                     const struct digraph *in_edges, const char *path,
                     struct pems_error *error) {
  struct digraph_out out;
  const uint8_t directed = !same(out_edges, in_edges);
  const int64_t counts[2] = {(int64_t)out_edges->edges,
                             (int64_t)out_edges->nodes};
  const int code = digraph_out_open(&out, path, error);
  if (code) {
    return code;
  }
  digraph_out_bytes(&out, &directed, sizeof(directed));
  digraph_out_bytes(&out, counts, sizeof(counts));
  write_rows(&out, out_edges);
  if (directed) {
    write_rows(&out, in_edges);
  }
  return digraph_out_close(&out);
}

/* Transposing sorts a node's edges by the node that they go to, which GAP
   wants: so the edges out are transposed twice. */
int digraph_write_gap(const struct digraph *g, const char *path,
                      struct pems_error *error) {
  struct digraph in_edges = {0}, out_edges = {0};
  int code = check_gap(g, path, error);
  if (!code) {
    code = digraph_transpose(g, &in_edges, error);
  }
  if (!code) {
    code = digraph_transpose(&in_edges, &out_edges, error);
  }
  if (!code) {
    code = write_gap(&out_edges, &in_edges, path, error);
  }
  digraph_free(&in_edges);
  digraph_free(&out_edges);
  return code;
}
