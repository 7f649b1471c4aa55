/* What one-sided calls do to memory of VPs of this process. The VP may be
   running: then its context is in memory, and is changed by plain stores. */
#include "mpi/win.h"

#include "base/counters.h"
#include "base/native.h"
#include "base/trace.h"
#include "mpi/transfer.h"
#include "net/real.h"

#include <limits.h>
#include <string.h>

enum { SMALL = 512 };

static void moved(const struct context *c, size_t n) {
  counter_add(deliver_memory, n);
  trace_add(c->index, TRACE_MEMORY, n);
}

/* What is mapped lazily can be touched by anyone, and is not looked at closer:
   that would need its VP to wait. */
void win_read(struct context *c, const struct span *s, size_t position,
              char *out, size_t n) {
  context_pin(c);
  if (context_resident(c)) {
    span_pack(s, position, out, n);
    moved(c, n);
  } else {
    transfer_read(c, s, position, out, n);
  }
  context_unpin(c);
}

void win_write(struct context *c, const struct span *s, size_t position,
               const char *in, size_t n) {
  context_pin(c);
  if (context_resident(c)) {
    span_unpack(s, position, in, n);
    moved(c, n);
  } else {
    transfer_write(c, s, position, in, n);
  }
  context_unpin(c);
}

static void copy_span(const struct span *s, const struct span *d) {
  struct cursor from, to;
  char *p, *q;
  size_t n, m = 1;
  cursor_start(&from, s, 0);
  cursor_start(&to, d, 0);
  while (m && (n = cursor_next(&from, SIZE_MAX, &p))) {
    while (n && (m = cursor_next(&to, n, &q))) {
      memmove(q, p, m);
      p += m;
      n -= m;
    }
  }
}

/* Pins are nested: a context on disk that is pinned twice goes nowhere. */
void win_copy(struct context *from, const struct span *s, struct context *to,
              const struct span *d) {
  context_pin(from);
  context_pin(to);
  if (context_resident(from) && context_resident(to)) {
    copy_span(s, d);
    moved(to, span_size(s));
  } else {
    transfer(from, s, to, d);
  }
  context_unpin(to);
  context_unpin(from);
}

/* Accumulates ------------------------------------------------------------- */

static void reduce(const struct win_operator *o, const char *in, char *inout,
                   size_t n) {
  const size_t most = INT_MAX / 2;
  while (n) {
    const size_t m = n < most ? n : most;
    real.Reduce_local(in, inout, (int)m, o->basic, o->op);
    in += m * (size_t)o->layout->extent;
    inout += m * (size_t)o->layout->extent;
    n -= m;
  }
}

/* Elements with gaps, as pairs have, are packed without. */
static void reduce_packed(const struct win_operator *o, const char *in,
                          char *inout, size_t bytes) {
  const struct layout *t = o->layout;
  const size_t n = bytes / t->size, room = n * (size_t)t->extent;
  char *a = native_zneed(2, room, "MPI_Accumulate");
  const struct span left = {a, n, t}, right = {a + room, n, t};
  span_unpack(&left, 0, in, bytes);
  span_unpack(&right, 0, inout, bytes);
  reduce(o, left.base, right.base, n);
  span_pack(&right, 0, inout, bytes);
  native_free(a);
}

/* `now` holds what is there. */
static void compute(const struct win_operator *o, const char *in, char *now,
                    size_t n) {
  if (o->layout->dense) {
    reduce(o, in, now, n / o->layout->size);
  } else {
    reduce_packed(o, in, now, n);
  }
}

static void change(struct context *c, const struct span *target,
                   size_t position, size_t n, const struct win_operator *o,
                   const char *in, char *old, char *now) {
  const bool replace = o->op == MPI_REPLACE;
  if (old || !replace) {
    win_read(c, target, position, now, n);
  }
  if (old) {
    memcpy(old, now, n);
  }
  if (replace) {
    win_write(c, target, position, in, n);
  } else if (o->op != MPI_NO_OP) {
    compute(o, in, now, n);
    win_write(c, target, position, now, n);
  }
}

void win_change(struct win_member *m, const struct span *target,
                size_t position, size_t n, const struct win_operator *o,
                const char *in, char *old) {
  _Alignas(16) char small[SMALL];
  char *now = n <= sizeof(small) ? small : native_need(n, "MPI_Accumulate");
  pthread_mutex_lock(&m->changing);
  change(m->vp->context, target, position, n, o, in, old, now);
  pthread_mutex_unlock(&m->changing);
  if (now != small) {
    native_free(now);
  }
}

void win_swap(struct win_member *m, char *p, size_t n, const char *compare,
              const char *in, char *old) {
  const struct span s = {p, n, layout_of(MPI_BYTE)};
  pthread_mutex_lock(&m->changing);
  win_read(m->vp->context, &s, 0, old, n);
  if (memcmp(old, compare, n) == 0) {
    win_write(m->vp->context, &s, 0, in, n);
  }
  pthread_mutex_unlock(&m->changing);
}
