/* Spans of memory as streams of packed bytes; see layout.h. */
#define _GNU_SOURCE
#include "mpi/datatype/layout.h"
#include "os/bits.h"
#include "os/copy.h"

#include <stdint.h>

/* The segment that holds byte `position` of an element. */
static size_t segment_at(const struct layout *t, size_t position) {
  size_t low = 0, high = t->nsegments;
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    if (t->segments[middle].before <= position) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

void span_cursor_start(struct layout_cursor *c, const struct layout_span *s,
                       size_t position) {
  const struct layout *t = s->layout;
  *c = (struct layout_cursor){.span = *s, .element = s->count};
  if (position >= span_size(s)) {
    return;
  }
  c->element = position / t->size;
  const size_t rest = position % t->size;
  c->segment = segment_at(t, rest);
  c->offset = rest - t->segments[c->segment].before;
}

/* The base may be MPI_BOTTOM, a null pointer, and offsets addresses: those are
   added as numbers, modulo 2^64. */
static inline char *address(char *base, size_t offset) {
  return (char *)((uintptr_t)base + offset);
}

static size_t next_dense(struct layout_cursor *c, size_t max, char **p) {
  const size_t size = c->span.layout->size;
  const size_t n =
      bits_min((c->span.count - c->element) * size - c->offset, max);
  *p = address(c->span.base, c->element * size + c->offset);
  c->offset += n;
  c->element += c->offset / size;
  c->offset %= size;
  return n;
}

static inline size_t next_segment(struct layout_cursor *c, size_t max,
                                  char **p) {
  const struct layout *t = c->span.layout;
  const struct layout_segment *s = &t->segments[c->segment];
  const size_t n = bits_min(s->len - c->offset, max);
  *p = address(c->span.base,
               c->element * (size_t)t->extent + (size_t)s->offset + c->offset);
  c->offset += n;
  if (c->offset == s->len) {
    c->offset = 0;
    if (++c->segment == t->nsegments) {
      c->segment = 0;
      c->element++;
    }
  }
  return n;
}

size_t span_cursor_next(struct layout_cursor *c, size_t max, char **p) {
  if (c->element >= c->span.count || c->span.layout->size == 0) {
    return 0;
  }
  return c->span.layout->dense ? next_dense(c, max, p)
                               : next_segment(c, max, p);
}

void span_pack(const struct layout_span *s, size_t position, void *out,
               size_t n) {
  struct layout_cursor c;
  char *piece, *to = out;
  size_t len;
  span_cursor_start(&c, s, position);
  while (n > 0 && (len = span_cursor_next(&c, n, &piece)) > 0) {
    copy_small(to, piece, len);
    to += len;
    n -= len;
  }
}

void span_unpack(const struct layout_span *s, size_t position, const void *in,
                 size_t n) {
  struct layout_cursor c;
  char *piece;
  const char *from = in;
  size_t len;
  span_cursor_start(&c, s, position);
  while (n > 0 && (len = span_cursor_next(&c, n, &piece)) > 0) {
    copy_small(piece, from, len);
    from += len;
    n -= len;
  }
}

size_t span_bounds(const struct layout_span *s, char **low) {
  const struct layout *t = s->layout;
  *low = s->base;
  if (span_size(s) == 0) {
    return 0;
  }
  const ptrdiff_t reach = (ptrdiff_t)(s->count - 1) * t->extent;
  *low = address(s->base, (size_t)(t->true_lb + (reach < 0 ? reach : 0)));
  return (size_t)(t->true_extent + (reach < 0 ? -reach : reach));
}

size_t span_most_touched(const struct layout_span *s, size_t n) {
  enum { ENDS = 2 * 4096 };
  char *low;
  return (s->layout->dense ? n : span_bounds(s, &low)) + ENDS;
}
