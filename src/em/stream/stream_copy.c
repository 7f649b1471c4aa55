/* A branch that copies, and a join that puts records side by side. */
#include <errno.h>
#include <string.h>

#include "em/stream/stream_scan.h"

/* --- copy --- */

static int copy(void *arg, struct pems_in *in, struct pems_out *out,
                struct pems_error *error) {
  const struct pems_node *const node = arg;
  size_t n = in->count;
  (void)error;
  for (int i = 0; i < node->outputs; i++) {
    n = n < out[i].room ? n : out[i].room;
  }
  for (int i = 0; i < node->outputs; i++) {
    memcpy(out[i].records, in->records, n * node->in->size);
    out[i].made = n;
  }
  in->used = n;
  return 0;
}

/* --- zip --- */

static int uneven(const struct pems_node *node, const struct pems_in *in,
                  struct pems_error *error) {
  int none = 0, some = 0;
  for (int i = 0; i < node->inputs; i++) {
    if (in[i].count > 0) {
      some = i;
    } else {
      none = i;
    }
  }
  error->code = EINVAL;
  snprintf(error->text, sizeof(error->text),
           "input %d ended before input %d, after %llu records: give it "
           "inputs of one length",
           none, some, (unsigned long long)node->in_edge[none]->records);
  return EINVAL;
}

/* One column of the records of the output. */
static void put(char *to, size_t stride, const char *from, size_t size,
                size_t n) {
  for (size_t i = 0; i < n; i++) {
    memcpy(to + i * stride, from + i * size, size);
  }
}

static int zip(void *arg, struct pems_in *in, struct pems_out *out,
               struct pems_error *error) {
  const struct pems_node *const node = arg;
  size_t n = out->room, most = 0;
  for (int i = 0; i < node->inputs; i++) {
    n = n < in[i].count ? n : in[i].count;
    most = most > in[i].count ? most : in[i].count;
  }
  if (n == 0 && most > 0) {
    return uneven(node, in, error);
  }
  char *to = out->records;
  for (int i = 0; i < node->inputs; i++) {
    put(to, node->out->size, in[i].records, node->in[i].size, n);
    to += node->in[i].size;
    in[i].used = n;
  }
  out->made = n;
  return 0;
}

static int zip_sizes(struct pems_node *node, struct pems_error *error) {
  (void)error;
  node->out->size = 0;
  for (int i = 0; i < node->inputs; i++) {
    node->out->size += node->in[i].size;
  }
  return 0;
}

/* --- both --- */

static struct pems_node *make(struct pems_graph *graph,
                              const struct graph_node_kind *kind,
                              const char *name, int inputs, int outputs,
                              pems_scan_fn *fn) {
  if (inputs < 1 || outputs < 1) {
    return graph_wrong(graph, EINVAL,
                       "%s node %s: no inputs or outputs: give it some",
                       kind->name, name ? name : "without a name");
  }
  struct stream_scan_node *const s =
      stream_node_new(graph, kind, name, inputs, outputs);
  if (!s) {
    return NULL;
  }
  s->fn = fn;
  s->arg = &s->node;
  return &s->node;
}

struct pems_node *pems_node_copy(struct pems_graph *graph, const char *name,
                                 int outputs) {
  static const struct graph_node_kind kind = {
      .name = "copy",
      .bytes = sizeof(struct stream_scan_node),
      .edges = ANY,
      .passes = 1,
      SCAN_FUNCTIONS,
  };
  return make(graph, &kind, name, 1, outputs, copy);
}

struct pems_node *pems_node_zip(struct pems_graph *graph, const char *name,
                                int inputs) {
  static const struct graph_node_kind kind = {
      .name = "zip",
      .bytes = sizeof(struct stream_scan_node),
      .edges = ANY,
      .sizes = zip_sizes,
      SCAN_FUNCTIONS,
  };
  return make(graph, &kind, name, inputs, 1, zip);
}
