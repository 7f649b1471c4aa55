/* What one-sided calls do to memory of VPs of this process. The VP may be
   running: then its context is in memory, and is changed by plain stores. */
#include "base/need.h"
#include "mpi/rma/win.h"

#include "base/counters.h"
#include "base/self.h"
#include "context/residency/residency.h"
#include "mpi/transfer/transfer.h"
#include "mpi_below/real.h"
#include "os/bits.h"
#include "os/lock.h"
#include "os/native.h"
#include "report/trace.h"

#include <limits.h>
#include <stdatomic.h>
#include <string.h>

enum { SMALL = 512 };

static void moved(const struct context *c, size_t n) {
  counter_add(deliver_memory, n);
  trace_add(c->index, TRACE_MEMORY, n);
}

/* The calling VP's own context stays in memory. */
static bool is_own(const struct context *c) {
  return self.vp && self.vp->context == c;
}

static void let_go(struct context *c) {
  if (!is_own(c)) {
    context_unpin(c);
  }
}

/* c has been pinned, unless it is the caller's: false, and it is pinned no
   more, where it is not in memory to be touched. What is mapped lazily can be
   touched by anyone, and is not looked at closer: that would need its VP to
   wait. */
static bool stays(struct context *c) {
  const bool there = context_resident(c);
  if (!there) {
    let_go(c);
  }
  return there;
}

/* Keeps c in memory until let_go; false: it is not there. */
static bool keep(struct context *c) {
  if (!is_own(c)) {
    context_pin(c);
  }
  return stays(c);
}

/* The same, and up to n bytes of s are to be written there. */
static bool keep_to_write(struct context *c, const struct layout_span *s,
                          size_t n) {
  if (!is_own(c)) {
    context_pin_to_write(c, span_most_touched(s, n));
  }
  return stays(c);
}

void win_read(struct context *c, const struct layout_span *s, size_t position,
              char *out, size_t n) {
  if (!keep(c)) {
    transfer_read(c, s, position, out, n);
    return;
  }
  span_pack(s, position, out, n);
  moved(c, n);
  let_go(c);
}

void win_write(struct context *c, const struct layout_span *s, size_t position,
               const char *in, size_t n) {
  if (!keep_to_write(c, s, n)) {
    transfer_write(c, s, position, in, n);
    return;
  }
  span_unpack(s, position, in, n);
  moved(c, n);
  let_go(c);
}

static void copy_span(const struct layout_span *s,
                      const struct layout_span *d) {
  struct layout_cursor from, to;
  char *p, *q;
  size_t n, m = 1;
  span_cursor_start(&from, s, 0);
  span_cursor_start(&to, d, 0);
  while (m && (n = span_cursor_next(&from, SIZE_MAX, &p))) {
    while (n && (m = span_cursor_next(&to, n, &q))) {
      memmove(q, p, m);
      p += m;
      n -= m;
    }
  }
}

void win_copy(struct context *from, const struct layout_span *s,
              struct context *to, const struct layout_span *d) {
  if (!keep_to_write(to, d, span_size(d))) {
    transfer(from, s, to, d);
    return;
  }
  const bool here = keep(from);
  if (here) {
    copy_span(s, d);
    moved(to, span_size(s));
    let_go(from);
  }
  let_go(to);
  if (!here) {
    transfer(from, s, to, d);
  }
}

/* --- for checkpoints --- */

/* Who has changed memory looks whether it is being saved; who saves says so
   first, and then looks at the memory. */
void win_note_change(struct win_member *m, const struct layout_span *s) {
  char *low;
  atomic_thread_fence(memory_order_seq_cst);
  const size_t n = atomic_load(&m->kept) ? span_bounds(s, &low) : 0;
  if (!n) {
    return;
  }
  const uintptr_t from = (uintptr_t)low;
  run_queue_lock();
  m->changed = bits_min(m->changed, from);
  m->beyond = bits_max(m->beyond, from + n);
  run_queue_unlock();
}

/* --- accumulates --- */

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
  char *a = need_zalloc(2, room, "MPI_Accumulate");
  const struct layout_span left = {a, n, t}, right = {a + room, n, t};
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

/* False if it is known to have changed nothing. */
static bool change(struct context *c, const struct layout_span *target,
                   size_t position, size_t n, const struct win_operator *o,
                   const char *in, char *old, char *now) {
  const bool replace = o->op == MPI_REPLACE;
  if (old || !replace) {
    win_read(c, target, position, now, n);
  }
  if (old) {
    memcpy(old, now, n);
  }
  if (o->op == MPI_NO_OP) {
    return false;
  }
  if (!replace) {
    compute(o, in, now, n);
  }
  win_write(c, target, position, replace ? in : now, n);
  return !old || memcmp(old, replace ? in : now, n) != 0;
}

bool win_change(struct win_member *m, const struct layout_span *target,
                size_t position, size_t n, const struct win_operator *o,
                const char *in, char *old) {
  _Alignas(16) char small[SMALL];
  char *now = n <= sizeof(small) ? small : need_alloc(n, "MPI_Accumulate");
  lock_take(&m->changing);
  const bool changed =
      change(m->vp->context, target, position, n, o, in, old, now);
  lock_give(&m->changing);
  if (o->op != MPI_NO_OP) {
    win_written(m, target);
  }
  if (now != small) {
    native_free(now);
  }
  return changed;
}

bool win_swap(struct win_member *m, char *p, size_t n, const char *compare,
              const char *in, char *old) {
  const struct layout_span s = {p, n, layout_of(MPI_BYTE)};
  lock_take(&m->changing);
  win_read(m->vp->context, &s, 0, old, n);
  const bool same = memcmp(old, compare, n) == 0;
  if (same) {
    win_write(m->vp->context, &s, 0, in, n);
  }
  lock_give(&m->changing);
  if (same) {
    win_written(m, &s);
  }
  return same && memcmp(old, in, n) != 0;
}
