#include "mpi/p2p/receive.h"

#include "mpi/datatype/named.h"
#include "mpi/p2p/outgoing.h"
#include "mpi/p2p/p2p_remote.h"
#include "mpi/request/requests.h"
#include "mpi/transfer/transfer.h"
#include "vp/run_queue.h"

#include <stddef.h>

static void done(struct request *r) {
  run_queue_lock();
  request_done_locked(r);
  run_queue_unlock();
}

/* The owner's part: what was left for it goes to its memory. */
static void receive_finish(struct request *request) {
  struct endpoint_receive *r = (struct endpoint_receive *)request;
  struct letter *l = r->letter;
  if (r->has_tiny) {
    r->has_tiny = false;
    span_unpack(&r->span, 0, r->tiny, (size_t)request->result.bytes);
  }
  if (l) {
    r->letter = NULL;
    letter_unpack(l, &r->span, (size_t)request->result.bytes);
    letter_free(l);
  }
}

static void receive_cancel(struct request *request) {
  struct endpoint_receive *r = (struct endpoint_receive *)request;
  run_queue_lock();
  if (r->endpoint) {
    endpoint_unpost_locked(r);
    request->result.cancelled = true;
    request_done_locked(request);
  }
  run_queue_unlock();
}

static void receive_release(struct request *request) {
  struct endpoint_receive *r = (struct endpoint_receive *)request;
  if (r->held) {
    layout_release(r->span.layout);
  }
}

void receive_letter(struct endpoint_receive *r, struct letter *l) {
  endpoint_result(r, l->source, l->tag, l->bytes);
  if (!l->kept && !l->send) {
    p2p_remote_receive(r, l);
    return;
  }
  const struct letter *contents = l->kept           ? l
                                  : l->send->copied ? l->send->letter
                                                    : NULL;
  if (contents) {
    letter_unpack(contents, &r->span, (size_t)r->request.result.bytes);
    p2p_remote_acknowledge(l);
  } else {
    transfer(l->send->request.vp->context, &l->send->out.span,
             r->request.vp->context, &r->span);
  }
  if (l->send) {
    done(&l->send->request);
  }
  letter_free(l);
  request_done_now(&r->request);
}

struct letter *receive_take_locked(struct endpoint *e,
                                   const struct endpoint_pattern *p) {
  struct letter *l = endpoint_find_locked(e, p);
  if (l) {
    endpoint_remove_locked(e, l);
    if (l->send && !l->send->copied) {
      l->send->letter = NULL; /* too late to cancel it */
    }
  }
  return l;
}

static void receive_start(struct request *request) {
  struct endpoint_receive *r = (struct endpoint_receive *)request;
  struct comm *comm = request->comm;
  if (r->pattern.source == MPI_PROC_NULL) {
    request->result.source = MPI_PROC_NULL;
    request_done_now(request);
    return;
  }
  run_queue_lock();
  struct endpoint *e = endpoint_of(comm->team, comm->index);
  struct letter *l = receive_take_locked(e, &r->pattern);
  if (!l) {
    endpoint_post_locked(e, r);
  }
  run_queue_unlock();
  if (l) {
    receive_letter(r, l);
  }
}

static void receive_tell(const struct request *request,
                         struct request_reason *why) {
  const struct endpoint_pattern *p =
      &((const struct endpoint_receive *)request)->pattern;
  const bool user = p->channel == CHANNEL_USER;
  *why = (struct request_reason){
      .what = user ? "for a message" : "for the part",
      .by = user ? "from" : "of",
      .peer = p->source == MPI_ANY_SOURCE
                  ? PEER_ANY
                  : request->comm->first_peer + p->source,
      .tag = p->tag,
      .tagged = user};
}

static void receive_buffers(const struct request *request, request_buffer_fn *f,
                            void *arg) {
  const struct endpoint_receive *r = (const struct endpoint_receive *)request;
  if (r->pattern.channel == CHANNEL_USER &&
      r->pattern.source != MPI_PROC_NULL) {
    f(arg, request, &r->span, true);
  }
}

static const struct request_class class_receive = {
    .name = "receive",
    .buffers = receive_buffers,
    .finish = receive_finish,
    .start = receive_start,
    .cancel = receive_cancel,
    .release = receive_release,
    .tell = receive_tell,
};

/* NULL: out of memory. */
static struct endpoint_receive *make(struct comm *comm,
                                     const struct endpoint_pattern *p,
                                     const char *function) {
  const size_t size = request_many() ? offsetof(struct endpoint_receive, tiny)
                                     : sizeof(struct endpoint_receive);
  struct endpoint_receive *r =
      request_new(size, &class_receive, comm, function);
  if (r) {
    r->pattern = *p;
  }
  return r;
}

struct endpoint_receive *receive_new(struct comm *comm,
                                     enum p2p_channel channel, void *buffer,
                                     MPI_Count count, MPI_Datatype type,
                                     int peer, int tag, const char *function) {
  const struct endpoint_pattern p = {channel, peer, tag};
  struct endpoint_receive *r = make(comm, &p, function);
  if (!r) {
    return NULL;
  }
  r->span = (struct layout_span){buffer, (size_t)count, named_layout_of(type)};
  r->held = named_hold(type, &r->span);
  return r;
}

struct endpoint_receive *receive_again(struct comm *comm,
                                       const struct endpoint_pattern *p,
                                       const struct layout_span *span,
                                       const char *function) {
  struct endpoint_receive *r = make(comm, p, function);
  request_need(&r->request);
  r->span = *span;
  r->held = true;
  return r;
}

struct endpoint_receive *receive_of(struct request *r) {
  return r->class == &class_receive ? (struct endpoint_receive *)r : NULL;
}

int receive_wait(struct request *r, MPI_Status *status) {
  if (!r) {
    return MPI_ERR_NO_MEM;
  }
  struct request_result result;
  const int code = request_complete(r, &result);
  if (code != VP_LEFT) {
    request_status_set(status, &result);
  }
  return code;
}
