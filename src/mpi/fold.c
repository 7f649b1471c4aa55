/* Vectors that fit into the shared buffer are copied there when their VP
   arrives; the last VP to arrive combines them, and the others pick up what is
   theirs when they run again. Longer ones stay in their contexts: the last VP
   walks over them in chunks that fit, reading from and writing to contexts
   wherever they are. */
#include "mpi/fold.h"

#include "base/native.h"
#include "base/trace.h"
#include "mpi/coll.h"
#include "mpi/layout.h"
#include "mpi/transfer.h"
#include "net/net.h"
#include "net/real.h"
#include "vp/self.h"

#include <string.h>

/* One VP's part. */
struct part {
  struct vp *vp;
  struct fold fold;
  char *vector; /* small ones: a copy of `in` with the elements' layout */
};

/* Elements of a vector in memory of pems: `origin` is where element 0 starts in
   the sense of the datatype, inside `memory`. */
struct buffer {
  char *memory;
  char *origin;
  size_t bytes;
};

static void part_free(void *arg) {
  struct part *p = arg;
  native_free(p->vector);
  native_free(p);
}

static struct part *part_of(const struct coll *coll, int index) {
  return coll->part[index];
}

static struct span elements(const void *base, size_t first, size_t n,
                            const struct layout *layout) {
  return (struct span){(char *)base + (ptrdiff_t)first * layout->extent, n,
                       layout};
}

/* Bytes of memory that n elements touch, and where the first begins in it. */
static size_t footprint(size_t n, const struct layout *layout,
                        ptrdiff_t *origin) {
  char *low;
  const struct span s = elements(NULL, 0, n, layout);
  const size_t bytes = span_bounds(&s, &low);
  *origin = -(ptrdiff_t)(uintptr_t)low;
  return bytes;
}

static struct buffer buffer_new(size_t n, const struct layout *layout) {
  struct buffer b;
  ptrdiff_t origin;
  b.bytes = footprint(n, layout, &origin);
  b.memory = native_zneed(1, b.bytes, "reduction buffer");
  b.origin = b.memory + origin;
  return b;
}

/* inout[i] = in[i] op inout[i]. User functions are the program's code: for
   them the thread is outside MPI. */
static void combine(const struct part *p, const char *in, char *inout, int n) {
  const int inside = self.inside;
  self.inside = 0;
  real.Reduce_local(in, inout, n, p->fold.type, p->fold.op);
  self.inside = inside;
}

/* Copies elements of one layout to memory of the same layout, leaving the gaps
   between them alone. */
static void copy_elements(const char *from, void *to, size_t n,
                          const struct layout *layout) {
  const struct span s = elements(from, 0, n, layout);
  const struct span d = elements(to, 0, n, layout);
  struct cursor source, target;
  char *p, *q;
  size_t m;
  cursor_start(&source, &s, 0);
  cursor_start(&target, &d, 0);
  while ((m = cursor_next(&source, SIZE_MAX, &p))) {
    cursor_next(&target, m, &q);
    memcpy(q, p, m);
  }
}

static int piece_first(const struct fold *f, int rank) {
  if (!f->counts) {
    return rank * f->equal_counts;
  }
  int first = 0;
  for (int i = 0; i < rank; i++) {
    first += f->counts[i];
  }
  return first;
}

static int piece_count(const struct fold *f, int rank) {
  return f->counts ? f->counts[rank] : f->equal_counts;
}

static bool wants_result(const struct part *p) {
  return p->fold.kind != FOLD_REDUCE || p->vp->rank == p->fold.root;
}

static bool is_scan(const struct fold *f) {
  return f->kind == FOLD_SCAN || f->kind == FOLD_EXSCAN;
}

/* n elements over all processes: a reduction, or for scans what lower processes
   give. */
static void on_network(const struct part *leader, const char *in, char *out,
                       int n, const struct layout *layout) {
  const struct fold *f = &leader->fold;
  trace_enter(leader->vp->index, TRACE_NETWORK);
  trace_add(leader->vp->index, TRACE_SENT, n * layout->size);
  if (is_scan(f)) {
    net_exscan(in, out, n, f->type, f->op);
  } else if (f->kind == FOLD_REDUCE) {
    net_reduce(in, out, n, f->type, f->op,
               plan_proc_of(vps.plan.v, vps.plan.nprocs, f->root));
  } else {
    net_allreduce(in, out, n, f->type, f->op);
  }
  trace_enter(leader->vp->index, TRACE_DELIVER);
}

/* Small vectors ------------------------------------------------------------ */

/* All VPs' vectors of this process into the last one's; each vector holds what
   the ranks up to its own give together. */
static char *fold_local(const struct coll *coll, const struct part *leader,
                        ptrdiff_t origin) {
  char *sum = part_of(coll, 0)->vector;
  for (int i = 1; i < vps.n; i++) {
    char *next = part_of(coll, i)->vector;
    combine(leader, sum + origin, next + origin, leader->fold.count);
    sum = next;
  }
  return sum;
}

/* Scans: what lower processes give together goes in front of every vector
   here. `before` of process 0 is undefined and not used. */
static void put_in_front(const struct coll *coll, const struct part *leader,
                         const char *before, ptrdiff_t origin) {
  for (int i = 0; i < vps.n; i++) {
    combine(leader, before, part_of(coll, i)->vector + origin,
            leader->fold.count);
  }
}

/* Combines over all processes; coll->buffer gets the result of a reduction, or
   for scans what lower processes give. */
static void fold_network(struct coll *coll, const struct part *leader,
                         char *sum, const struct layout *layout) {
  const struct fold *f = &leader->fold;
  struct buffer result = buffer_new(f->count, layout);
  ptrdiff_t origin = result.origin - result.memory;
  on_network(leader, sum + origin, result.origin, f->count, layout);
  if (is_scan(f) && net_rank() > 0) {
    put_in_front(coll, leader, result.origin, origin);
  }
  coll->buffer = result.memory;
}

static void fold_small(struct coll *coll, const struct part *leader,
                       const struct layout *layout) {
  ptrdiff_t origin;
  footprint(leader->fold.count, layout, &origin);
  char *sum = fold_local(coll, leader, origin);
  if (coll_networked()) {
    fold_network(coll, leader, sum, layout);
  }
}

/* The VP runs again and takes its result. */
static void take_small(const struct coll *coll, const struct part *p,
                       const struct layout *layout) {
  const struct fold *f = &p->fold;
  ptrdiff_t origin;
  footprint(f->count, layout, &origin);
  const int i = p->vp->index;
  const char *sum =
      coll->buffer ? coll->buffer : part_of(coll, vps.n - 1)->vector;
  switch (f->kind) {
  case FOLD_SCAN:
    copy_elements(p->vector + origin, f->out, f->count, layout);
    return;
  case FOLD_EXSCAN:
    /* The first VP of a process takes what lower processes gave. */
    if (i > 0) {
      sum = part_of(coll, i - 1)->vector;
    }
    if (p->vp->rank > 0) {
      copy_elements(sum + origin, f->out, f->count, layout);
    }
    return;
  case FOLD_SCATTER:
    copy_elements(sum + origin +
                      (ptrdiff_t)piece_first(f, p->vp->rank) * layout->extent,
                  f->out, piece_count(f, p->vp->rank), layout);
    return;
  case FOLD_REDUCE:
  case FOLD_ALLREDUCE:
    copy_elements(sum + origin, f->out, f->count, layout);
  }
}

/* Long vectors ------------------------------------------------------------- */

/* A chunk of every vector at a time: elements [first, first + n). */
struct chunk {
  struct coll *coll;
  const struct part *leader;
  const struct layout *layout;
  size_t first;
  int n;
  struct buffer sum;  /* of the ranks so far */
  struct buffer next; /* the next rank's elements */
  struct buffer out;  /* a result from the network */
};

static void swap_buffers(struct buffer *a, struct buffer *b) {
  const struct buffer t = *a;
  *a = *b;
  *b = t;
}

/* Reads the chunk of VP i. */
static void chunk_read(const struct chunk *c, int i, struct buffer *into) {
  const struct part *p = part_of(c->coll, i);
  const struct span s = elements(p->fold.in, c->first, c->n, c->layout);
  const struct span d = elements(into->origin, 0, c->n, c->layout);
  transfer(p->vp->context, &s, c->leader->vp->context, &d);
}

/* Writes elements [from, from + n) of the chunk, which stand in b, to element
   `at` of VP i's result. */
static void chunk_write(const struct chunk *c, int i, const struct buffer *b,
                        size_t from, size_t n, size_t at) {
  const struct part *p = part_of(c->coll, i);
  const struct span s = elements(b->origin, from, n, c->layout);
  const struct span d = elements(p->fold.out, at, n, c->layout);
  transfer(c->leader->vp->context, &s, p->vp->context, &d);
}

/* Combines the vectors of this process into c->sum; for scans each prefix is
   handed out on the way when the process is the first. */
static void chunk_fold(struct chunk *c, bool hand_out, bool start_given) {
  const enum fold_kind kind = c->leader->fold.kind;
  for (int i = 0; i < vps.n; i++) {
    const bool nothing_before = i == 0 && !start_given;
    if (hand_out && kind == FOLD_EXSCAN && !nothing_before) {
      /* The elements are read before they are overwritten in place. */
      chunk_read(c, i, &c->next);
      chunk_write(c, i, &c->sum, 0, c->n, c->first);
    } else {
      chunk_read(c, i, &c->next);
    }
    if (!nothing_before) {
      combine(c->leader, c->sum.origin, c->next.origin, c->n);
    }
    swap_buffers(&c->sum, &c->next);
    if (hand_out && kind == FOLD_SCAN) {
      chunk_write(c, i, &c->sum, 0, c->n, c->first);
    }
  }
}

static void chunk_scan(struct chunk *c) {
  if (!coll_networked()) {
    chunk_fold(c, true, false);
    return;
  }
  /* First what all VPs here give, for the processes above; then again with
     what those below gave. */
  chunk_fold(c, false, false);
  on_network(c->leader, c->sum.origin, c->out.origin, c->n, c->layout);
  swap_buffers(&c->sum, &c->out);
  chunk_fold(c, true, net_rank() > 0);
}

static void chunk_scatter(const struct chunk *c, const struct buffer *sum) {
  /* Counts are the same on all ranks; only the leader's are in memory. */
  const struct fold *f = &c->leader->fold;
  const size_t end = c->first + c->n;
  for (int i = 0; i < vps.n; i++) {
    const size_t start = piece_first(f, vps.first_rank + i);
    const size_t stop = start + piece_count(f, vps.first_rank + i);
    const size_t from = start > c->first ? start : c->first;
    const size_t to = stop < end ? stop : end;
    if (from < to) {
      chunk_write(c, i, sum, from - c->first, to - from, from - start);
    }
  }
}

static void chunk_reduce(struct chunk *c) {
  const struct fold *f = &c->leader->fold;
  const struct buffer *sum = &c->sum;
  chunk_fold(c, false, false);
  if (coll_networked()) {
    on_network(c->leader, c->sum.origin, c->out.origin, c->n, c->layout);
    sum = &c->out;
  }
  if (f->kind == FOLD_SCATTER) {
    chunk_scatter(c, sum);
    return;
  }
  for (int i = 0; i < vps.n; i++) {
    if (wants_result(part_of(c->coll, i))) {
      chunk_write(c, i, sum, 0, c->n, c->first);
    }
  }
}

static void fold_long(struct coll *coll, const struct part *leader,
                      const struct layout *layout, size_t room) {
  const struct fold *f = &leader->fold;
  const size_t extent = layout->true_extent > layout->extent
                            ? layout->true_extent
                            : layout->extent;
  size_t step = room / 3 / (extent ? extent : 1);
  step = step < 1 ? 1 : step > INT32_MAX ? INT32_MAX : step;
  struct chunk c = {.coll = coll, .leader = leader, .layout = layout};
  c.sum = buffer_new(step, layout);
  c.next = buffer_new(step, layout);
  c.out = buffer_new(step, layout);
  for (size_t at = 0; at < (size_t)f->count; at += step) {
    const size_t left = f->count - at;
    c.first = at;
    c.n = (int)(left < step ? left : step);
    if (is_scan(f)) {
      chunk_scan(&c);
    } else {
      chunk_reduce(&c);
    }
  }
  native_free(c.sum.memory);
  native_free(c.next.memory);
  native_free(c.out.memory);
}

/* The call ----------------------------------------------------------------- */

static struct part *part_new(struct vp *vp, const struct fold *f) {
  struct part *p = native_zneed(1, sizeof(*p), "reduction");
  p->vp = vp;
  p->fold = *f;
  return p;
}

static void copy_vector(struct part *p, const struct layout *layout) {
  const struct buffer b = buffer_new(p->fold.count, layout);
  copy_elements(p->fold.in, b.origin, p->fold.count, layout);
  p->vector = b.memory;
  trace_add(p->vp->index, TRACE_MEMORY, p->fold.count * layout->size);
}

static void lead(struct coll *coll, struct part *p, const struct layout *layout,
                 bool small) {
  coll_network_begin(coll, p->vp);
  sched_unlock();
  if (small) {
    fold_small(coll, p, layout);
  } else {
    fold_long(coll, p, layout, vps.plan.sigma / 4);
  }
  sched_lock();
  signal_raise(&coll->signal);
  coll_network_end(coll);
}

int fold(struct vp *vp, const char *name, const struct fold *f) {
  const struct layout *layout = layout_hold(f->type);
  struct part *p = part_new(vp, f);
  ptrdiff_t origin;
  const size_t bytes = footprint(f->count, layout, &origin);
  const bool small = bytes <= coll_small(vps.plan.v_local, 2);
  sched_lock();
  struct coll *coll = coll_enter(vp, name, f->root);
  coll->free_part = part_free;
  if (small) {
    coll_reserve(coll, vp, bytes, true);
    sched_unlock();
    copy_vector(p, layout);
    sched_lock();
  }
  coll->part[vp->index] = p;
  if (signal_arrive(&coll->signal)) {
    lead(coll, p, layout, small);
  } else if (wants_result(p) || !small) {
    /* EM-REDUCE: others than the root need not wait for the result. */
    signal_wait(&coll->signal, vp, name);
  }
  sched_unlock();
  if (small && wants_result(p)) {
    take_small(coll, p, layout);
  }
  sched_lock();
  coll_leave(coll, vp);
  sched_unlock();
  layout_release(layout);
  return MPI_SUCCESS;
}
