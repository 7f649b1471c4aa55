/* Vectors that fit into the shared buffer are copied there when their VP
   arrives; the last VP to arrive combines them, and the others pick up what is
   theirs when they run again. Longer ones stay in their contexts: they are
   walked over in chunks that fit, reading from and writing to contexts wherever
   they are. Where several processes take part, each combines runs of
   neighbouring ranks, and the process of the first rank combines those, on a
   thread that may wait for messages. */
#include "mpi/coll/coll_reduce.h"

#include "base/need.h"
#include "base/self.h"
#include "context/residency/residency.h"
#include "mpi/check/check_buffers.h"
#include "mpi/coll/coll.h"
#include "mpi/coll/mailbox.h"
#include "mpi/datatype/layout.h"
#include "mpi/object/envelope.h"
#include "mpi/object/op.h"
#include "mpi/transfer/transfer.h"
#include "mpi_below/net.h"
#include "mpi_below/real.h"
#include "net/am.h"
#include "net/jobs.h"
#include "os/native.h"
#include "report/trace.h"

#include <string.h>

/* One member's part. */
struct part {
  struct vp *vp;
  int peer, rank;
  struct coll_reduce fold;
  const struct layout *layout; /* of fold.type; held */
  void *counts;                /* copy of fold.counts, or NULL */
  char *vector; /* small ones: a copy of `in` with the elements' layout; of
                   scans also the result */
  MPI_Datatype own_type; /* the program may free its own meanwhile */
  struct request *request;
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
  layout_release(p->layout);
  if (!p->fold.idle) {
    op_release(p->fold.op);
  }
  if (p->own_type != MPI_DATATYPE_NULL) {
    real.Type_free(&p->own_type);
  }
  native_free(p->counts);
  native_free(p->vector);
  native_free(p);
}

static struct part *part_of(const struct coll *coll, int index) {
  return coll->part[index];
}

static struct layout_span elements(const void *base, size_t first, size_t n,
                                   const struct layout *layout) {
  return (struct layout_span){(char *)base + (ptrdiff_t)first * layout->extent,
                              n, layout};
}

/* Bytes of memory that n elements touch, and where the first begins in it. */
static size_t footprint(size_t n, const struct layout *layout,
                        ptrdiff_t *origin) {
  char *low;
  const struct layout_span s = elements(NULL, 0, n, layout);
  const size_t bytes = span_bounds(&s, &low);
  *origin = -(ptrdiff_t)(uintptr_t)low;
  return bytes;
}

static struct buffer buffer_new(size_t n, const struct layout *layout) {
  struct buffer b;
  ptrdiff_t origin;
  b.bytes = footprint(n, layout, &origin);
  b.memory = need_zalloc(1, b.bytes ? b.bytes : 1, "reduction buffer");
  b.origin = b.memory + origin;
  return b;
}

static void swap_buffers(struct buffer *a, struct buffer *b) {
  const struct buffer t = *a;
  *a = *b;
  *b = t;
}

/* Copies elements of one layout to memory of the same layout, leaving the gaps
   between them alone. */
static void copy_elements(const char *from, void *to, size_t n,
                          const struct layout *layout) {
  const struct layout_span s = elements(from, 0, n, layout);
  const struct layout_span d = elements(to, 0, n, layout);
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

static size_t piece_first(const struct part *p) {
  if (!p->counts) {
    return (size_t)p->rank * p->fold.equal_counts;
  }
  size_t first = 0;
  for (int i = 0; i < p->rank; i++) {
    first += (size_t)counts_at(p->fold.counts, i);
  }
  return first;
}

static size_t piece_count(const struct part *p) {
  return p->counts ? (size_t)counts_at(p->fold.counts, p->rank)
                   : p->fold.equal_counts;
}

static bool is_scan(const struct coll_reduce *f) {
  return f->kind == FOLD_SCAN || f->kind == FOLD_EXSCAN;
}

/* Directions ---------------------------------------------------------------
   Of an inter-communicator each group gets what the other one gives: two
   reductions, told apart by the group that gives. */

static int group_of_peer(const struct team *team, int peer) {
  return peer >= team->first;
}

static bool has_groups(const struct team *team) {
  return team->first < team->size;
}

/* `any`: a member that knows the arguments. */
static bool gives(const struct coll *coll, const struct part *any, int group) {
  if (!has_groups(coll->team)) {
    return group == 0;
  }
  return any->fold.kind != FOLD_REDUCE ||
         group != group_of_peer(coll->team, any->fold.root);
}

static int giver_of(const struct coll *coll, int peer) {
  return has_groups(coll->team) ? !group_of_peer(coll->team, peer) : 0;
}

/* Does the member get what `group` gives? */
static bool gets(const struct coll *coll, const struct part *p, int group) {
  return !p->fold.idle && giver_of(coll, p->peer) == group &&
         (p->fold.kind != FOLD_REDUCE || p->fold.root == p->peer);
}

static bool wants_result(const struct coll *coll, const struct part *p) {
  return gets(coll, p, giver_of(coll, p->peer));
}

/* --- chunks --- */

/* A chunk of every vector of one group at a time: elements [first, first + n).
 */
struct chunk {
  struct coll *coll;
  const struct part *model; /* one that takes part: count, type, op */
  const struct layout *layout;
  int group; /* that gives */
  bool small;
  bool borrowed; /* the operation is the program's, and this is not the model's
                    VP's thread */
  size_t first;
  int n;
  uint32_t number;    /* of the chunk */
  struct buffer sum;  /* of the ranks so far */
  struct buffer next; /* the next rank's elements */
};

/* The context that is borrowed may need the memory of the calling VP's own. */
static void lend(struct vp *own) {
  if (own) {
    context_release(own->context);
  }
}

static void take_back(struct vp *own) {
  if (own) {
    context_acquire(own->context);
  }
}

/* inout[i] = in[i] op inout[i]. User functions are the program's code: for
   them the thread is a VP's, outside MPI. */
static void combine(const struct chunk *c, const char *in, char *inout) {
  const struct part *p = c->model;
  const struct self before = self;
  if (c->borrowed) {
    lend(before.vp);
    context_borrow(p->vp->context);
    self.vp = p->vp;
    self.helper = true;
  }
  self.inside = 0;
  real.Reduce_local(in, inout, c->n, p->fold.type, p->fold.op);
  self = before;
  if (c->borrowed) {
    context_unpin(p->vp->context);
    take_back(before.vp);
  }
}

/* Reads the chunk of member i. */
static void chunk_read(const struct chunk *c, int i, struct buffer *into) {
  const struct part *p = part_of(c->coll, i);
  if (c->small) {
    copy_elements(p->vector + (into->origin - into->memory), into->origin, c->n,
                  c->layout);
    return;
  }
  const struct layout_span s = elements(p->fold.in, c->first, c->n, c->layout);
  const struct layout_span d = elements(into->origin, 0, c->n, c->layout);
  transfer(p->vp->context, &s, c->model->vp->context, &d);
}

/* Writes elements [from, from + n) of the chunk, which stand in b, to element
   `at` of a member's result. */
static void chunk_write(const struct chunk *c, const struct part *p,
                        const struct buffer *b, size_t from, size_t n,
                        size_t at) {
  if (c->small) {
    copy_elements(b->origin, p->vector + (b->origin - b->memory), n, c->layout);
    return;
  }
  const struct layout_span s = elements(b->origin, from, n, c->layout);
  const struct layout_span d = elements(p->fold.out, at, n, c->layout);
  transfer(c->model->vp->context, &s, p->vp->context, &d);
}

/* Combines the vectors of members [start, end) here into c->sum; `before`: that
   already holds what lower ranks give. `hand_out`: each prefix goes to its rank
   on the way. */
static void fold_run(struct chunk *c, int start, int end, bool before,
                     bool hand_out) {
  const enum coll_reduce_kind kind = c->model->fold.kind;
  for (int i = start; i < end; i++) {
    const bool nothing_before = i == start && !before;
    /* The elements are read before they are overwritten in place. */
    chunk_read(c, i, &c->next);
    if (hand_out && kind == FOLD_EXSCAN && !nothing_before) {
      chunk_write(c, part_of(c->coll, i), &c->sum, 0, c->n, c->first);
    }
    if (!nothing_before) {
      combine(c, c->sum.origin, c->next.origin);
    }
    swap_buffers(&c->sum, &c->next);
    if (hand_out && kind == FOLD_SCAN) {
      chunk_write(c, part_of(c->coll, i), &c->sum, 0, c->n, c->first);
    }
  }
}

static void scatter_piece(const struct chunk *c, const struct part *p) {
  const size_t end = c->first + c->n;
  const size_t start = piece_first(p);
  const size_t stop = start + piece_count(p);
  const size_t from = start > c->first ? start : c->first;
  const size_t to = stop < end ? stop : end;
  if (from < to) {
    chunk_write(c, p, &c->sum, from - c->first, to - from, from - start);
  }
}

/* The chunk's result, in c->sum, to those here that get it. */
static void hand_out_result(struct chunk *c) {
  struct coll *coll = c->coll;
  if (c->small) {
    /* They take it when they run again. */
    memcpy(coll->buffer + c->group * c->sum.bytes, c->sum.memory, c->sum.bytes);
    return;
  }
  for (int i = 0; i < coll->team->n; i++) {
    const struct part *p = part_of(coll, i);
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
static void givers(const struct chunk *c, int *start, int *end) {
  const struct team *team = c->coll->team;
  *start = 0;
  while (*start < team->n &&
         group_of_peer(team, team->local[*start]) != c->group) {
    ++*start;
  }
  *end = *start;
  while (*end < team->n && group_of_peer(team, team->local[*end]) == c->group) {
    ++*end;
  }
}

static void chunk_here(struct chunk *c) {
  int start, end;
  givers(c, &start, &end);
  fold_run(c, start, end, false, true);
  if (!is_scan(&c->model->fold)) {
    hand_out_result(c);
  }
}

/* --- between processes --- */

/* The end of the run of local members that begins at `start`: neighbours in
   rank. */
static int run_end(const struct team *team, int start, int end) {
  int i = start + 1;
  while (i < end && team->local[i] == team->local[i - 1] + 1) {
    i++;
  }
  return i;
}

static size_t packed_size(const struct chunk *c) {
  return c->n * c->layout->size;
}

static void pack(const struct chunk *c, const struct buffer *b, char *out) {
  const struct layout_span s = elements(b->origin, 0, c->n, c->layout);
  span_pack(&s, 0, out, packed_size(c));
}

static void unpack(const struct chunk *c, const struct buffer *b,
                   const char *in) {
  const struct layout_span s = elements(b->origin, 0, c->n, c->layout);
  span_unpack(&s, 0, in, packed_size(c));
}

static struct mailbox_key key_of(const struct chunk *c, int phase) {
  return mailbox_key(c->coll, (c->number * 2 + (uint32_t)c->group) * 2 +
                                  (uint32_t)phase);
}

/* Of a team in several processes: who combines what they give. */
static int leader_process(const struct chunk *c) {
  const struct team *team = c->coll->team;
  return team->proc[c->group ? team->first : 0];
}

/* What each run of this process gives, packed, one after another. */
static char *local_runs(struct chunk *c, size_t *n) {
  const struct team *team = c->coll->team;
  int start, end;
  givers(c, &start, &end);
  char *out =
      need_alloc((end - start) * packed_size(c) + 1, "reduction buffer");
  *n = 0;
  while (start < end) {
    const int stop = run_end(team, start, end);
    fold_run(c, start, stop, false, false);
    pack(c, &c->sum, out + *n);
    *n += packed_size(c);
    start = stop;
  }
  return out;
}

/* Runs of all processes in the order of ranks. For scans each run is replaced
   by what lower ranks give (the first run's stays); else c->sum gets the
   result. runs[i]: those of team->procs[i]. */
static void combine_runs(struct chunk *c, char **runs) {
  const struct team *team = c->coll->team;
  const int from = c->group ? team->first : 0;
  const int to = c->group || !has_groups(team) ? team->size : team->first;
  size_t *at = need_zalloc(vps.plan.nprocs, sizeof(*at), "reduction buffer");
  int *place = need_alloc(vps.plan.nprocs * sizeof(*place), "reduction");
  for (int i = 0; i < team->nprocs; i++) {
    place[team->procs[i]] = i;
  }
  for (int peer = from; peer < to; peer++) {
    if (peer > from && team->proc[peer] == team->proc[peer - 1]) {
      continue; /* not the first of a run */
    }
    const int i = place[team->proc[peer]];
    char *run = runs[i] + at[i];
    at[i] += packed_size(c);
    unpack(c, &c->next, run);
    if (peer > from) {
      if (is_scan(&c->model->fold)) {
        pack(c, &c->sum, run);
      }
      combine(c, c->sum.origin, c->next.origin);
    }
    swap_buffers(&c->sum, &c->next);
  }
  native_free(at);
  native_free(place);
}

/* Processes all of whose members say MPI_PROC_NULL know nothing of the call:
   the others do not count on them. */
static bool takes_part(const struct chunk *c, int process) {
  const struct team *team = c->coll->team;
  if (!has_groups(team) || c->model->fold.kind != FOLD_REDUCE) {
    return true;
  }
  for (int peer = 0; peer < team->size; peer++) {
    if (team->proc[peer] == process &&
        (peer == c->model->fold.root ||
         group_of_peer(team, peer) == c->group)) {
      return true;
    }
  }
  return false;
}

/* In the leading process: gathers all runs, combines them, and tells the
   others: the result, or what stands before each of their runs. */
static char *lead_chunk(struct chunk *c, char *own) {
  const struct team *team = c->coll->team;
  const bool scan = is_scan(&c->model->fold);
  char **runs = need_zalloc(team->nprocs, sizeof(*runs), "reduction buffer");
  size_t *n = need_zalloc(team->nprocs, sizeof(*n), "reduction buffer");
  for (int i = 0; i < team->nprocs; i++) {
    const int process = team->procs[i];
    if (process == net_rank()) {
      runs[i] = own;
    } else if (takes_part(c, process)) {
      runs[i] = mailbox_take(process, key_of(c, 0), &n[i]);
    }
  }
  combine_runs(c, runs);
  char *result = scan ? own : need_alloc(packed_size(c) + 1, "reduction");
  if (!scan) {
    pack(c, &c->sum, result);
    native_free(own);
  }
  for (int i = 0; i < team->nprocs; i++) {
    const int process = team->procs[i];
    if (process != net_rank() && takes_part(c, process)) {
      mailbox_send(process, key_of(c, 1), scan ? runs[i] : result,
                   scan ? n[i] : packed_size(c));
      native_free(runs[i]);
    }
  }
  native_free(runs);
  native_free(n);
  return result;
}

static void scan_again(struct chunk *c, const char *prefixes) {
  const struct team *team = c->coll->team;
  int start, end;
  givers(c, &start, &end);
  while (start < end) {
    const int stop = run_end(team, start, end);
    const bool before = team->local[start] > 0;
    if (before) {
      unpack(c, &c->sum, prefixes);
    }
    fold_run(c, start, stop, before, true);
    prefixes += packed_size(c);
    start = stop;
  }
}

static void chunk_everywhere(struct chunk *c) {
  size_t n;
  char *own = local_runs(c, &n);
  if (leader_process(c) == net_rank()) {
    own = lead_chunk(c, own);
  } else {
    mailbox_send(leader_process(c), key_of(c, 0), own, n);
    native_free(own);
    own = mailbox_take(leader_process(c), key_of(c, 1), &n);
  }
  if (is_scan(&c->model->fold)) {
    scan_again(c, own);
  } else {
    unpack(c, &c->sum, own);
    hand_out_result(c);
  }
  native_free(own);
}

/* --- the whole --- */

static bool is_small(const struct part *p) {
  ptrdiff_t origin;
  return p->fold.count <= INT32_MAX &&
         footprint(p->fold.count, p->layout, &origin) <=
             coll_small(vps.plan.v_local, 2);
}

/* Elements of a chunk: the same in all processes. */
static size_t step_of(const struct coll *coll, const struct layout *layout) {
  const size_t extent = layout->true_extent > layout->extent
                            ? layout->true_extent
                            : layout->extent;
  const size_t runs = coll_networked(coll->team) ? coll->team->size : 0;
  size_t step =
      memory_plan_vector(&vps.plan.memory, (int)runs) / (extent ? extent : 1);
  return step < 1 ? 1 : step > INT32_MAX ? INT32_MAX : step;
}

static void fold_group(struct coll *coll, const struct part *model, int group) {
  struct chunk c = {.coll = coll,
                    .model = model,
                    .layout = model->layout,
                    .group = group,
                    .small = is_small(model),
                    .borrowed =
                        self.vp != model->vp && op_is_user(model->fold.op)};
  const size_t count = model->fold.count;
  const size_t step = c.small ? count : step_of(coll, c.layout);
  c.sum = buffer_new(step, c.layout);
  c.next = buffer_new(step, c.layout);
  if (c.small && !coll->buffer) {
    coll->buffer = need_zalloc(2, c.sum.bytes + 1, "reduction buffer");
  }
  for (size_t at = 0; at < count; at += step, c.number++) {
    const size_t left = count - at;
    c.first = at;
    c.n = (int)(left < step ? left : step);
    if (coll_networked(coll->team)) {
      chunk_everywhere(&c);
    } else {
      chunk_here(&c);
    }
  }
  native_free(c.sum.memory);
  native_free(c.next.memory);
}

/* A member here that knows the arguments, or NULL: the one that calls if it
   does, for its context is in memory, and so is what its operation needs. */
static const struct part *model_of(const struct coll *coll) {
  const struct part *model = NULL;
  for (int i = 0; i < coll->team->n; i++) {
    const struct part *p = part_of(coll, i);
    if (!p->fold.idle && (!model || p->vp == self.vp)) {
      model = p;
    }
  }
  return model;
}

static void raise_all_locked(struct coll *coll) {
  signal_raise_locked(&coll->signal);
  for (int i = 0; i < coll->team->n; i++) {
    struct part *p = part_of(coll, i);
    if (p->request) {
      struct request *request = p->request;
      p->request = NULL;
      request_done_locked(request);
    }
  }
}

static void run(struct coll *coll) {
  const struct part *model = model_of(coll);
  for (int group = 0; model && group < 2; group++) {
    if (gives(coll, model, group)) {
      fold_group(coll, model, group);
    }
  }
}

static void run_network(void *arg) {
  struct coll *coll = arg;
  self.inside = 1; /* pems's own thread */
  run(coll);
  run_queue_lock();
  raise_all_locked(coll);
  coll_network_end_locked(coll);
  run_queue_unlock();
}

/* --- the call --- */

/* Members may go on, and free their datatype, before the last one combines. */
static void keep_type(struct part *p) {
  if (envelope_of(p->fold.type).types &&
      real.Type_dup(p->fold.type, &p->own_type) == MPI_SUCCESS) {
    p->fold.type = p->own_type;
  }
}

static void audit(const struct coll_call *call, const struct part *p) {
  const struct coll_reduce *f = &p->fold;
  const bool at_root = f->kind == FOLD_REDUCE && p->peer == f->root;
  const bool gives = !comm_is_inter(call->comm) || !at_root;
  const bool gets = f->kind == FOLD_REDUCE || f->kind == FOLD_EXSCAN
                        ? at_root || (f->kind == FOLD_EXSCAN && p->rank > 0)
                        : true;
  const size_t count = f->kind == FOLD_SCATTER ? piece_count(p) : f->count;
  const struct layout_span in = {(char *)f->in, gives ? f->count : 0,
                                 p->layout};
  const struct layout_span out = {f->out, gets ? count : 0, p->layout};
  check_buffers_buffer(&in, false, true);
  check_buffers_buffer(&out, true, true);
  if (f->in != f->out) {
    check_buffers_two(&in, &out);
  }
}

static struct part *coll_part_new(const struct coll_call *call,
                                  const struct coll_reduce *f) {
  struct part *p = need_zalloc(1, sizeof(*p), "reduction");
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

static void copy_vector(struct part *p) {
  const struct buffer b = buffer_new(p->fold.count, p->layout);
  if (!p->fold.gets_only) {
    copy_elements(p->fold.in, b.origin, p->fold.count, p->layout);
  }
  p->vector = b.memory;
  trace_add(p->vp->index, TRACE_MEMORY, p->fold.count * p->layout->size);
}

/* The VP runs again and takes its result. */
static void take_small(const struct coll *coll, const struct part *p) {
  const struct coll_reduce *f = &p->fold;
  ptrdiff_t origin;
  const size_t bytes = footprint(f->count, p->layout, &origin);
  const char *sum = coll->buffer + giver_of(coll, p->peer) * bytes + origin;
  if (f->kind == FOLD_SCAN || (f->kind == FOLD_EXSCAN && p->rank > 0)) {
    copy_elements(p->vector + origin, f->out, f->count, p->layout);
  } else if (f->kind == FOLD_SCATTER) {
    copy_elements(sum + (ptrdiff_t)piece_first(p) * p->layout->extent, f->out,
                  piece_count(p), p->layout);
  } else if (f->kind != FOLD_EXSCAN) {
    copy_elements(sum, f->out, f->count, p->layout);
  }
}

struct coll_reduce_request {
  struct request request;
  struct coll *coll;
  struct part *part;
  bool small;
};

/* Others than those that get the result need not wait for it (EM-REDUCE). */
static bool waits(const struct coll *coll, const struct part *p, bool small) {
  return !p->fold.idle && (wants_result(coll, p) || !small);
}

/* The last member to arrive. Unlocks meanwhile. It must not wait for another
   one's memory with a slot in its hand. */
static void lead(struct coll *coll) {
  const struct part *model = model_of(coll);
  if (coll_networked(coll->team) ||
      (model && model->vp != self.vp && op_is_user(model->fold.op))) {
    coll->network_done = false;
    net_jobs_add(run_network, coll);
    return;
  }
  run_queue_unlock();
  run(coll);
  run_queue_lock();
  raise_all_locked(coll);
}

/* Returns with the lock held. */
static struct coll *begin(const struct coll_call *call, struct part *p,
                          bool small, struct request *request) {
  ptrdiff_t origin;
  run_queue_lock();
  struct coll *coll =
      coll_enter_locked(call->comm, call->name, call->root, call->blocking);
  coll->free_part = part_free;
  if (small) {
    coll_reserve_locked(coll, p->vp,
                        footprint(p->fold.count, p->layout, &origin),
                        call->blocking ? COLL_WAIT : COLL_TAKE);
    run_queue_unlock();
    copy_vector(p);
    run_queue_lock();
  }
  if (request && waits(coll, p, small)) {
    p->request = request;
  } else if (request) {
    request_done_locked(request);
  }
  coll->part[call->comm->index] = p;
  if (signal_arrive_locked(&coll->signal)) {
    lead(coll);
  }
  return coll;
}

static void end(struct coll *coll, struct part *p, bool small) {
  if (small && wants_result(coll, p)) {
    take_small(coll, p);
  }
  run_queue_lock();
  coll_leave_locked(coll, p->vp);
  run_queue_unlock();
}

int coll_reduce(struct comm *comm, const char *name, int root,
                const struct coll_reduce *f) {
  const struct coll_call call = {comm, name, root, true};
  struct part *p = coll_part_new(&call, f);
  const bool small = !f->idle && is_small(p);
  struct coll *coll = begin(&call, p, small, NULL);
  if (waits(coll, p, small)) {
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
  r->small = !f->idle && is_small(r->part);
  r->coll = begin(call, r->part, r->small, &r->request);
  run_queue_unlock();
  trace_enter(call->comm->vp->index, TRACE_COMPUTE);
  return &r->request;
}
