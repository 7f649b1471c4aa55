/* Scanning nodes with simpler callbacks: map, filter, generator, sink. */
#include <errno.h>
#include <stdbool.h>

#include "em/stream/stream_scan.h"

struct batch_node {
  struct stream_scan_node scan;
  void *arg;
  union {
    pems_map_fn *map;
    pems_filter_fn *filter;
    pems_generate_fn *generate;
    pems_look_fn *look;
  };
};

static size_t fitting(const struct pems_in *in, const struct pems_out *out) {
  return in->count < out->room ? in->count : out->room;
}

static int map(void *arg, struct pems_in *in, struct pems_out *out,
               struct pems_error *error) {
  struct batch_node *const b = arg;
  const size_t n = fitting(in, out);
  in->used = out->made = n;
  return n ? b->map(b->arg, in->records, out->records, n, error) : 0;
}

static int filter(void *arg, struct pems_in *in, struct pems_out *out,
                  struct pems_error *error) {
  struct batch_node *const b = arg;
  const size_t n = in->used = fitting(in, out);
  return n ? b->filter(b->arg, in->records, n, out->records, &out->made, error)
           : 0;
}

static int generate(void *arg, struct pems_in *in, struct pems_out *out,
                    struct pems_error *error) {
  struct batch_node *const b = arg;
  (void)in;
  return b->generate(b->arg, out->records, out->room, &out->made, error);
}

static int look(void *arg, struct pems_in *in, struct pems_out *out,
                struct pems_error *error) {
  struct batch_node *const b = arg;
  (void)out;
  in->used = in->count;
  return in->count ? b->look(b->arg, in->records, in->count, error) : 0;
}

/* A node of that kind with that callback; NULL if the user's is missing. */
static struct batch_node *make(struct pems_graph *graph,
                               const struct graph_node_kind *kind,
                               const char *name, bool given, void *arg,
                               pems_scan_fn *fn) {
  if (!given) {
    return graph_wrong(graph, EINVAL, "%s node %s: no callback: give it one",
                       kind->name, name ? name : "without a name");
  }
  struct batch_node *const b =
      stream_node_new(graph, kind, name, !!(kind->edges & (IN_PULL | IN_PUSH)),
                      !!(kind->edges & (OUT_PULL | OUT_PUSH)));
  if (b) {
    b->arg = arg;
    b->scan.fn = fn;
    b->scan.arg = b;
  }
  return b;
}

static struct pems_node *sized(struct batch_node *b, size_t in, size_t out) {
  if (!b) {
    return NULL;
  }
  stream_node_sizes(&b->scan.node, in, out);
  return &b->scan.node;
}

static const struct graph_node_kind map_kind = {
    .name = "map",
    .bytes = sizeof(struct batch_node),
    .edges = ANY,
    SCAN_FUNCTIONS,
};
static const struct graph_node_kind filter_kind = {
    .name = "filter",
    .bytes = sizeof(struct batch_node),
    .edges = ANY,
    SCAN_FUNCTIONS,
};
static const struct graph_node_kind generator_kind = {
    .name = "generator",
    .bytes = sizeof(struct batch_node),
    .edges = OUT_PULL | OUT_PUSH,
    SCAN_FUNCTIONS,
};
static const struct graph_node_kind sink_kind = {
    .name = "sink",
    .bytes = sizeof(struct batch_node),
    .edges = IN_PULL | IN_PUSH,
    SCAN_FUNCTIONS,
};

struct pems_node *pems_node_map(struct pems_graph *graph, const char *name,
                                pems_map_fn *fn, void *arg, size_t in_size,
                                size_t out_size) {
  struct batch_node *const b = make(graph, &map_kind, name, !!fn, arg, map);
  if (b) {
    b->map = fn;
  }
  return sized(b, in_size, out_size);
}

struct pems_node *pems_node_filter(struct pems_graph *graph, const char *name,
                                   pems_filter_fn *fn, void *arg,
                                   size_t in_size, size_t out_size) {
  struct batch_node *const b =
      make(graph, &filter_kind, name, !!fn, arg, filter);
  if (b) {
    b->filter = fn;
  }
  return sized(b, in_size, out_size);
}

struct pems_node *pems_node_generator(struct pems_graph *graph,
                                      const char *name, pems_generate_fn *fn,
                                      void *arg, size_t size) {
  struct batch_node *const b =
      make(graph, &generator_kind, name, !!fn, arg, generate);
  if (b) {
    b->generate = fn;
  }
  return sized(b, size, size);
}

struct pems_node *pems_node_callback_sink(struct pems_graph *graph,
                                          const char *name, pems_look_fn *fn,
                                          void *arg, size_t size) {
  struct batch_node *const b = make(graph, &sink_kind, name, !!fn, arg, look);
  if (b) {
    b->look = fn;
  }
  return sized(b, size, size);
}
