/* Short vectors for which sigma has room are copied there when their VP
   arrives, and what becomes of them stands there until it runs again. Others
   stay in their contexts: they are walked over in chunks, read from and written
   to contexts wherever those are. */
#include "mpi/coll/fold/coll_fold.h"

#include "base/self.h"
#include "mpi/coll/call/coll.h"
#include "mpi/coll/call/coll_memory.h"
#include "mpi/transfer/transfer.h"
#include "mpi_below/net.h"
#include "os/bits.h"
#include "vp/run_queue.h"
#include "vp/upcall.h"

#include <string.h>

struct coll_fold_part *coll_fold_part_of(const struct coll *coll, int index) {
  return coll->part[index];
}

struct layout_span coll_fold_elements(const void *base, size_t first, size_t n,
                                      const struct layout *layout) {
  return (struct layout_span){(char *)base + (ptrdiff_t)first * layout->extent,
                              n, layout};
}

/* Bytes of memory that n elements touch, and where the first begins in it. */
size_t coll_fold_footprint(size_t n, const struct layout *layout,
                           ptrdiff_t *origin) {
  char *low;
  const struct layout_span s = coll_fold_elements(NULL, 0, n, layout);
  const size_t bytes = span_bounds(&s, &low);
  *origin = -(ptrdiff_t)(uintptr_t)low;
  return bytes;
}

struct coll_fold_buffer coll_fold_buffer_new(size_t n,
                                             const struct layout *layout) {
  struct coll_fold_buffer b;
  ptrdiff_t origin;
  b.bytes = coll_fold_footprint(n, layout, &origin);
  b.memory = coll_memory_take(b.bytes, "reduction buffer");
  if (!layout->dense) {
    memset(b.memory, 0, b.bytes);
  }
  b.origin = b.memory + origin;
  return b;
}

void coll_fold_swap(struct coll_fold_buffer *a, struct coll_fold_buffer *b) {
  const struct coll_fold_buffer t = *a;
  *a = *b;
  *b = t;
}

/* Copies elements of one layout to memory of the same layout, leaving the gaps
   between them alone. */
void coll_fold_copy(const char *from, void *to, size_t n,
                    const struct layout *layout) {
  const struct layout_span s = coll_fold_elements(from, 0, n, layout);
  const struct layout_span d = coll_fold_elements(to, 0, n, layout);
  struct layout_cursor source, target;
  char *p, *q;
  size_t m;
  span_cursor_start(&source, &s, 0);
  span_cursor_start(&target, &d, 0);
  while ((m = span_cursor_next(&source, SIZE_MAX, &p))) {
    span_cursor_next(&target, m, &q);
    memcpy(q, p, m);
  }
}

size_t coll_fold_piece_first(const struct coll_fold_part *p) {
  if (!p->counts) {
    return (size_t)p->rank * p->fold.equal_counts;
  }
  size_t first = 0;
  for (int i = 0; i < p->rank; i++) {
    first += (size_t)counts_at(p->fold.counts, i);
  }
  return first;
}

size_t coll_fold_piece_count(const struct coll_fold_part *p) {
  return p->counts ? (size_t)counts_at(p->fold.counts, p->rank)
                   : p->fold.equal_counts;
}

bool coll_fold_is_scan(const struct coll_reduce *f) {
  return f->kind == FOLD_SCAN || f->kind == FOLD_EXSCAN;
}

/* Directions ---------------------------------------------------------------
   Of an inter-communicator each group gets what the other one gives: two
   reductions, told apart by the group that gives. */

int coll_fold_group_of(const struct team *team, int peer) {
  return peer >= team->first;
}

bool coll_fold_has_groups(const struct team *team) {
  return team->first < team->size;
}

/* `any`: a member that knows the arguments. */
bool coll_fold_gives(const struct coll *coll, const struct coll_fold_part *any,
                     int group) {
  if (!coll_fold_has_groups(coll->team)) {
    return group == 0;
  }
  return any->fold.kind != FOLD_REDUCE ||
         group != coll_fold_group_of(coll->team, any->fold.root);
}

int coll_fold_giver_of(const struct coll *coll, int peer) {
  return coll_fold_has_groups(coll->team)
             ? !coll_fold_group_of(coll->team, peer)
             : 0;
}

/* Does the member get what `group` gives? */
static bool gets(const struct coll *coll, const struct coll_fold_part *p,
                 int group) {
  return !p->fold.idle && coll_fold_giver_of(coll, p->peer) == group &&
         (p->fold.kind != FOLD_REDUCE || p->fold.root == p->peer);
}

bool coll_fold_wants_result(const struct coll *coll,
                            const struct coll_fold_part *p) {
  return gets(coll, p, coll_fold_giver_of(coll, p->peer));
}

/* A short vector is one chunk: between processes, in no more than they combine
   well at once, however much memory there is. */
bool coll_fold_is_short(const struct coll_fold_part *p) {
  enum { AT_ONCE = 1 << 20 };
  ptrdiff_t origin;
  const size_t room = coll_small(vps.plan.v_local, 2);
  const size_t most = net_size() > 1 ? bits_min(room, AT_ONCE) : room;
  return p->fold.count <= INT32_MAX &&
         coll_fold_footprint(p->fold.count, p->layout, &origin) <= most;
}

/* --- chunks --- */

/* User functions are the program's code: for them the thread is a VP's, outside
   MPI. */
static void combine_as(const struct coll_fold_part *p, const char *in,
                       char *inout, int n) {
  const struct self before = self;
  self.inside = 0;
  op_combine(in, inout, n, p->fold.type, p->fold.op);
  self = before;
}

/* A user function is called with the operation and the datatype of the VP on
   whose thread it runs. */
struct combination {
  struct upcall upcall;
  const struct coll_fold_chunk *chunk;
  const char *in;
  char *inout;
};

/* The member here that is the VP, if it has an operation; or NULL. */
static const struct coll_fold_part *part_of(const struct coll *coll,
                                            const struct vp *vp) {
  for (int i = 0; i < coll->team->n; i++) {
    const struct coll_fold_part *p = coll_fold_part_of(coll, i);
    if (p->vp == vp && !p->fold.idle) {
      return p;
    }
  }
  return NULL;
}

static bool is_for(const struct upcall *u, const struct vp *vp) {
  return part_of(((const struct combination *)u)->chunk->coll, vp);
}

static void combine_for(struct upcall *u, struct vp *vp) {
  const struct combination *const m = (const struct combination *)u;
  combine_as(part_of(m->chunk->coll, vp), m->in, m->inout, m->chunk->n);
}

/* inout[i] = in[i] op inout[i]. */
void coll_fold_combine(const struct coll_fold_chunk *c, const char *in,
                       char *inout) {
  if (c->upcalls) {
    struct combination m = {
        {.is_for = is_for, .run = combine_for}, c, in, inout};
    run_queue_upcall(&m.upcall);
  } else {
    combine_as(c->model, in, inout, c->n);
  }
}

/* Reads the chunk of member i into *into. A copy that nobody needs any more is
   that chunk. */
static void chunk_read(const struct coll_fold_chunk *c, int i,
                       struct coll_fold_buffer *into) {
  const struct coll_fold_part *p = coll_fold_part_of(c->coll, i);
  const ptrdiff_t origin = into->origin - into->memory;
  if (p->vector && !coll_fold_is_scan(&c->model->fold)) {
    into->memory = p->vector + (ptrdiff_t)c->first * c->layout->extent;
    into->origin = into->memory + origin;
    return;
  }
  if (p->vector) {
    coll_fold_copy(p->vector + origin, into->origin, c->n, c->layout);
    return;
  }
  const struct layout_span s =
      coll_fold_elements(p->fold.in, c->first, c->n, c->layout);
  const struct layout_span d =
      coll_fold_elements(into->origin, 0, c->n, c->layout);
  transfer(p->vp->context, &s, c->model->vp->context, &d);
}

/* Writes elements [from, from + n) of the chunk, which stand in b, to element
   `at` of a member's result. */
static void chunk_write(const struct coll_fold_chunk *c,
                        const struct coll_fold_part *p,
                        const struct coll_fold_buffer *b, size_t from, size_t n,
                        size_t at) {
  if (p->vector && coll_fold_is_scan(&p->fold)) {
    coll_fold_copy(b->origin, p->vector + (b->origin - b->memory), n,
                   c->layout);
    return;
  }
  const struct layout_span s =
      coll_fold_elements(b->origin, from, n, c->layout);
  const struct layout_span d =
      coll_fold_elements(p->fold.out, at, n, c->layout);
  transfer(c->model->vp->context, &s, p->vp->context, &d);
}

/* Combines the vectors of members [start, end) here into c->sum; `before`: that
   already holds what lower ranks give. `hand_out`: each prefix goes to its rank
   on the way. */
void coll_fold_run(struct coll_fold_chunk *c, int start, int end, bool before,
                   bool hand_out) {
  const enum coll_reduce_kind kind = c->model->fold.kind;
  for (int i = start; i < end; i++) {
    const bool nothing_before = i == start && !before;
    /* The elements are read before they are overwritten in place. */
    chunk_read(c, i, &c->next);
    if (hand_out && kind == FOLD_EXSCAN && !nothing_before) {
      chunk_write(c, coll_fold_part_of(c->coll, i), &c->sum, 0, c->n, c->first);
    }
    if (!nothing_before) {
      coll_fold_combine(c, c->sum.origin, c->next.origin);
    }
    coll_fold_swap(&c->sum, &c->next);
    if (hand_out && kind == FOLD_SCAN) {
      chunk_write(c, coll_fold_part_of(c->coll, i), &c->sum, 0, c->n, c->first);
    }
  }
}

static void scatter_piece(const struct coll_fold_chunk *c,
                          const struct coll_fold_part *p) {
  const size_t end = c->first + c->n;
  const size_t start = coll_fold_piece_first(p);
  const size_t stop = start + coll_fold_piece_count(p);
  const size_t from = start > c->first ? start : c->first;
  const size_t to = stop < end ? stop : end;
  if (from < to) {
    chunk_write(c, p, &c->sum, from - c->first, to - from, from - start);
  }
}

/* The chunk's result, in c->sum, to those here that get it. */
void coll_fold_hand_out(struct coll_fold_chunk *c) {
  struct coll *coll = c->coll;
  if (coll->buffer) {
    /* They take it when they run again. */
    ptrdiff_t origin;
    const size_t whole =
        coll_fold_footprint(c->model->fold.count, c->layout, &origin);
    memcpy(coll->buffer + c->group * whole +
               (ptrdiff_t)c->first * c->layout->extent,
           c->sum.memory, coll_fold_footprint(c->n, c->layout, &origin));
    return;
  }
  for (int i = 0; i < coll->team->n; i++) {
    const struct coll_fold_part *p = coll_fold_part_of(coll, i);
    if (!gets(coll, p, c->group)) {
      continue;
    }
    if (p->fold.kind == FOLD_SCATTER) {
      scatter_piece(c, p);
    } else {
      chunk_write(c, p, &c->sum, 0, c->n, c->first);
    }
  }
}

/* Local members of the group that gives: [start, end) by index. */
void coll_fold_givers(const struct coll_fold_chunk *c, int *start, int *end) {
  const struct team *team = c->coll->team;
  *start = 0;
  while (*start < team->n &&
         coll_fold_group_of(team, team->local[*start]) != c->group) {
    ++*start;
  }
  *end = *start;
  while (*end < team->n &&
         coll_fold_group_of(team, team->local[*end]) == c->group) {
    ++*end;
  }
}

void coll_fold_here(struct coll_fold_chunk *c) {
  int start, end;
  coll_fold_givers(c, &start, &end);
  coll_fold_run(c, start, end, false, true);
  if (!coll_fold_is_scan(&c->model->fold)) {
    coll_fold_hand_out(c);
  }
}
