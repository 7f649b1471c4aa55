/* Windows on sequences of messages and edges. */
#include "em/tfp/tfp.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>

#include "base/failure.h"
#include "os/bits.h"

/* Where nodes are visited one by one, edges are read in portions that caches
   hold. */
enum { READ_BYTES = 256 << 10 };

size_t tfp_window_before(const struct tfp_window *w, uint64_t node) {
  size_t low = 0, high = tfp_window_count(w);
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (tfp_node(tfp_window_at(w, middle)) < node) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

void tfp_window_settle(struct tfp_window *w) {
  const size_t count = tfp_window_count(w);
  if (w->begin > 0) {
    memmove(w->buffer, tfp_window_at(w, 0), count * w->size);
  }
  w->begin = 0;
  w->end = count;
}

uint64_t tfp_window_complete(const struct tfp_window *w, uint64_t last) {
  if (!w->more) {
    return last;
  }
  if (w->begin == w->end) {
    return 0;
  }
  return tfp_node(w->buffer + (w->end - 1) * w->size);
}

int tfp_too_many(struct tfp *t, uint64_t node, const char *what,
                 const struct tfp_window *w) {
  struct pems_error e;
  failure(&e, ENOMEM,
          "node %" PRIu64 " %s than fit in their buffer: %zu: give more memory",
          node, what, w->room);
  return tfp_fail(t, &e);
}

/* The order of n edges that have come. */
static int check_edges(struct tfp *t, const char *edge, size_t n) {
  struct pems_error e;
  for (size_t i = 0; i < n; i++, edge += t->edges.size) {
    const uint64_t from = tfp_node(edge);
    if (from < t->edges_last || from >= t->o.nodes) {
      failure(&e, EINVAL,
              "edges are out of order: one from node %" PRIu64
              " after one from node %" PRIu64 " of %" PRIu64
              ": sort them by where they begin",
              from, t->edges_last, t->o.nodes);
      return tfp_fail(t, &e);
    }
    t->edges_last = from;
  }
  t->edges_read += n;
  return 0;
}

/* What the source fails with. */
static int source_failed(struct tfp *t, int code, struct pems_error *e) {
  if (!e->text[0]) {
    failure(e, code, "the source of edges failed: %s", strerror(code));
  }
  e->code = code;
  return tfp_fail(t, e);
}

/* Asks for up to `room` edges. */
static int read_edges(struct tfp *t, size_t room) {
  struct tfp_window *const w = &t->edges;
  struct pems_error e = {0};
  char *const to = w->buffer + w->end * w->size;
  size_t n = 0;
  const int code = t->o.edges(t->o.edges_arg, to, room, &n, &e);
  if (code) {
    return source_failed(t, code, &e);
  }
  if (check_edges(t, to, n)) {
    return t->failure.code;
  }
  w->end += n;
  w->more = n > 0;
  return 0;
}

int tfp_edges_fill(struct tfp *t, uint64_t node, bool all) {
  struct tfp_window *const w = &t->edges;
  if (!w->more || (tfp_window_complete(w, UINT64_MAX) > node &&
                   (!all || tfp_window_count(w) > w->room / 2))) {
    return 0;
  }
  const size_t some = bits_min(w->room, 1 + READ_BYTES / w->size);
  const size_t wanted = all ? w->room : some;
  tfp_window_settle(w);
  while (w->more && w->end < w->room &&
         (w->end < wanted || tfp_window_complete(w, 0) <= node)) {
    if (read_edges(t, bits_min(w->room - w->end, all ? w->room : some))) {
      return t->failure.code;
    }
  }
  if (tfp_window_complete(w, UINT64_MAX) > node) {
    return 0;
  }
  return tfp_too_many(t, node, "has more edges", w);
}
