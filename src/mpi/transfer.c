#include "mpi/transfer.h"

#include "base/native.h"

#include <string.h>

/* Small pieces of a context on disk are read through a window, so that a
   strided message does not cost a request per element. */
struct window {
  struct context *context;
  const char *low, *end; /* of the memory that the message touches */
  const char *start;
  size_t len;
  char *buffer; /* WINDOW bytes, or NULL until needed */
};

enum { WINDOW = 1 << 20, DIRECT = 64 << 10, STEP = 8 << 20 };

static bool in_memory(const struct context *c, const void *p) {
  return c->state == CONTEXT_IN || !context_owns(c, p);
}

static void window_start(struct window *w, struct context *c,
                         const struct span *s) {
  char *low;
  const size_t n = span_bounds(s, &low);
  *w = (struct window){.context = c, .low = low, .end = low + n};
}

/* Where to start a window that holds p; it ends behind the n bytes at p if the
   message goes downwards. */
static const char *window_from(const struct window *w, const char *p,
                               size_t n) {
  if (p >= w->start || n >= WINDOW) {
    return p;
  }
  const size_t below = WINDOW - n;
  const char *start = (size_t)(p - w->low) < below ? w->low : p - below;
  /* The memory between two pieces need not be the context's. */
  return context_owns(w->context, start) ? start : p;
}

/* Memory that holds up to *n bytes from p on; shortens *n. */
static const char *window_at(struct window *w, const char *p, size_t *n) {
  if (p < w->start || p >= w->start + w->len) {
    if (!w->buffer) {
      w->buffer = native_need(WINDOW, "delivering a message");
    }
    w->start = window_from(w, p, *n);
    const size_t left = w->end - w->start;
    w->len = left < WINDOW ? left : WINDOW;
    context_read(w->context, w->start, w->buffer, w->len);
  }
  const size_t have = w->start + w->len - p;
  *n = *n < have ? *n : have;
  return w->buffer + (p - w->start);
}

/* Copies n bytes at p, in the window's context, to q in `to`. */
static void copy_from_disk(struct window *w, const char *p, struct context *to,
                           char *q, size_t n) {
  while (n) {
    size_t m = n;
    const char *have = window_at(w, p, &m);
    context_write(to, q, have, m);
    p += m;
    q += m;
    n -= m;
  }
}

static void copy(struct window *w, const char *p, struct context *to, char *q,
                 size_t n) {
  if (context_in_memory(w->context, p)) {
    context_write(to, q, p, n);
  } else if (n >= DIRECT && in_memory(to, q)) {
    context_read(w->context, p, q, n);
    context_received(to, q, n);
  } else {
    copy_from_disk(w, p, to, q, n);
  }
}

size_t transfer(struct context *from, const struct span *s, struct context *to,
                const struct span *d) {
  struct window window;
  struct cursor source, target;
  size_t total = 0, n, m = 1;
  char *p, *q;
  context_pin(from);
  context_pin(to);
  window_start(&window, from, s);
  cursor_start(&source, s, 0);
  cursor_start(&target, d, 0);
  while (m && (n = cursor_next(&source, STEP, &p))) {
    while (n && (m = cursor_next(&target, n, &q))) {
      copy(&window, p, to, q, m);
      p += m;
      n -= m;
      total += m;
    }
  }
  context_unpin(to);
  context_unpin(from);
  native_free(window.buffer);
  return total;
}

void transfer_read(struct context *from, const struct span *s, size_t position,
                   char *out, size_t n) {
  struct window window;
  struct cursor cursor;
  char *p;
  context_pin(from);
  window_start(&window, from, s);
  cursor_start(&cursor, s, position);
  while (n) {
    size_t m = cursor_next(&cursor, n, &p);
    if (!m) {
      break;
    }
    if (context_in_memory(from, p) || m >= DIRECT) {
      context_read(from, p, out, m);
      out += m;
      n -= m;
      continue;
    }
    while (m) {
      size_t k = m;
      memcpy(out, window_at(&window, p, &k), k);
      out += k;
      p += k;
      m -= k;
      n -= k;
    }
  }
  context_unpin(from);
  native_free(window.buffer);
}

void transfer_write(struct context *to, const struct span *d, size_t position,
                    const char *in, size_t n) {
  struct cursor cursor;
  char *p;
  context_pin(to);
  cursor_start(&cursor, d, position);
  while (n) {
    const size_t m = cursor_next(&cursor, n, &p);
    if (!m) {
      break;
    }
    context_write(to, p, in, m);
    in += m;
    n -= m;
  }
  context_unpin(to);
}

void transfer_swap(struct context *a, const struct span *s, struct context *b,
                   const struct span *d) {
  const size_t size = span_size(s) < span_size(d) ? span_size(s) : span_size(d);
  char *one = native_need(2 * (size_t)WINDOW, "delivering a message");
  char *other = one + WINDOW;
  for (size_t at = 0; at < size; at += WINDOW) {
    const size_t n = size - at < WINDOW ? size - at : WINDOW;
    transfer_read(a, s, at, one, n);
    transfer_read(b, d, at, other, n);
    transfer_write(a, s, at, other, n);
    transfer_write(b, d, at, one, n);
  }
  native_free(one);
}
