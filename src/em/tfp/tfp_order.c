/* Node by node: with or without limits. */
#include "em/tfp/tfp.h"

#include <stdbool.h>

/* The first message in the queue, or NULL; within a limit, of those before it.
 */
static const char *top(struct tfp *t, struct pems_error *e) {
  return t->o.mode == PEMS_TFP_LIMIT ? pems_pqueue_limit_top(t->queue, e)
                                     : pems_pqueue_top(t->queue, e);
}

static int pop(struct tfp *t, void *message, struct pems_error *e) {
  return t->o.mode == PEMS_TFP_LIMIT
             ? pems_pqueue_limit_pop(t->queue, message, e)
             : pems_pqueue_pop(t->queue, message, e);
}

/* Brings a node's messages, of which there may be none, to their buffer. */
static int gather(struct tfp *t, uint64_t node) {
  struct tfp_window *const w = &t->messages;
  struct pems_error e = {0};
  w->begin = w->end = 0;
  if (t->lane->least <= node && tfp_lane_flush(t->lane)) {
    return t->failure.code;
  }
  while (t->waiting <= node) {
    const char *const first = top(t, &e);
    if (e.code) {
      return tfp_fail(t, &e);
    }
    t->waiting = first ? tfp_node(first) : UINT64_MAX;
    if (t->waiting > node) {
      break;
    }
    if (w->end == w->room) {
      return tfp_too_many(t, node, "is sent more messages", w);
    }
    if (pop(t, w->buffer + w->end * w->size, &e)) {
      return tfp_fail(t, &e);
    }
    w->end++;
  }
  return 0;
}

/* The edges of a node, which are first in the window. */
static int take_edges(struct tfp *t, struct pems_tfp_visit *v) {
  struct tfp_window *const w = &t->edges;
  if (tfp_edges_fill(t, v->node, false)) {
    return t->failure.code;
  }
  v->edges = tfp_window_at(w, 0);
  while (w->begin < w->end && tfp_node(tfp_window_at(w, 0)) == v->node) {
    w->begin++;
    v->degree++;
  }
  return 0;
}

static int place_result(struct tfp *t, struct pems_tfp_visit *v) {
  if (t->o.result == 0) {
    return 0;
  }
  if (t->result_count == t->result_room && tfp_results_take(t)) {
    return t->failure.code;
  }
  v->result = t->results + t->result_count++ * t->o.result;
  memset(v->result, 0, t->o.result);
  return 0;
}

static int visit(struct tfp *t, uint64_t node) {
  struct pems_tfp_visit v = {.node = node};
  if (gather(t, node) || (t->o.edges && take_edges(t, &v)) ||
      place_result(t, &v)) {
    return t->failure.code;
  }
  v.messages = t->messages.buffer;
  v.received = t->messages.end;
  return tfp_visit(t->lane, &v);
}

static int visit_all(struct tfp *t, uint64_t first, uint64_t end) {
  for (uint64_t node = first; node < end; node++) {
    if (visit(t, node)) {
      return t->failure.code;
    }
  }
  return 0;
}

/* All that is sent is for nodes behind the layer: what comes before its end is
   there already. */
static int visit_layer_within_limit(struct tfp *t, uint64_t first) {
  struct pems_error e;
  memcpy(t->record, &t->layer_end, sizeof(t->layer_end));
  if (pems_pqueue_limit_begin(t->queue, t->record, 0, &e)) {
    return tfp_fail(t, &e);
  }
  t->waiting = first;
  if (visit_all(t, first, t->layer_end) || tfp_lane_flush(t->lane)) {
    return t->failure.code;
  }
  return pems_pqueue_limit_end(t->queue, &e) ? tfp_fail(t, &e) : 0;
}

static int visit_layer(struct tfp *t, uint64_t first) {
  if (t->o.mode == PEMS_TFP_LIMIT) {
    return visit_layer_within_limit(t, first);
  }
  return visit_all(t, first, t->layer_end);
}

int tfp_in_order(struct tfp *t) {
  for (uint64_t first = 0; t->o.layer && first < t->o.nodes;
       first = t->layer_end) {
    if (tfp_layer(t, first) || visit_layer(t, first)) {
      return t->failure.code;
    }
  }
  if (!t->o.layer && visit_all(t, 0, t->o.nodes)) {
    return t->failure.code;
  }
  return tfp_results_take(t);
}
