/* Records on their way along an edge. */
#include "em/stream/graph.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

static char *record(const struct graph_edge *e, char *base, size_t n) {
  return base + n * e->size;
}

/* n may be 0, and then `from` NULL. */
static void copy_records(const struct graph_edge *e, char *to, const char *from,
                         size_t n) {
  if (n > 0) {
    memcpy(to, from, n * e->size);
  }
}

static size_t least_in(const struct graph_edge *e) {
  return e->to->in[e->input].least;
}

static size_t least_out(const struct graph_edge *e) {
  return e->from->out[e->output].least;
}

/* --- the producer's end of a pull edge --- */

/* What is lent, until it is used up. */
static int borrow(struct graph_edge *e, const char **at, size_t *left) {
  if (*left > 0 || e->ended) {
    return 0;
  }
  const int code = e->from->kind->lend(e->from, at, left);
  e->ended = !code && *left == 0;
  return code;
}

/* Up to `room` records into `space`, wherever they come from. */
static int bring(struct graph_edge *e, char *space, size_t room, size_t *n) {
  int code;
  *n = 0;
  if (!e->lends) {
    code = e->from->kind->fill(e->from, space, room, n);
    e->ended = !code && *n == 0;
    return code;
  }
  code = borrow(e, &e->lent, &e->lent_left);
  if (code) {
    return code;
  }
  *n = e->lent_left < room ? e->lent_left : room;
  copy_records(e, space, e->lent, *n);
  if (*n > 0) {
    e->lent += *n * e->size;
  }
  e->lent_left -= *n;
  return 0;
}

/* What is left moves to the beginning of the buffer. */
static void compact(struct graph_edge *e) {
  if (e->at != e->buffer) {
    memmove(e->buffer, e->at, e->left * e->size);
    e->at = e->buffer;
  }
}

static int refill(struct graph_edge *e) {
  while (e->left < least_in(e) && !e->ended) {
    size_t n;
    compact(e);
    const int code =
        bring(e, record(e, e->buffer, e->left), e->capacity - e->left, &n);
    if (code) {
      return code;
    }
    e->left += n;
  }
  return 0;
}

/* --- the consumer's end --- */

int stream_edge_view(struct graph_edge *e, const char **at, size_t *n) {
  int code = 0;
  if (!e->push) {
    code = e->buffer ? refill(e) : borrow(e, &e->at, &e->left);
  }
  *at = e->at;
  *n = e->left;
  return code;
}

void stream_edge_used(struct graph_edge *e, size_t n) {
  if (n == 0) {
    return;
  }
  e->at += n * e->size;
  e->left -= n;
  e->records += n;
}

int stream_edge_draw(struct graph_edge *e, char *space, size_t room,
                     size_t *n) {
  int code;
  if (!e->lends && !e->buffer) {
    code = bring(e, space, room, n);
    e->records += *n;
    return code;
  }
  const char *at;
  code = stream_edge_view(e, &at, n);
  if (code) {
    return code;
  }
  *n = *n < room ? *n : room;
  copy_records(e, space, at, *n);
  stream_edge_used(e, *n);
  return 0;
}

/* --- pushing --- */

/* Not more than a batch at once: what was written is still in the cache when it
   is passed on. */
static int offered(struct graph_edge *e, char **space, size_t *room) {
  const size_t batch = stream_edge_batch(e);
  const int code = e->to->kind->space(e->to, space, room);
  *room = *room < batch ? *room : batch;
  return code;
}

int stream_edge_space(struct graph_edge *e, char **space, size_t *room) {
  if (!e->buffer) {
    return offered(e, space, room);
  }
  compact(e);
  *space = record(e, e->buffer, e->left);
  *room = e->capacity - e->left;
  return 0;
}

/* n records to a consumer that offers space. */
static int copy_out(struct graph_edge *e, const char *at, size_t n) {
  while (n > 0) {
    char *space;
    size_t room;
    int code = offered(e, &space, &room);
    if (code) {
      return code;
    }
    room = room < n ? room : n;
    memcpy(space, at, room * e->size);
    code = e->to->kind->filled(e->to, room);
    if (code) {
      return code;
    }
    at += room * e->size;
    n -= room;
    e->records += room;
  }
  return 0;
}

int stream_edge_filled(struct graph_edge *e, size_t n) {
  if (n == 0) {
    return 0;
  }
  if (!e->buffer) {
    e->records += n;
    return e->to->kind->filled(e->to, n);
  }
  e->left += n;
  if (e->reads) {
    return e->to->kind->take(e->to);
  }
  const int code = copy_out(e, e->at, e->left);
  e->left = 0;
  return code;
}

/* What is lent goes through the buffer. */
static int copy_in(struct graph_edge *e, const char *at, size_t n) {
  while (n > 0) {
    char *space;
    size_t room;
    int code = stream_edge_space(e, &space, &room);
    if (code) {
      return code;
    }
    room = room < n ? room : n;
    memcpy(space, at, room * e->size);
    code = stream_edge_filled(e, room);
    if (code) {
      return code;
    }
    at += room * e->size;
    n -= room;
  }
  return 0;
}

int stream_edge_give(struct graph_edge *e, const char *at, size_t n) {
  if (n == 0) {
    return 0;
  }
  if (e->buffer) {
    return copy_in(e, at, n);
  }
  if (!e->reads) {
    return copy_out(e, at, n);
  }
  e->at = at;
  e->left = n;
  return e->to->kind->take(e->to);
}

int stream_edge_end(struct graph_edge *e) {
  if (e->ended) {
    return 0;
  }
  e->ended = 1;
  return e->to->kind->end(e->to);
}

/* --- the buffer --- */

static bool needs_buffer(const struct graph_edge *e) {
  return (!e->lends && e->reads) || least_in(e) > 1 || least_out(e) > 1;
}

size_t stream_edge_batch(const struct graph_edge *e) {
  return e->from->graph->component[e->from->component[SIDE_OUT]].batch;
}

void stream_edge_plan(struct graph_edge *e) {
  e->lends = stream_node_lends(e->from);
  e->reads = stream_node_reads(e->to);
  e->capacity = needs_buffer(e) ? stream_edge_batch(e) : 0;
}

int stream_edge_begin(struct graph_edge *e) {
  if (e->capacity == 0) {
    return 0;
  }
  e->buffer = memory_get(&e->from->graph->memory, e->capacity * e->size);
  e->at = e->buffer;
  return e->buffer ? 0 : ENOMEM;
}

void stream_edge_leave(struct graph_edge *e) {
  memory_put(&e->from->graph->memory, e->buffer, e->capacity * e->size);
  e->buffer = NULL;
}
