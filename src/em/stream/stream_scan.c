/* Scanning nodes: a callback sees a batch of each input, and space at each
   output. */
#include "em/stream/stream_scan.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "os/clock.h"
#include "os/native.h"

static struct stream_scan_node *scan_of(struct pems_node *node) {
  return (struct stream_scan_node *)node;
}

/* --- one call --- */

static int gather(struct stream_scan_node *s, char *space, size_t room) {
  struct pems_node *const node = &s->node;
  int code = 0;
  for (int k = 0; k < node->inputs && !code; k++) {
    const int i = s->order[k];
    struct pems_in *const in = &s->in[i];
    const char *at = NULL;
    code = stream_edge_view(node->in_edge[i], &at, &in->count);
    in->records = at ? at : ""; /* whose 0 bytes may be copied */
    in->used = 0;
  }
  for (int i = 0; i < node->outputs && !code; i++) {
    struct pems_out *const out = &s->out[i];
    char *at = space;
    out->room = room;
    if (node->out_edge[i]->push) {
      code = stream_edge_space(node->out_edge[i], &at, &out->room);
    }
    out->records = at;
    out->made = 0;
  }
  return code;
}

static bool inputs_left(const struct stream_scan_node *s) {
  for (int i = 0; i < s->node.inputs; i++) {
    if (s->in[i].count > 0) {
      return true;
    }
  }
  return false;
}

/* What the callback says must be possible; *progress: it did something. */
static int examine(struct stream_scan_node *s, int *progress) {
  struct pems_node *const node = &s->node;
  *progress = 0;
  for (int i = 0; i < node->inputs; i++) {
    const struct pems_in *const in = &s->in[i];
    if (in->used > in->count) {
      return stream_node_fail(
          node, EINVAL,
          "used more records than there are at input %d: %zu of "
          "%zu: correct the callback",
          i, in->used, in->count);
    }
    *progress |= in->used > 0;
  }
  for (int i = 0; i < node->outputs; i++) {
    const struct pems_out *const out = &s->out[i];
    if (out->made > out->room) {
      return stream_node_fail(
          node, EINVAL,
          "made more records than there is room at output %d: "
          "%zu of %zu: correct the callback",
          i, out->made, out->room);
    }
    *progress |= out->made > 0;
  }
  return 0;
}

static int call(struct stream_scan_node *s) {
  struct pems_error error = {.code = 0};
  const uint64_t begin = clock_ns();
  const int code = s->fn(s->arg, s->in, s->out, &error);
  s->node.busy_ns += clock_ns() - begin;
  s->node.calls++;
  if (code && code != PEMS_SCAN_END) {
    return stream_node_fail_with(&s->node, code > 0 ? code : EINVAL, &error);
  }
  s->over = code == PEMS_SCAN_END;
  return 0;
}

static int pass_on(struct stream_scan_node *s) {
  struct pems_node *const node = &s->node;
  int code = 0;
  for (int i = 0; i < node->inputs; i++) {
    stream_edge_used(node->in_edge[i], s->in[i].used);
  }
  for (int i = 0; i < node->outputs && !code; i++) {
    if (node->out_edge[i]->push) {
      code = stream_edge_filled(node->out_edge[i], s->out[i].made);
    }
  }
  return code;
}

/* Reads, and drops, what a callback that is done has left; in turns, as inputs
   may come from one branch. What is still to be pushed is dropped by
   stream_scan_take.
 */
static int drain(struct stream_scan_node *s) {
  struct pems_node *const node = &s->node;
  int code = 0, more = 1;
  while (more && !code) {
    more = 0;
    for (int k = 0; k < node->inputs && !code; k++) {
      struct graph_edge *const e = node->in_edge[s->order[k]];
      const char *at;
      size_t n;
      code = stream_edge_view(e, &at, &n);
      if (!code) {
        stream_edge_used(e, n);
      }
      more |= !code && n > 0;
    }
  }
  return code;
}

static int finish(struct stream_scan_node *s) {
  struct pems_node *const node = &s->node;
  int code = 0;
  s->done = 1;
  for (int i = 0; i < node->outputs && !code; i++) {
    if (node->out_edge[i]->push) {
      code = stream_edge_end(node->out_edge[i]);
    }
  }
  return code ? code : drain(s);
}

/* Calls the callback once, with that space for the pulled output, if any. */
static int step(struct stream_scan_node *s, char *space, size_t room) {
  int progress;
  if (graph_failed(s->node.graph)) {
    return ECANCELED;
  }
  int code = gather(s, space, room);
  if (!code) {
    code = call(s);
  }
  if (!code) {
    code = examine(s, &progress);
  }
  if (!code) {
    code = pass_on(s);
  }
  if (code) {
    return code;
  }
  if (s->over || (!progress && !inputs_left(s))) {
    return finish(s);
  }
  if (!progress) {
    return stream_node_fail(
        &s->node, EINVAL,
        "neither used nor made a record, at call %llu: give its "
        "ports a larger `least`, or correct the callback",
        (unsigned long long)s->node.calls);
  }
  return 0;
}

/* --- as a node --- */

/* The number of the output that is pulled, or -1. */
static int pulled_output(const struct pems_node *node) {
  for (int i = 0; i < node->outputs; i++) {
    if (!node->out_edge[i]->push) {
      return i;
    }
  }
  return -1;
}

int stream_scan_fill(struct pems_node *node, char *space, size_t room,
                     size_t *n) {
  struct stream_scan_node *const s = scan_of(node);
  const int pulled = pulled_output(node);
  int code = 0;
  for (*n = 0; !code && *n == 0 && !s->done;) {
    code = step(s, space, room);
    *n = code ? 0 : s->out[pulled].made;
  }
  return code;
}

static struct graph_edge *pushed_input(const struct pems_node *node) {
  for (int i = 0; i < node->inputs; i++) {
    if (node->in_edge[i]->push) {
      return node->in_edge[i];
    }
  }
  return NULL;
}

int stream_scan_take(struct pems_node *node) {
  struct stream_scan_node *const s = scan_of(node);
  struct graph_edge *const e = pushed_input(node);
  const size_t least = node->in[e->input].least;
  int code = 0;
  while (!code && !s->done && e->left >= least) {
    code = step(s, NULL, 0);
  }
  if (!code && s->done) {
    stream_edge_used(e, e->left);
  }
  return code;
}

int stream_scan_drive(struct pems_node *node) {
  struct stream_scan_node *const s = scan_of(node);
  int code = 0;
  while (!code && !s->done) {
    code = step(s, NULL, 0);
  }
  return code;
}

int stream_scan_begin(struct pems_node *node, int side) {
  struct stream_scan_node *const s = scan_of(node);
  (void)side;
  s->in = native_zalloc((size_t)node->inputs + 1, sizeof(*s->in));
  s->out = native_zalloc((size_t)node->outputs + 1, sizeof(*s->out));
  s->order = native_zalloc(2 * (size_t)node->inputs + 1, sizeof(*s->order));
  if (s->in && s->out && s->order) {
    stream_order(node, s->order, s->order + node->inputs);
  } else {
    return stream_node_fail(node, ENOMEM, "no memory: %d ports: free some",
                            node->inputs + node->outputs);
  }
  return 0;
}

void stream_scan_close(struct pems_node *node) {
  struct stream_scan_node *const s = scan_of(node);
  native_free(s->in);
  native_free(s->out);
  native_free(s->order);
  s->in = NULL;
  s->order = NULL;
  s->out = NULL;
}

static const struct graph_node_kind scan_kind = {
    .name = "scan",
    .bytes = sizeof(struct stream_scan_node),
    .edges = ANY,
    SCAN_FUNCTIONS,
};

struct pems_node *pems_node_scan(struct pems_graph *graph, const char *name,
                                 const struct pems_scan *scan) {
  if (!scan || !scan->fn || scan->inputs < 0 || scan->outputs < 0 ||
      scan->inputs + scan->outputs == 0) {
    return graph_wrong(graph, EINVAL,
                       "scanning node %s: needs a callback, and inputs or "
                       "outputs: give it some",
                       name ? name : "without a name");
  }
  struct stream_scan_node *const s =
      stream_node_new(graph, &scan_kind, name, scan->inputs, scan->outputs);
  if (!s) {
    return NULL;
  }
  s->fn = scan->fn;
  s->arg = scan->arg;
  for (int i = 0; i < scan->inputs; i++) {
    s->node.in[i] = scan->in[i];
  }
  for (int i = 0; i < scan->outputs; i++) {
    s->node.out[i] = scan->out[i];
  }
  return &s->node;
}
