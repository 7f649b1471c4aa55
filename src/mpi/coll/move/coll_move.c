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
#include "mpi/check/check_buffers.h"
#include "mpi/coll/call/coll.h"
#include "mpi/coll/move/coll_deliver.h"
#include "mpi/coll/move/coll_meet.h"
#include "mpi/coll/move/coll_part.h"
#include "mpi/coll/move/coll_remote.h"
#include "mpi/coll/move/coll_stage.h"
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

/* Regions that will be overwritten need not be written out before. To be said
   before others can see this part. */
static void expect(const struct coll_part *p) {
  struct layout_span m;
  const struct coll_side *s = &p->receive;
  if (s->shape == SIDE_NONE || p->send.in_place || !p->blocking ||
      p->vp->shared) { /* another thread may wait, too, and go on earlier */
    return;
  }
  for (int q = coll_side_first(s); q <= coll_side_last(s); q++) {
    if (coll_side_span(s, q, &m) && m.layout->dense) {
      context_expect(p->vp->context, m.base, span_size(&m));
    }
  }
}

/* The VP runs again and all it receives is there: small messages last. */
static void take_small(struct coll *coll, struct coll_part *p) {
  for (int i = p->from; i < p->to; i++) {
    const struct coll_part *q = part_of(coll, i);
    if (q && q != p) {
      coll_stage_take(coll, q, p);
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
      p->waits += coll_deliver_events(p, team->local[i]);
    }
  }
  coll->part[p->index] = p;
  if (coll->crossing) {
    p->waits += coll_remote_arrive_locked(coll, p);
  }
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
  coll_stage(coll, p);
  expect(p);
  coll_deliver_to_self(coll, p);
  run_queue_lock();
  publish_locked(coll, p, earlier);
  /* The count of parts, not of arrivals: a VP may still be packing. */
  const bool last = signal_arrive_locked(&coll->signal);
  run_queue_unlock();
  if (coll->crossing) {
    coll_remote_announce(coll, p, last);
  }
  coll_meet_earlier(coll, p, earlier);
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
  coll_meet_later(coll, p, progress->pending);
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
  for (int q = coll_side_first(s); q <= coll_side_last(s); q++) {
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
    .past = true,
    .collective = true,
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
