/* Layer by layer, in pieces of whole nodes that many threads visit at once. */
#define _GNU_SOURCE
#include "em/tfp/tfp.h"
#include "os/bits.h"
#include "os/clock.h"

#include <stdbool.h>
#include <time.h>

/* A piece is cut into so many tasks per thread, of which each is taken when a
   thread is free: nodes are not all the same work. */
enum { TASKS = 16, NODES_LEAST = 32 };

struct piece {
  struct tfp *run;
  uint64_t first, end; /* nodes */
  uint64_t step;       /* of them, of a task */
};

/* Counts the records at the beginning of *rest that are of this node, and goes
   past them. */
static size_t split(struct tfp_window *rest, uint64_t node) {
  const size_t before = rest->begin;
  while (rest->begin < rest->end && tfp_node(tfp_window_at(rest, 0)) == node) {
    rest->begin++;
  }
  return rest->begin - before;
}

/* A task: some nodes of the piece. */
static void visit_some(void *arg, int task, int member) {
  const struct piece *const p = arg;
  struct tfp *const t = p->run;
  const uint64_t first = p->first + (uint64_t)task * p->step;
  const uint64_t end = p->end - first > p->step ? first + p->step : p->end;
  struct tfp_window messages = t->messages, edges = t->edges;
  messages.begin += tfp_window_before(&messages, first);
  edges.begin += tfp_window_before(&edges, first);
  for (uint64_t node = first; node < end; node++) {
    struct pems_tfp_visit v = {.node = node};
    if (atomic_load_explicit(&t->failed, memory_order_relaxed)) {
      return;
    }
    v.messages = tfp_window_at(&messages, 0);
    v.received = split(&messages, node);
    if (t->o.edges) {
      v.edges = tfp_window_at(&edges, 0);
      v.degree = split(&edges, node);
    }
    if (t->o.result) {
      v.result = t->results + (node - p->first) * t->o.result;
    }
    if (tfp_visit(&t->lane[member], &v)) {
      return;
    }
  }
}

/* Visits the nodes, whose messages and edges are in the windows. */
static int visit_piece(struct tfp *t, uint64_t first, uint64_t end) {
  const uint64_t nodes = end - first;
  const uint64_t tasks = (uint64_t)TASKS * (uint64_t)t->o.threads;
  struct piece p = {.run = t, .first = first, .end = end};
  struct pems_error e;
  p.step = (nodes + tasks - 1) / tasks;
  if (p.step < NODES_LEAST) {
    p.step = NODES_LEAST;
  }
  if (t->o.result) {
    memset(t->results, 0, nodes * t->o.result);
    t->result_count = nodes;
  }
  if (pems_pqueue_bulk_push_begin(t->queue, tfp_window_before(&t->edges, end),
                                  &e)) {
    return tfp_fail(t, &e);
  }
  const double begin = clock_seconds();
  team_run(t->team, (int)((nodes + p.step - 1) / p.step), visit_some, &p);
  t->visit_seconds += clock_seconds() - begin;
  t->pieces++;
  if (atomic_load_explicit(&t->failed, memory_order_acquire)) {
    return t->failure.code;
  }
  for (int i = 0; i < t->o.threads; i++) {
    if (tfp_lane_flush(&t->lane[i])) {
      return t->failure.code;
    }
  }
  if (pems_pqueue_bulk_push_end(t->queue, &e)) {
    return tfp_fail(t, &e);
  }
  return tfp_results_take(t);
}

/* Sees to it that all messages of `node` are in the window: pops as many more
   as there is room for. */
static int fill_messages(struct tfp *t, uint64_t node) {
  struct tfp_window *const w = &t->messages;
  struct pems_error e;
  size_t n = 0;
  if (!w->more || (tfp_window_complete(w, UINT64_MAX) > node &&
                   tfp_window_count(w) > w->room / 2)) {
    return 0;
  }
  tfp_window_settle(w);
  memcpy(t->record, &t->layer_end, sizeof(t->layer_end));
  if (pems_pqueue_bulk_pop_limit(t->queue, t->record,
                                 w->buffer + w->end * w->size, w->room - w->end,
                                 &n, &w->more, &e)) {
    return tfp_fail(t, &e);
  }
  w->end += n;
  if (tfp_window_complete(w, UINT64_MAX) > node) {
    return 0;
  }
  return tfp_too_many(t, node, "is sent more messages", w);
}

/* Visits some nodes of the layer, from *first, and moves it on. */
static int next_piece(struct tfp *t, uint64_t *first) {
  if (fill_messages(t, *first) ||
      (t->o.edges && tfp_edges_fill(t, *first, true))) {
    return t->failure.code;
  }
  uint64_t end =
      bits_min(t->layer_end, tfp_window_complete(&t->messages, t->layer_end));
  if (t->o.edges) {
    end = bits_min(end, tfp_window_complete(&t->edges, t->layer_end));
  }
  if (t->o.result) {
    end = bits_min(end, *first + t->result_room);
  }
  if (visit_piece(t, *first, end)) {
    return t->failure.code;
  }
  t->messages.begin += tfp_window_before(&t->messages, end);
  t->edges.begin += tfp_window_before(&t->edges, end);
  *first = end;
  return 0;
}

int tfp_in_bulk(struct tfp *t) {
  for (uint64_t first = 0; first < t->o.nodes;) {
    if (tfp_layer(t, first)) {
      return t->failure.code;
    }
    t->messages.begin = t->messages.end = 0;
    t->messages.more = 1;
    while (first < t->layer_end) {
      if (next_piece(t, &first)) {
        return t->failure.code;
      }
    }
  }
  return 0;
}
