#include "mpi/transfer/transfer.h"

#include "base/need.h"
#include "context/delivery/expect.h"
#include "context/stack_part.h"
#include "os/bits.h"
#include "os/native.h"
#include "os/pages.h"

#include <string.h>

enum { WINDOW = 1 << 20, DIRECT = 64 << 10, STEP = 8 << 20 };

/* Whole pages of a context on disk, so that reading them takes no staging. */
struct view {
  const char *start;
  size_t len;
  char *memory; /* NULL until needed */
  char *buffer; /* WINDOW bytes in it, aligned */
};

/* Small pieces of a context on disk are read through a window, so that a
   strided message does not cost a request per element. Where they follow each
   other, the next view is read while this one is used. */
struct window {
  struct context *context;
  const char *low, *end; /* of the memory that the message touches */
  struct view now, ahead;
  struct delivery reading;
};

static bool in_memory(const struct context *c, const void *p) {
  return c->state == CONTEXT_IN || !context_owns(c, p);
}

static void window_start(struct window *w, struct context *c,
                         const struct layout_span *s) {
  char *low;
  const size_t n = span_bounds(s, &low);
  w->context = c;
  w->low = low;
  w->end = low + n;
  w->now = w->ahead = (struct view){0};
}

static void window_finish(struct window *w) {
  if (w->now.memory) {
    delivery_unpair(&w->reading);
    delivery_end(&w->reading);
  }
  native_free(w->now.memory);
  native_free(w->ahead.memory);
}

static const char *page_of(const char *p) {
  return p - (uintptr_t)p % PAGE;
}

/* Where to start a window that holds p; it ends behind the n bytes at p if the
   message goes downwards. */
static const char *window_from(const struct window *w, const char *p,
                               size_t n) {
  if (p >= w->now.start || n >= WINDOW - PAGE) {
    return page_of(p);
  }
  const size_t below = WINDOW - PAGE - n;
  const char *start = (size_t)(p - w->low) < below ? w->low : p - below;
  /* The memory between two pieces need not be the context's. */
  return page_of(context_owns(w->context, start) ? start : p);
}

static bool holds(const struct view *v, const char *p) {
  return (size_t)(p - v->start) < v->len;
}

static void view_read(struct window *w, struct view *v, const char *start) {
  const size_t left = w->end + PAGE - 1 - start;
  if (!v->memory) {
    v->memory = need_alloc(WINDOW + PAGE, "delivering a message");
    v->buffer = v->memory + (PAGE - (uintptr_t)v->memory % PAGE);
  }
  v->start = start;
  v->len = left < WINDOW ? left - left % PAGE : WINDOW;
  delivery_read(&w->reading, w->context, start, v->buffer, v->len);
}

static void read_ahead(struct window *w) {
  const char *next = w->now.start + w->now.len;
  if (next < w->end && context_owns(w->context, next)) {
    view_read(w, &w->ahead, next);
  }
}

/* Reads the view that holds p, unless it was read ahead. */
static void window_move(struct window *w, const char *p, size_t n) {
  const char *before = w->now.start + w->now.len;
  const bool onwards = w->now.len && p >= before && p - before < WINDOW;
  if (!w->now.memory) {
    delivery_begin(&w->reading);
    delivery_pair(&w->reading, w->context, w->context, 0);
  }
  if (holds(&w->ahead, p)) {
    const struct view used = w->now;
    w->now = w->ahead;
    w->ahead = used;
  } else {
    delivery_wait(&w->reading);
    view_read(w, &w->now, window_from(w, p, n));
  }
  w->ahead.len = 0;
  delivery_wait(&w->reading);
  if (onwards) {
    read_ahead(w);
  }
}

/* Memory that holds up to *n bytes from p on; shortens *n. */
static const char *window_at(struct window *w, const char *p, size_t *n) {
  if (!holds(&w->now, p)) {
    window_move(w, p, *n);
  }
  const size_t have = w->now.start + w->now.len - p;
  *n = *n < have ? *n : have;
  return w->now.buffer + (p - w->now.start);
}

/* Copies n bytes at p, in the window's context, to q in `to`. */
static void copy_from_disk(struct delivery *d, struct window *w, const char *p,
                           struct context *to, char *q, size_t n) {
  while (n) {
    size_t m = n;
    const char *have = window_at(w, p, &m);
    delivery_write(d, to, q, have, m, false);
    p += m;
    q += m;
    n -= m;
  }
}

/* Is a piece of n bytes worth a request of its own? */
static bool direct(const struct window *w, size_t n) {
  return n >= DIRECT || n == (size_t)(w->end - w->low);
}

static void copy_alike(struct delivery *d, struct window *w, const char *p,
                       struct context *to, char *q, size_t n) {
  if (context_in_memory(w->context, p)) {
    delivery_write(d, to, q, p, n, true);
  } else if (direct(w, n) && in_memory(to, q)) {
    delivery_read(d, w->context, p, q, n);
    context_received(to, q, n);
  } else {
    copy_from_disk(d, w, p, to, q, n);
  }
}

static void copy(struct delivery *d, struct window *w, const char *p,
                 struct context *to, char *q, size_t n) {
  while (n) {
    const size_t m =
        context_stack_alike(to, q, context_stack_alike(w->context, p, n));
    copy_alike(d, w, p, to, q, m);
    p += m;
    q += m;
    n -= m;
  }
}

size_t transfer_start(struct delivery *d, struct context *from,
                      const struct layout_span *s, struct context *to,
                      const struct layout_span *target) {
  struct window window;
  struct layout_cursor here, there;
  size_t total = 0, n, m = 1;
  char *p, *q;
  delivery_pair(d, from, to, span_most_touched(target, span_size(target)));
  window_start(&window, from, s);
  span_cursor_start(&here, s, 0);
  span_cursor_start(&there, target, 0);
  while (m && (n = span_cursor_next(&here, STEP, &p))) {
    while (n && (m = span_cursor_next(&there, n, &q))) {
      copy(d, &window, p, to, q, m);
      p += m;
      n -= m;
      total += m;
    }
  }
  window_finish(&window);
  delivery_unpair(d);
  return total;
}

size_t transfer(struct context *from, const struct layout_span *s,
                struct context *to, const struct layout_span *d) {
  struct delivery delivery;
  delivery_begin(&delivery);
  const size_t n = transfer_start(&delivery, from, s, to, d);
  delivery_end(&delivery);
  return n;
}

static void read_through(struct window *w, const char *p, char *out, size_t n) {
  while (n) {
    size_t m = n;
    memcpy(out, window_at(w, p, &m), m);
    out += m;
    p += m;
    n -= m;
  }
}

void transfer_read_start(struct delivery *d, struct context *from,
                         const struct layout_span *s, size_t position,
                         char *out, size_t n) {
  struct window window;
  struct layout_cursor cursor;
  size_t m;
  char *p;
  delivery_pair(d, from, from, 0);
  window_start(&window, from, s);
  span_cursor_start(&cursor, s, position);
  while (n && (m = span_cursor_next(&cursor, n, &p))) {
    n -= m;
    if (context_in_memory(from, p) || direct(&window, m) || s->layout->dense) {
      delivery_read(d, from, p, out, m);
    } else {
      read_through(&window, p, out, m);
    }
    out += m;
  }
  window_finish(&window);
  delivery_unpair(d);
}

void transfer_write_start(struct delivery *d, struct context *to,
                          const struct layout_span *s, size_t position,
                          const char *in, size_t n) {
  struct layout_cursor cursor;
  size_t m;
  char *p;
  delivery_pair(d, to, to, span_most_touched(s, n));
  span_cursor_start(&cursor, s, position);
  while (n && (m = span_cursor_next(&cursor, n, &p))) {
    delivery_write(d, to, p, in, m, true);
    in += m;
    n -= m;
  }
  delivery_unpair(d);
}

void transfer_read(struct context *from, const struct layout_span *s,
                   size_t position, char *out, size_t n) {
  struct delivery d;
  delivery_begin(&d);
  transfer_read_start(&d, from, s, position, out, n);
  delivery_end(&d);
}

void transfer_write(struct context *to, const struct layout_span *d,
                    size_t position, const char *in, size_t n) {
  struct delivery delivery;
  delivery_begin(&delivery);
  transfer_write_start(&delivery, to, d, position, in, n);
  delivery_end(&delivery);
}

void transfer_swap(struct delivery *d, struct context *a,
                   const struct layout_span *s, struct context *b,
                   const struct layout_span *t) {
  const size_t size = span_size(s) < span_size(t) ? span_size(s) : span_size(t);
  char *one = need_alloc(2 * (size_t)WINDOW, "delivering a message");
  char *other = one + WINDOW;
  for (size_t at = 0; at < size; at += WINDOW) {
    const size_t n = size - at < WINDOW ? size - at : WINDOW;
    transfer_read_start(d, a, s, at, one, n);
    transfer_read_start(d, b, t, at, other, n);
    delivery_wait(d);
    transfer_write_start(d, a, s, at, other, n);
    transfer_write_start(d, b, t, at, one, n);
    delivery_wait(d);
  }
  native_free(one);
}

/* Straight to its place: false if there is none in memory. */
static bool take_straight(struct context *to, const struct layout_span *target,
                          size_t position, size_t n, int process,
                          const struct neighbour_offer *o, bool *taken) {
  char *const p = target->base + position;
  struct delivery d;
  delivery_begin(&d);
  delivery_pair(&d, to, to, span_most_touched(target, n));
  const bool open = delivery_open(to, p, n);
  if (open) {
    *taken = neighbour_read(process, o, 0, p, n);
    delivery_filled(to, p, n);
  }
  delivery_unpair(&d);
  delivery_end(&d);
  return open;
}

/* By way of memory of pems. */
static bool take_by_buffer(struct context *to, const struct layout_span *target,
                           size_t position, size_t n, int process,
                           const struct neighbour_offer *o) {
  char *const buffer = need_alloc(WINDOW, "a message from a process");
  bool taken = true;
  for (size_t at = 0, m; at < n && taken; at += m) {
    m = bits_min(n - at, WINDOW);
    taken = neighbour_read(process, o, at, buffer, m);
    if (taken) {
      transfer_write(to, target, position + at, buffer, m);
    }
  }
  native_free(buffer);
  return taken;
}

bool transfer_take(struct context *to, const struct layout_span *target,
                   size_t position, size_t n, int process,
                   const struct neighbour_offer *o) {
  bool taken;
  return target->layout->dense &&
                 take_straight(to, target, position, n, process, o, &taken)
             ? taken
             : take_by_buffer(to, target, position, n, process, o);
}
