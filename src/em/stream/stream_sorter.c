/* Sorters as nodes: those of the graph, and the two halves of those of others.
 */
#include <errno.h>

#include "base/counters.h"
#include "em/sort/sort.h"
#include "em/stream/graph.h"

struct sorter_node {
  struct pems_node node;
  struct pems_sort_options options; /* of the graph's own */
  struct pems_sorter *sorter;
  struct pems_sort_counts counts;
};

static struct sorter_node *sorter_of(const struct pems_node *node) {
  return (struct sorter_node *)node;
}

/* --- the input --- */

static int sorter_space(struct pems_node *node, char **space, size_t *room) {
  struct pems_error error = {.code = 0};
  void *at = NULL;
  const int code =
      pems_sorter_space(sorter_of(node)->sorter, &at, room, &error);
  *space = at;
  return code ? stream_node_fail_with(node, code, &error) : 0;
}

static int sorter_filled(struct pems_node *node, size_t n) {
  struct pems_error error = {.code = 0};
  const int code = pems_sorter_filled(sorter_of(node)->sorter, n, &error);
  return code ? stream_node_fail_with(node, code, &error) : 0;
}

static int sorter_end(struct pems_node *node) {
  struct pems_error error = {.code = 0};
  const int code = pems_sorter_finish(sorter_of(node)->sorter, &error);
  return code ? stream_node_fail_with(node, code, &error) : 0;
}

/* --- the output --- */

static int sorter_lend(struct pems_node *node, const char **at, size_t *n) {
  struct pems_error error = {.code = 0};
  const void *records = NULL;
  const int code =
      pems_sorter_pull(sorter_of(node)->sorter, &records, n, &error);
  *at = records;
  return code ? stream_node_fail_with(node, code, &error) : 0;
}

/* --- one of the graph's own --- */

/* For asking what it needs. */
static struct pems_sort_options asked(const struct pems_node *node) {
  struct pems_sort_options o = sorter_of(node)->options;
  o.memory = o.merge_memory = node->graph->o.memory;
  o.disks = node->graph->disks;
  o.scratch = node->graph->o.scratch;
  o.threads = node->threads > 0 ? node->threads : 1;
  o.merge_threads = node->merge_threads > 0 ? node->merge_threads : 1;
  return o;
}

static void sorter_needs(const struct pems_node *node,
                         struct graph_node_needs *needs) {
  const struct sorter_node *const s = sorter_of(node);
  const struct pems_sort_options o = asked(node);
  needs->form = needs->merge = pems_sort_least_memory(&o);
  needs->form_most = s->options.memory;
  needs->merge_most = s->options.merge_memory;
  needs->threads_most = s->options.threads;
}

static int sorter_begin(struct pems_node *node, int side) {
  struct sorter_node *const s = sorter_of(node);
  struct pems_error error = {.code = 0};
  if (side == SIDE_OUT) {
    return 0;
  }
  struct pems_sort_options o = asked(node);
  o.memory = node->memory;
  o.merge_memory = node->merge_memory;
  const int code = pems_sorter_new(&s->sorter, &o, &error);
  return code ? stream_node_fail_with(node, code, &error) : 0;
}

/* The sorter may be gone when somebody asks. */
static void note_counts(struct pems_node *node, int side) {
  struct sorter_node *const s = sorter_of(node);
  (void)side;
  if (s->sorter) {
    pems_sorter_counts(s->sorter, &s->counts);
  }
}

static void sorter_close(struct pems_node *node) {
  struct sorter_node *const s = sorter_of(node);
  pems_sorter_free(s->sorter);
  s->sorter = NULL;
}

static void sorter_leave(struct pems_node *node, int side) {
  note_counts(node, side);
  if (side == SIDE_OUT) {
    sorter_close(node);
  }
}

static double waited(const struct pems_disk_counts *io) {
  return (double)(io->read_wait_ns + io->write_wait_ns) * 1e-9;
}

static void sorter_count(const struct pems_node *node,
                         struct pems_node_counts *counts) {
  const struct pems_sort_counts *const c = &sorter_of(node)->counts;
  counts->runs = c->runs;
  counts->passes = c->passes;
  counts->seconds = c->form.seconds + c->merge.seconds;
  counts->wait_seconds = waited(&c->form.io) + waited(&c->merge.io);
}

struct pems_node *pems_node_sorter(struct pems_graph *graph, const char *name,
                                   const struct pems_sort_options *options) {
  static const struct graph_node_kind kind = {
      .name = "sorter",
      .bytes = sizeof(struct sorter_node),
      .look = LOOK_SORTER,
      .cut = CUT_SORTER,
      .edges = ANY,
      .lends = 1,
      .passes = 1,
      .needs = sorter_needs,
      .close = sorter_close,
      .begin = sorter_begin,
      .leave = sorter_leave,
      .lend = sorter_lend,
      .space = sorter_space,
      .filled = sorter_filled,
      .end = sorter_end,
      .count = sorter_count,
  };
  struct pems_sort_options o;
  struct pems_error error;
  if (!options) {
    return graph_wrong(graph, EINVAL, "sorter %s: no options: give it some",
                       name ? name : "without a name");
  }
  if (sort_options(&o, options, &error) ||
      pems_record_check(&o.record, &error)) {
    return graph_wrong(graph, error.code, "sorter %s: %.400s",
                       name ? name : "without a name", error.text);
  }
  struct sorter_node *const s = stream_node_new(graph, &kind, name, 1, 1);
  if (!s) {
    return NULL;
  }
  s->options = o;
  stream_node_sizes(&s->node, o.record.size, o.record.size);
  return &s->node;
}

/* --- halves of another's --- */

static struct pems_node *half(struct pems_graph *graph,
                              const struct graph_node_kind *kind,
                              const char *name, struct pems_sorter *sorter,
                              size_t size) {
  const int inputs = !kind->lends;
  if (!sorter) {
    return graph_wrong(graph, EINVAL, "%s node %s: no sorter: give it one",
                       kind->name, name ? name : "without a name");
  }
  struct sorter_node *const s =
      stream_node_new(graph, kind, name, inputs, !inputs);
  if (!s) {
    return NULL;
  }
  s->sorter = sorter;
  stream_node_sizes(&s->node, size, size);
  return &s->node;
}

struct pems_node *pems_node_run_creator(struct pems_graph *graph,
                                        const char *name,
                                        struct pems_sorter *sorter,
                                        size_t size) {
  static const struct graph_node_kind kind = {
      .name = "run creator",
      .bytes = sizeof(struct sorter_node),
      .look = LOOK_SORTER,
      .edges = IN_PULL | IN_PUSH,
      .space = sorter_space,
      .filled = sorter_filled,
      .end = sorter_end,
      .leave = note_counts,
      .count = sorter_count,
  };
  return half(graph, &kind, name, sorter, size);
}

struct pems_node *pems_node_merger(struct pems_graph *graph, const char *name,
                                   struct pems_sorter *sorter, size_t size) {
  static const struct graph_node_kind kind = {
      .name = "merger",
      .bytes = sizeof(struct sorter_node),
      .look = LOOK_SORTER,
      .edges = OUT_PULL | OUT_PUSH,
      .lends = 1,
      .lend = sorter_lend,
      .leave = note_counts,
      .count = sorter_count,
  };
  return half(graph, &kind, name, sorter, size);
}
