/* The calls that compute: the last member to arrive combines what all give, in
   chunks (coll_fold.h), and the others pick up what is theirs when they run
   again. Between processes a thread that may wait for messages does it. */
#include "mpi/coll/fold/coll_reduce.h"

#include "base/need.h"
#include "base/self.h"
#include "context/residency/residency.h"
#include "mpi/check/check_buffers.h"
#include "mpi/coll/call/coll.h"
#include "mpi/coll/call/coll_memory.h"
#include "mpi/coll/call/coll_turns.h"
#include "mpi/coll/fold/coll_fold.h"
#include "mpi/object/envelope.h"
#include "mpi/object/op.h"
#include "mpi/object/type_attribute.h"
#include "mpi/object/type_hold.h"
#include "mpi_below/real.h"
#include "os/bits.h"
#include "os/native.h"
#include "report/trace.h"
#include "vp/run_queue.h"

#include <string.h>

static void part_free(void *arg) {
  struct coll_fold_part *p = arg;
  layout_release(p->layout);
  if (!p->fold.idle) {
    op_release(p->fold.op);
  }
  if (p->own_type != MPI_DATATYPE_NULL) {
    real.Type_free(&p->own_type);
  }
  native_free(p->counts);
  coll_memory_give(p->vector);
  native_free(p);
}

/* --- combining --- */

/* Bytes of a chunk between processes at most. It is copied several times: so
   small, that is done in the processor's cache. */
enum { CACHED = 384 << 10 };

/* Bytes that each process may combine at a time. */
static size_t room_of(const struct coll *coll) {
  const bool networked = coll_networked(coll->team);
  const size_t parts = networked ? (size_t)coll->team->nprocs : 1;
  return memory_plan_vector(&vps.plan.memory,
                            networked ? coll->team->size : 0) /
         parts;
}

/* Is there room for the next chunks to be on their way while some are combined?
 */
static bool goes_ahead(const struct coll *coll) {
  return room_of(coll) >= (size_t)2 * CACHED;
}

/* Elements of a chunk: the same in all processes. */
static size_t step_of(const struct coll *coll, const struct layout *layout,
                      size_t count) {
  const size_t extent = layout->true_extent > layout->extent
                            ? layout->true_extent
                            : layout->extent;
  const bool networked = coll_networked(coll->team);
  const size_t parts = networked ? (size_t)coll->team->nprocs : 1;
  const size_t room = room_of(coll);
  const size_t most =
      (networked ? bits_min(room, CACHED) : room) / (extent ? extent : 1);
  const size_t step = bits_min(bits_min(most, INT32_MAX), count / parts + 1);
  return step < 1 ? 1 : step;
}

/* The same of a short vector: one chunk, unless several processes get the
   result. Then each combines a part of it, so that both directions between two
   are in use, but for parts that take hardly longer than a message. */
static size_t short_step(const struct coll *coll,
                         const struct coll_fold_part *model) {
  enum { LEAST_PART = 64 << 10 };
  const size_t count = model->fold.count;
  const size_t bytes = count * model->layout->size;
  const enum coll_reduce_kind kind = model->fold.kind;
  if (!coll_networked(coll->team) || coll_fold_has_groups(coll->team) ||
      (kind != FOLD_ALLREDUCE && kind != FOLD_SCATTER) ||
      !model->layout->dense) {
    return count;
  }
  const size_t parts = bits_min((size_t)coll->team->nprocs, bytes / LEAST_PART);
  return parts > 1 ? count / parts + 1 : count;
}

static struct coll_fold_chunk chunk_at(const struct coll_fold_chunk *all,
                                       size_t at, size_t step) {
  struct coll_fold_chunk c = *all;
  c.first = at;
  c.n = (int)bits_min(all->model->fold.count - at, step);
  c.number = (uint32_t)(at / step);
  return c;
}

/* The next chunks, one for each process, given to those that combine them.
   Returns how many they are. */
static int give_next(const struct coll_fold_chunk *all, size_t step, size_t *at,
                     struct coll_fold_chunk *chunk) {
  const size_t count = all->model->fold.count;
  int n = 0;
  for (; n < all->coll->team->nprocs && *at < count; *at += step) {
    chunk[n++] = chunk_at(all, *at, step);
  }
  coll_fold_give(chunk, n);
  return n;
}

static void fold_across(const struct coll_fold_chunk *all, size_t step) {
  const size_t most = (size_t)all->coll->team->nprocs;
  struct coll_fold_chunk *const memory =
      need_alloc(2 * most * sizeof(*memory), "reduction");
  struct coll_fold_chunk *now = memory, *next = memory + most;
  const bool ahead = goes_ahead(all->coll);
  size_t at = 0;
  for (int n = give_next(all, step, &at, now); n;) {
    const int given = ahead ? give_next(all, step, &at, next) : 0;
    coll_fold_given(now, n);
    n = ahead ? given : give_next(all, step, &at, next);
    struct coll_fold_chunk *const done = now;
    now = next;
    next = done;
  }
  native_free(memory);
}

static void fold_group(struct coll *coll, const struct coll_fold_part *model,
                       int group) {
  struct coll_fold_chunk all = {.coll = coll,
                                .model = model,
                                .layout = model->layout,
                                .group = group,
                                .small = coll_fold_is_short(model),
                                .upcalls = self.vp != model->vp &&
                                           op_is_user(model->fold.op)};
  const size_t count = model->fold.count;
  const size_t step =
      all.small ? short_step(coll, model) : step_of(coll, all.layout, count);
  all.sum = coll_fold_buffer_new(step, all.layout);
  all.next = coll_fold_buffer_new(step, all.layout);
  if (coll_networked(coll->team)) {
    fold_across(&all, step);
  } else {
    for (size_t at = 0; at < count; at += step) {
      struct coll_fold_chunk c = chunk_at(&all, at, step);
      coll_fold_here(&c);
    }
  }
  coll_memory_give(all.sum.memory);
  coll_memory_give(all.next.memory);
}

/* A member here that knows the arguments, or NULL: the one that calls if it
   does, for it can call its operation itself. */
static const struct coll_fold_part *model_of(const struct coll *coll) {
  const struct coll_fold_part *model = NULL;
  for (int i = 0; i < coll->team->n; i++) {
    const struct coll_fold_part *p = coll_fold_part_of(coll, i);
    if (!p->fold.idle && (!model || p->vp == self.vp)) {
      model = p;
    }
  }
  return model;
}

/* Room for a short vector's result, of each group: without it that is written
   to the contexts of those that get it. */
static void reserve_result(struct coll *coll,
                           const struct coll_fold_part *model) {
  ptrdiff_t origin;
  if (!coll_fold_is_short(model) || coll_fold_is_scan(&model->fold)) {
    return;
  }
  const size_t groups = coll_fold_has_groups(coll->team) ? 2 : 1;
  const size_t bytes =
      groups * coll_fold_footprint(model->fold.count, model->layout, &origin);
  run_queue_lock();
  const bool room = coll_reserve_locked(coll, NULL, bytes,
                                        coll->blocking ? COLL_TRY : COLL_SPARE);
  run_queue_unlock();
  if (room) {
    coll->buffer = coll_memory_take(bytes, "reduction buffer");
    coll->free_buffer = coll_memory_give;
  }
}

static void run(struct coll *coll) {
  const struct coll_fold_part *model = model_of(coll);
  if (model) {
    reserve_result(coll, model);
  }
  for (int group = 0; model && group < 2; group++) {
    if (coll_fold_gives(coll, model, group)) {
      fold_group(coll, model, group);
    }
  }
}

static void raise_all_locked(struct coll *coll) {
  signal_raise_locked(&coll->signal);
  for (int i = 0; i < coll->team->n; i++) {
    struct coll_fold_part *p = coll_fold_part_of(coll, i);
    if (p->request) {
      struct request *request = p->request;
      p->request = NULL;
      request_done_locked(request);
    }
  }
}

/* With other processes, at its turn. */
static void run_across(struct coll *coll) {
  run(coll);
  run_queue_lock();
  raise_all_locked(coll);
  coll_turns_end_locked(coll);
  coll_network_end_locked(coll);
  run_queue_unlock();
}

static void run_network(void *arg) {
  self.inside = 1; /* pems's own thread */
  run_across(arg);
}

/* --- the call --- */

/* Members may go on, and free their datatype, before the last one combines. */
static void keep_type(struct coll_fold_part *p) {
  if (op_is_user(p->fold.op)) {
    type_hold(p->fold.type);
  } else if (envelope_of(p->fold.type).types &&
             real.Type_dup(p->fold.type, &p->own_type) == MPI_SUCCESS) {
    p->fold.type = p->own_type;
  }
}

static void audit(const struct coll_call *call,
                  const struct coll_fold_part *p) {
  const struct coll_reduce *f = &p->fold;
  const bool at_root = f->kind == FOLD_REDUCE && p->peer == f->root;
  const bool gives = !comm_is_inter(call->comm) || !at_root;
  const bool gets = f->kind == FOLD_REDUCE || f->kind == FOLD_EXSCAN
                        ? at_root || (f->kind == FOLD_EXSCAN && p->rank > 0)
                        : true;
  const size_t count =
      f->kind == FOLD_SCATTER ? coll_fold_piece_count(p) : f->count;
  const struct layout_span in = {(char *)f->in, gives ? f->count : 0,
                                 p->layout};
  const struct layout_span out = {f->out, gets ? count : 0, p->layout};
  check_buffers_buffer(&in, false, true);
  check_buffers_buffer(&out, true, true);
  if (f->in != f->out) {
    check_buffers_two(&in, &out);
  }
}

static struct coll_fold_part *coll_part_new(const struct coll_call *call,
                                            const struct coll_reduce *f) {
  struct coll_fold_part *p = need_zalloc(1, sizeof(*p), "reduction");
  p->vp = call->comm->vp;
  p->peer = call->comm->peer;
  p->rank = call->comm->rank;
  p->fold = *f;
  p->own_type = MPI_DATATYPE_NULL;
  if (f->idle) {
    return p;
  }
  p->layout = layout_hold(f->type);
  op_hold(f->op);
  if (f->counts.item) {
    const size_t bytes = counts_bytes(f->counts, call->comm->group->n);
    p->counts = memcpy(need_alloc(bytes, "reduction"), f->counts.item, bytes);
    p->fold.counts.item = p->counts;
  }
  keep_type(p);
  if (check_buffers_on) {
    audit(call, p);
  }
  return p;
}

static void copy_vector(struct coll_fold_part *p) {
  const struct coll_fold_buffer b =
      coll_fold_buffer_new(p->fold.count, p->layout);
  if (!p->fold.gets_only) {
    coll_fold_copy(p->fold.in, b.origin, p->fold.count, p->layout);
  }
  p->vector = b.memory;
  trace_add(p->vp->index, TRACE_MEMORY, p->fold.count * p->layout->size);
}

/* The VP runs again and takes its result. */
static void take_small(const struct coll *coll,
                       const struct coll_fold_part *p) {
  const struct coll_reduce *f = &p->fold;
  ptrdiff_t origin;
  const size_t bytes = coll_fold_footprint(f->count, p->layout, &origin);
  if (coll_fold_is_scan(f)) {
    if (p->vector && (f->kind == FOLD_SCAN || p->rank > 0)) {
      coll_fold_copy(p->vector + origin, f->out, f->count, p->layout);
    }
    return;
  }
  if (!coll->buffer) {
    return; /* the result has been written to its context */
  }
  const char *sum =
      coll->buffer + coll_fold_giver_of(coll, p->peer) * bytes + origin;
  if (f->kind == FOLD_SCATTER) {
    coll_fold_copy(sum +
                       (ptrdiff_t)coll_fold_piece_first(p) * p->layout->extent,
                   f->out, coll_fold_piece_count(p), p->layout);
  } else {
    coll_fold_copy(sum, f->out, f->count, p->layout);
  }
}

struct coll_reduce_request {
  struct request request;
  struct coll *coll;
  struct coll_fold_part *part;
  bool small;
};

/* May another thread than a member's combine? */
static bool is_delegated(const struct coll *coll) {
  return coll_networked(coll->team) || coll_fold_has_groups(coll->team);
}

/* Others than those that get the result need not wait for it (EM-REDUCE), if
   what they give was copied; but somebody must call a user operation. */
static bool waits(const struct coll *coll, const struct coll_fold_part *p) {
  return !p->fold.idle && (coll_fold_wants_result(coll, p) || !p->vector ||
                           (op_is_user(p->fold.op) && is_delegated(coll)));
}

/* What processes hold of the call at a time while they combine it: the same in
   all of them. */
static size_t bytes_under_way(const struct coll *coll,
                              const struct coll_fold_part *model) {
  ptrdiff_t origin;
  if (!model) {
    return 0;
  }
  return coll_fold_is_short(model)
             ? (coll->team->size + 3) * coll_fold_footprint(model->fold.count,
                                                            model->layout,
                                                            &origin)
             : memory_plan_bytes(&vps.plan.memory, MEMORY_OLDEST);
}

/* May p's VP, which calls, combine with other processes by itself? It waits for
   them anyway; a thread for that would be woken several times. But not where it
   might have to come from disk in between, or needs the memory of others. */
static bool may_cross(const struct coll *coll, const struct coll_fold_part *p,
                      const struct coll_fold_part *model) {
  bool copied = !contexts_crowded();
  for (int i = 0; i < coll->team->n && copied; i++) {
    const struct coll_fold_part *q = coll_fold_part_of(coll, i);
    copied = q->fold.idle || q->vector;
  }
  return copied && coll->blocking && model == p && coll_fold_is_short(p) &&
         waits(coll, p);
}

/* The last member to arrive, with part p. Unlocks meanwhile. It must not wait
   for another one that calls its operation with a slot in its hand. */
static void lead_locked(struct coll *coll, const struct coll_fold_part *p) {
  const struct coll_fold_part *model = model_of(coll);
  const bool upcalls =
      model && model->vp != self.vp && op_is_user(model->fold.op);
  if (!coll_networked(coll->team) && !upcalls) {
    run_queue_unlock();
    run(coll);
    run_queue_lock();
    raise_all_locked(coll);
    return;
  }
  const size_t bytes = bytes_under_way(coll, model);
  coll->network_done = false;
  if (!may_cross(coll, p, model)) {
    coll_turns_start_locked(coll, bytes, run_network);
  } else if (coll_turns_take_locked(coll, bytes, run_network)) {
    run_queue_unlock();
    run_across(coll);
    run_queue_lock();
  }
}

/* Returns with the lock held. */
static struct coll *begin(const struct coll_call *call,
                          struct coll_fold_part *p, bool small,
                          struct request *request) {
  ptrdiff_t origin;
  run_queue_lock();
  struct coll *coll =
      coll_enter_locked(call->comm, call->name, call->root, call->blocking);
  coll->free_part = part_free;
  /* Nonblocking calls may be so many that there is no room for all. */
  if (small &&
      coll_reserve_locked(
          coll, p->vp, coll_fold_footprint(p->fold.count, p->layout, &origin),
          call->blocking ? COLL_WAIT : COLL_SPARE)) {
    run_queue_unlock();
    copy_vector(p);
    run_queue_lock();
  }
  if (request && waits(coll, p)) {
    p->request = request;
  } else if (request) {
    request_done_locked(request);
  }
  coll->part[call->comm->index] = p;
  if (signal_arrive_locked(&coll->signal)) {
    lead_locked(coll, p);
  }
  return coll;
}

static void end(struct coll *coll, struct coll_fold_part *p, bool small) {
  const MPI_Datatype held = !p->fold.idle && op_is_user(p->fold.op)
                                ? p->fold.type
                                : MPI_DATATYPE_NULL;
  if (small && coll_fold_wants_result(coll, p)) {
    take_small(coll, p);
  }
  run_queue_lock();
  coll_leave_locked(coll, p->vp);
  run_queue_unlock();
  if (held != MPI_DATATYPE_NULL) {
    type_attribute_release(held);
  }
}

int coll_reduce(struct comm *comm, const char *name, int root,
                const struct coll_reduce *f) {
  const struct coll_call call = {comm, name, root, true};
  struct coll_fold_part *p = coll_part_new(&call, f);
  const bool small = !f->idle && coll_fold_is_short(p);
  struct coll *coll = begin(&call, p, small, NULL);
  if (waits(coll, p)) {
    signal_wait_locked(&coll->signal, comm->vp, name);
  }
  run_queue_unlock();
  end(coll, p, small);
  return MPI_SUCCESS;
}

static void finish(struct request *request) {
  struct coll_reduce_request *r = (struct coll_reduce_request *)request;
  end(r->coll, r->part, r->small);
}

static void tell(const struct request *request, struct request_reason *why) {
  why->coll = ((const struct coll_reduce_request *)request)->coll;
}

static const struct request_class coll_reduce_class = {
    .name = "collective call",
    .past = true,
    .collective = true,
    .finish = finish,
    .tell = tell,
};

struct request *coll_reduce_start(const struct coll_call *call,
                                  const struct coll_reduce *f) {
  struct coll_reduce_request *r =
      request_new(sizeof(*r), &coll_reduce_class, call->comm, call->name);
  if (!r) {
    return NULL;
  }
  r->part = coll_part_new(call, f);
  r->small = !f->idle && coll_fold_is_short(r->part);
  r->coll = begin(call, r->part, r->small, &r->request);
  run_queue_unlock();
  trace_enter(call->comm->vp->index, TRACE_COMPUTE);
  return &r->request;
}
