/* Visits: what they send, and how they fail. */
#include "em/tfp/tfp.h"

#include <errno.h>
#include <inttypes.h>

#include "base/failure.h"
#include "base/forked.h"
#include "em/kernel/record.h"
#include "os/lock.h"

int tfp_fail(struct tfp *t, const struct pems_error *error) {
  lock_take(&t->lock);
  if (!t->failure.code) {
    t->failure = *error;
  }
  lock_give(&t->lock);
  atomic_store_explicit(&t->failed, 1, memory_order_release);
  return error->code;
}

/* Messages go the way that the mode wants. */
int tfp_lane_flush(struct tfp_lane *l) {
  struct tfp *const t = l->run;
  struct pems_error e;
  const size_t n = l->count;
  int failed = 0;
  if (n == 0) {
    return 0;
  }
  if (t->o.mode == PEMS_TFP_SEQUENTIAL) {
    failed = pems_pqueue_push(t->queue, l->buffer, n, &e);
  } else if (t->o.mode == PEMS_TFP_LIMIT) {
    failed = pems_pqueue_limit_push(t->queue, l->buffer, n, &e);
  } else {
    failed = pems_pqueue_bulk_push(t->queue, l->thread, l->buffer, n, &e);
  }
  if (t->o.mode != PEMS_TFP_BULK && l->least < t->waiting) {
    t->waiting = l->least;
  }
  l->count = 0;
  l->least = UINT64_MAX;
  return failed ? tfp_fail(t, &e) : 0;
}

/* Why a message cannot be sent. */
static int refuse(const struct tfp_lane *l, uint64_t to,
                  struct pems_error *error) {
  const struct tfp *const t = l->run;
  if (to >= t->o.nodes) {
    return failure(error, EINVAL,
                   "node %" PRIu64 " sends to node %" PRIu64
                   ": there are only %" PRIu64,
                   l->node, to, t->o.nodes);
  }
  if (to <= l->node) {
    return failure(error, EINVAL,
                   "node %" PRIu64 " sends to node %" PRIu64
                   ", which has had its turn: number the nodes topologically",
                   l->node, to);
  }
  return failure(error, EINVAL,
                 "node %" PRIu64 " sends to node %" PRIu64
                 " in its own layer, which ends before node %" PRIu64
                 ": cut the layer",
                 l->node, to, t->layer_end);
}

int pems_tfp_send(struct pems_tfp_visit *visit, const void *messages, size_t n,
                  struct pems_error *error) {
  struct tfp_lane *const l = visit->lane_;
  struct tfp *const t = l->run;
  const size_t size = t->o.message;
  const uint64_t first = t->layer_end ? t->layer_end : l->node + 1;
  const char *message = messages;
  if (forked_since(t->born)) {
    return forked_refuse("time-forward processing", error);
  }
  for (size_t i = 0; i < n; i++, message += size) {
    const uint64_t to = tfp_node(message);
    struct pems_error e;
    if (to < first || to >= t->o.nodes) {
      refuse(l, to, &e);
      return failure(error, tfp_fail(t, &e), "%s", e.text);
    }
    if (l->count == t->lane_room && tfp_lane_flush(l)) {
      return failure(error, t->failure.code, "%s", t->failure.text);
    }
    record_copy(l->buffer + l->count++ * size, message, size);
    l->least = to < l->least ? to : l->least;
  }
  l->messages += n;
  return 0;
}

/* A visit's own failure, unless it is of something that it called. */
static int visit_failed(struct tfp *t, uint64_t node, int code,
                        const struct pems_error *said) {
  struct pems_error e;
  failure(&e, code, "node %" PRIu64 " failed: %.400s", node,
          said->text[0] ? said->text : strerror(code));
  return tfp_fail(t, &e);
}

int tfp_visit(struct tfp_lane *l, struct pems_tfp_visit *v) {
  struct tfp *const t = l->run;
  struct pems_error e = {0};
  v->thread = l->thread;
  v->lane_ = l;
  l->node = v->node;
  l->nodes++;
  l->received = v->received > l->received ? v->received : l->received;
  l->degree = v->degree > l->degree ? v->degree : l->degree;
  const int code = t->o.visit(t->o.arg, v, &e);
  if (code) {
    visit_failed(t, v->node, code, &e);
  }
  return atomic_load_explicit(&t->failed, memory_order_acquire);
}

int tfp_results_take(struct tfp *t) {
  struct pems_error e = {0};
  const size_t n = t->result_count;
  if (n == 0) {
    return 0;
  }
  const int code = t->o.take(t->o.arg, t->result_first, t->results, n, &e);
  t->result_first += n;
  t->result_count = 0;
  if (!code) {
    return 0;
  }
  if (!e.text[0]) {
    failure(&e, code, "the results of nodes were not taken: %s",
            strerror(code));
  }
  e.code = code;
  return tfp_fail(t, &e);
}

int tfp_layer(struct tfp *t, uint64_t first) {
  struct pems_error e = {0};
  uint64_t next = first;
  int code = t->o.layer(t->o.layer_arg, first, &next, &e);
  if (!code && next > first && next <= t->o.nodes) {
    t->layer_end = next;
    t->layers++;
    return 0;
  }
  if (!code) {
    code = failure(&e, EINVAL,
                   "a layer is wrong: nodes %" PRIu64 " to %" PRIu64
                   " of %" PRIu64 ": it must end behind its beginning",
                   first, next, t->o.nodes);
  } else if (!e.text[0]) {
    failure(&e, code, "the source of layers failed: %s", strerror(code));
  }
  e.code = code;
  return tfp_fail(t, &e);
}
