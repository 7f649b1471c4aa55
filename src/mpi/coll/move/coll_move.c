/* Messages between VPs of one process are delivered by whichever of the two
   arrives later: it is running, so its side is in memory. It pushes to those
   that came before, by memory copy or straight into their contexts on disk, and
   pulls what they have for it (PEMS2 writes these in a second pass). No message
   area on disk. Messages too small for that are packed into the shared buffer
   by their sender and taken from there when the receiver runs. */
#include "mpi/coll/move/coll_move.h"

#include "base/need.h"
#include "context/calls/allocate.h"
#include "context/delivery/expect.h"
#include "context/residency/residency.h"
#include "mpi/check/check_buffers.h"
#include "mpi/coll/call/coll.h"
#include "mpi/coll/move/coll_part.h"
#include "mpi/coll/move/coll_remote.h"
#include "mpi/transfer/transfer.h"
#include "os/native.h"
#include "report/trace.h"

#include <string.h>

static void part_free(void *arg) {
  struct coll_part *p = arg;
  coll_side_release(&p->send);
  coll_side_release(&p->receive);
  native_free(p->stage);
  native_free(p->stage_at);
  native_free(p);
}

/* --- staging --- */

static int first_peer(const struct coll_side *s) {
  return s->only >= 0 ? s->only : s->first;
}

static int last_peer(const struct coll_side *s) {
  return s->only >= 0 ? s->only : s->first + s->n - 1;
}

/* Any peer to which the single message of SIDE_ONE goes, but the VP itself. */
static bool one_message(const struct coll_part *p, struct layout_span *m) {
  const struct coll_side *s = &p->send;
  for (int q = first_peer(s); q <= last_peer(s); q++) {
    if (q != p->peer && coll_side_span(s, q, m)) {
      return true;
    }
  }
  return false;
}

static size_t stage_size_one(struct coll_part *p, struct layout_span *m,
                             size_t small) {
  if (!one_message(p, m) || span_size(m) > small) {
    return 0;
  }
  p->stage_at = need_zalloc(1, sizeof(size_t), "message offsets");
  return span_size(m);
}

static size_t stage_size_each(struct coll_part *p, size_t small) {
  struct layout_span m;
  size_t total = 0;
  const struct coll_side *s = &p->send;
  p->stage_at = need_alloc(s->n * sizeof(size_t), "message offsets");
  for (int rank = 0; rank < s->n; rank++) {
    const int q = s->first + rank;
    p->stage_at[rank] = NOT_STAGED;
    if (q != p->peer && coll_side_span(s, q, &m) && span_size(&m) <= small) {
      p->stage_at[rank] = total;
      total += span_size(&m);
    }
  }
  return total;
}

static void pack(struct coll_part *p, const struct layout_span *one) {
  struct layout_span m;
  if (p->send.shape == SIDE_ONE) {
    span_pack(one, 0, p->stage, span_size(one));
    return;
  }
  for (int rank = 0; rank < p->send.n; rank++) {
    if (p->stage_at[rank] != NOT_STAGED &&
        coll_side_span(&p->send, p->send.first + rank, &m)) {
      span_pack(&m, 0, p->stage + p->stage_at[rank], span_size(&m));
    }
  }
}

/* Packs the VP's small messages, if the shared buffer has room for them: else
   they go as the large ones do. The memory counts from coll_enter on. */
static void stage(struct coll *coll, struct coll_part *p) {
  struct layout_span one;
  const bool single = p->send.shape == SIDE_ONE;
  const size_t small = coll_small(vps.plan.v_local, single ? 1 : p->send.n);
  const size_t total = p->send.shape == SIDE_NONE ? 0
                       : single ? stage_size_one(p, &one, small)
                                : stage_size_each(p, small);
  if (!total) {
    return;
  }
  run_queue_lock();
  const bool room = coll_reserve_locked(coll, p->vp, total, COLL_TRY);
  run_queue_unlock();
  if (room) {
    p->stage = need_alloc(total, "small messages");
    pack(p, &one);
  }
}

/* --- delivery --- */

static void truncated(struct coll *coll) {
  coll->error = MPI_ERR_TRUNCATE;
}

/* Starts the message from p to q, if it goes directly. */
static void deliver(struct delivery *d, struct coll *coll, struct coll_part *p,
                    struct coll_part *q) {
  struct layout_span from, to;
  if (coll_part_staged(p, q->peer) ||
      !coll_side_span(&p->send, q->peer, &from)) {
    return;
  }
  if (!coll_side_span(&q->receive, p->peer, &to)) {
    truncated(coll);
    return;
  }
  if (span_size(&from) > span_size(&to)) {
    truncated(coll);
  }
  transfer_start(d, p->vp->context, &from, q->vp->context, &to);
}

static void deliver_to_self(struct coll *coll, struct coll_part *p) {
  struct delivery d;
  delivery_begin(&d);
  deliver(&d, coll, p, p);
  delivery_end(&d);
}

/* In place, each of two messages stands where the other goes: both are moved at
   once. Returns false if it is not so. */
static bool deliver_swapped(struct delivery *d, struct coll *coll,
                            struct coll_part *p, struct coll_part *q) {
  struct layout_span from, to;
  if (!p->send.in_place || coll_part_staged(p, q->peer) ||
      coll_part_staged(q, p->peer) ||
      !coll_side_span(&p->send, q->peer, &from) ||
      !coll_side_span(&q->send, p->peer, &to)) {
    return false;
  }
  if (span_size(&from) != span_size(&to)) {
    truncated(coll);
  }
  transfer_swap(d, p->vp->context, &from, q->vp->context, &to);
  return true;
}

static bool receives(const struct coll_part *p, int source) {
  struct layout_span m;
  return coll_side_span(&p->receive, source, &m);
}

static bool sends_direct(const struct coll_part *p, int destination) {
  struct layout_span m;
  return !coll_part_staged(p, destination) &&
         coll_side_span(&p->send, destination, &m);
}

/* What p waits for from q: its message, and that it takes p's. */
static int events(const struct coll_part *p, int q) {
  return receives(p, q) + sends_direct(p, q);
}

/* Regions that will be overwritten need not be written out before. To be said
   before others can see this part. */
static void expect(const struct coll_part *p) {
  struct layout_span m;
  const struct coll_side *s = &p->receive;
  if (s->shape == SIDE_NONE || p->send.in_place || !p->blocking ||
      p->vp->shared) { /* another thread may wait, too, and go on earlier */
    return;
  }
  for (int q = first_peer(s); q <= last_peer(s); q++) {
    if (coll_side_span(s, q, &m) && m.layout->dense) {
      context_expect(p->vp->context, m.base, span_size(&m));
    }
  }
}

static void take_staged(struct coll *coll, const struct coll_part *from,
                        struct coll_part *p) {
  struct layout_span to, sent;
  const char *packed = coll_part_staged(from, p->peer);
  if (!packed || !coll_side_span(&from->send, p->peer, &sent)) {
    return;
  }
  size_t n = span_size(&sent);
  if (!coll_side_span(&p->receive, from->peer, &to) || span_size(&to) < n) {
    truncated(coll);
    n = coll_side_span(&p->receive, from->peer, &to) ? span_size(&to) : 0;
  }
  if (n) {
    span_unpack(&to, 0, packed, n);
    trace_add(p->vp->index, TRACE_MEMORY, n);
  }
}

/* The VP runs again and all it receives is there: small messages last. */
static void take_small(struct coll *coll, struct coll_part *p) {
  for (int i = p->from; i < p->to; i++) {
    const struct coll_part *q = part_of(coll, i);
    if (q && q != p) {
      take_staged(coll, q, p);
    }
  }
  if (coll->crossing) {
    coll_remote_take(coll, p);
  }
  if (p->blocking && !p->vp->shared) {
    context_expect_end(p->vp->context);
  }
}

/* --- arrival --- */

/* Has it messages from or to one peer at most? */
static bool is_single(const struct coll_side *s) {
  return s->shape == SIDE_NONE || s->only >= 0;
}

static void include(struct coll_part *p, const struct team *team, int peer) {
  const int i = peer >= 0 ? team->index[peer] : -1;
  if (i >= 0) {
    p->from = i < p->from ? i : p->from;
    p->to = i >= p->to ? i + 1 : p->to;
  }
}

/* Of a call with a root only that one looks at all the others. */
static void find_partners(struct coll_part *p, const struct team *team) {
  p->from = 0;
  p->to = team->n;
  if (is_single(&p->send) && is_single(&p->receive)) {
    p->from = team->n;
    p->to = 0;
    include(p, team, p->send.only);
    include(p, team, p->receive.only);
  }
}

/* Makes the part visible and counts what it waits for. earlier[i] tells who
   was there before. Locked. */
static void publish_locked(struct coll *coll, struct coll_part *p,
                           bool *earlier) {
  const struct team *team = coll->team;
  for (int i = p->from; i < p->to; i++) {
    earlier[i] = coll->part[i] != NULL;
    if (!earlier[i] && i != p->index) {
      p->waits += events(p, team->local[i]);
    }
  }
  coll->part[p->index] = p;
  if (coll->crossing) {
    p->waits += coll_remote_arrive_locked(coll, p);
  }
}

/* Where contexts are on disk, what was sent to this VP stays where it is until
   the VP has come in again: read into memory now, it would be written and read
   once more with the context. This VP has to run before the sender does, which
   waits for it. */
static bool pulls_later(const struct coll_part *p,
                        const struct coll_part *from) {
  return p->blocking && !p->vp->shared && vps.policy->receivers_first &&
         contexts_crowded() && !from->send.in_place && !p->send.in_place &&
         sends_direct(from, p->peer);
}

/* Messages between this VP and others, under way together. */
struct visit {
  struct coll *coll;
  struct delivery delivery;
  struct {
    int events;    /* that the other VP need not wait for when... */
    uint64_t mark; /* ...the delivery has finished this */
  } *peer;         /* by index, from the first partner on */
  int from;
  int told;          /* those before it know */
  uint64_t finished; /* when they were told */
};

static void visit_begin(struct visit *v, struct coll *coll,
                        const struct coll_part *p) {
  const int n = p->to > p->from ? p->to - p->from : 1;
  v->coll = coll;
  v->peer = need_zalloc(n, sizeof(*v->peer), "collective call");
  v->from = v->told = p->from;
  v->finished = 0;
  delivery_begin(&v->delivery);
}

/* Tells those before `end` that do not wait for what is under way. */
static void tell_done(struct visit *v, int end) {
  v->finished = v->delivery.finished;
  run_queue_lock();
  for (;
       v->told < end && v->peer[v->told - v->from].mark <= v->delivery.finished;
       v->told++) {
    const int events = v->peer[v->told - v->from].events;
    if (events) {
      coll_part_settle_locked(part_of(v->coll, v->told), events);
    }
  }
  run_queue_unlock();
}

/* What was started for i is `events`. Tells the others now and then. */
static void visited(struct visit *v, int i, int events) {
  v->peer[i - v->from].events = events;
  v->peer[i - v->from].mark = delivery_mark(&v->delivery);
  if (v->delivery.finished > v->finished) {
    tell_done(v, i + 1);
  }
}

static void visit_end(struct visit *v, const struct coll_part *p) {
  delivery_end(&v->delivery);
  tell_done(v, p->to);
  native_free(v->peer);
}

/* What can be moved at once between this VP and each that came before.
   earlier[i] becomes: does i still wait for its message to be taken? */
static void meet_earlier(struct coll *coll, struct coll_part *p,
                         bool *earlier) {
  struct visit v;
  visit_begin(&v, coll, p);
  for (int i = p->from; i < p->to; i++) {
    if (!earlier[i]) {
      continue;
    }
    struct coll_part *q = part_of(coll, i);
    int done = events(q, p->peer);
    earlier[i] = pulls_later(p, q);
    if (earlier[i]) {
      done--;
      deliver(&v.delivery, coll, p, q);
    } else if (!deliver_swapped(&v.delivery, coll, p, q)) {
      deliver(&v.delivery, coll, p, q);
      deliver(&v.delivery, coll, q, p);
    }
    visited(&v, i, done);
  }
  visit_end(&v, p);
}

/* The VP runs again: takes what was left with those that came before. */
static void pull_later(struct coll *coll, struct coll_part *p,
                       const bool *pending) {
  struct visit v;
  visit_begin(&v, coll, p);
  for (int i = p->from; i < p->to; i++) {
    if (pending[i]) {
      deliver(&v.delivery, coll, part_of(coll, i), p);
      visited(&v, i, 1);
    }
  }
  visit_end(&v, p);
}

/* --- the call --- */

/* What a member keeps of the call while it is under way. */
struct progress {
  struct coll *coll;
  struct coll_part *part;
  bool *pending; /* by index: its message is still to be taken */
};

struct coll_move_request {
  struct request request;
  struct progress progress;
};

static struct coll_part *coll_part_new(const struct coll_call *call,
                                       struct coll_side send,
                                       struct coll_side receive) {
  struct coll_part *p = need_zalloc(1, sizeof(*p), "collective call");
  p->vp = call->comm->vp;
  p->peer = call->comm->peer;
  p->index = call->comm->index;
  p->blocking = call->blocking;
  p->send = send;
  p->receive = receive;
  return p;
}

static struct progress begin(const struct coll_call *call,
                             struct coll_side send, struct coll_side receive,
                             struct request *request) {
  const struct team *team = call->comm->team;
  if (check_buffers_on) {
    check_buffers_sides(&send, &receive);
  }
  struct coll_part *p = coll_part_new(call, send, receive);
  find_partners(p, team);
  bool *earlier = need_zalloc(team->n, sizeof(*earlier), "collective call");
  run_queue_lock();
  struct coll *coll =
      coll_enter_locked(call->comm, call->name, call->root, call->blocking);
  coll->free_part = part_free;
  coll_remote_open_locked(coll, coll_network_end_locked);
  run_queue_unlock();
  p->request = request;
  stage(coll, p);
  expect(p);
  deliver_to_self(coll, p);
  run_queue_lock();
  publish_locked(coll, p, earlier);
  /* The count of parts, not of arrivals: a VP may still be packing. */
  const bool last = signal_arrive_locked(&coll->signal);
  run_queue_unlock();
  if (coll->crossing) {
    coll_remote_announce(coll, p, last);
  }
  meet_earlier(coll, p, earlier);
  run_queue_lock();
  p->started = true;
  coll_part_tell_locked(p);
  run_queue_unlock();
  return (struct progress){coll, p, earlier};
}

/* All that others do is done. */
static int end(struct progress *progress) {
  struct coll_part *p = progress->part;
  struct coll *coll = progress->coll;
  pull_later(coll, p, progress->pending);
  native_free(progress->pending);
  take_small(coll, p);
  if (p->send.copy) {
    context_free(p->vp->context, p->send.copy);
  }
  run_queue_lock();
  const int error = coll->error;
  coll_leave_locked(coll, p->vp);
  run_queue_unlock();
  return error;
}

int coll_move(struct comm *comm, const char *name, int root,
              struct coll_side send, struct coll_side receive) {
  const struct coll_call call = {comm, name, root, true};
  struct progress progress = begin(&call, send, receive, NULL);
  struct coll_part *p = progress.part;
  run_queue_lock();
  while (p->waits > 0) {
    run_queue_wait_locked(comm->vp, &p->waiting, name);
  }
  run_queue_unlock();
  return end(&progress);
}

/* A call that is not made after all. */
static void give_up(const struct coll_call *call, struct coll_side *send,
                    struct coll_side *receive) {
  if (send->copy) {
    context_free(call->comm->vp->context, send->copy);
  }
  coll_side_release(send);
  coll_side_release(receive);
}

static void finish(struct request *request) {
  struct coll_move_request *r = (struct coll_move_request *)request;
  r->request.result.error = end(&r->progress);
}

static void tell(const struct request *request, struct request_reason *why) {
  why->coll = ((const struct coll_move_request *)request)->progress.coll;
}

static void side_buffers(const struct request *request,
                         const struct coll_side *s, bool received,
                         request_buffer_fn *f, void *arg) {
  struct layout_span m;
  for (int q = first_peer(s); q <= last_peer(s); q++) {
    if (coll_side_span(s, q, &m)) {
      f(arg, request, &m, received);
    }
  }
}

static void buffers(const struct request *request, request_buffer_fn *f,
                    void *arg) {
  const struct coll_part *p =
      ((const struct coll_move_request *)request)->progress.part;
  if (p) {
    side_buffers(request, &p->send, false, f, arg);
    side_buffers(request, &p->receive, true, f, arg);
  }
}

static const struct request_class coll_move_class = {
    .name = "collective call",
    .finish = finish,
    .tell = tell,
    .buffers = buffers,
};

struct request *coll_move_start(const struct coll_call *call,
                                struct coll_side send,
                                struct coll_side receive) {
  struct coll_move_request *r =
      request_new(sizeof(*r), &coll_move_class, call->comm, call->name);
  if (!r) {
    give_up(call, &send, &receive);
    return NULL;
  }
  r->progress = begin(call, send, receive, &r->request);
  trace_enter(call->comm->vp->index, TRACE_COMPUTE);
  return &r->request;
}

/* --- in place --- */

int coll_move_copy_outgoing(const struct comm *comm, struct coll_side *send) {
  send->in_place = false;
  char *low = NULL, *high = NULL;
  for (int q = 0; q < comm->peers; q++) {
    struct layout_span m;
    char *start;
    if (coll_side_span(send, q, &m)) {
      const size_t n = span_bounds(&m, &start);
      low = !high || start < low ? start : low;
      high = start + n > high ? start + n : high;
    }
  }
  if (low == high) {
    return MPI_SUCCESS;
  }
  send->copy = context_alloc(comm->vp->context, high - low, 4096);
  if (!send->copy) {
    return MPI_ERR_NO_MEM;
  }
  memcpy(send->copy, low, high - low);
  send->base += (char *)send->copy - low;
  return MPI_SUCCESS;
}
