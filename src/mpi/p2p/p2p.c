/* Messages between VPs of this process. Whichever side comes later moves the
   data: small ones from a letter, large ones from context to context, wherever
   these are. */
#include "mpi/p2p/p2p.h"

#include "mpi/check/check_buffers.h"
#include "mpi/datatype/named.h"
#include "mpi/p2p/early.h"
#include "mpi/p2p/endpoint.h"
#include "mpi/p2p/outgoing.h"
#include "mpi/p2p/p2p_remote.h"
#include "mpi/p2p/receive.h"
#include "mpi/transfer/transfer.h"
#include "os/native.h"

#include <string.h>

enum {
  SMALL = 4 << 10, /* copied twice rather than pin the receiver's context */
  LEAST_EAGER = 1 << 10,
  MOST_EAGER = 64 << 10,
};

size_t p2p_eager_limit(void) {
  const size_t limit = vps.plan.sigma / 16;
  return limit < LEAST_EAGER  ? LEAST_EAGER
         : limit > MOST_EAGER ? MOST_EAGER
                              : limit;
}

const struct layout *message_layout(MPI_Datatype type) {
  const struct layout *layout = named_layout(type);
  return layout ? layout : layout_of(type);
}

/* True for a layout that is to be released: the program may free the type
   before the message has gone. */
static bool hold(MPI_Datatype type, struct span *span) {
  if (named_layout(type)) {
    return false;
  }
  span->layout = layout_hold(type);
  return true;
}

static void forget_team(struct team *team) {
  for (int i = 0; i < team->n; i++) {
    endpoint_free(team->endpoints[i]);
  }
}

void p2p_start(const char *dir) {
  static const struct team_user user = {.made = early_claim,
                                        .ended = forget_team};
  team_serve(&user);
  letters_start(vps.plan.sigma / 4, dir);
  p2p_remote_start();
}

void p2p_end(void) {
  run_queue_lock();
  early_drop();
  run_queue_unlock();
  letters_end();
}

/* --- both sides --- */

void receive_set(struct receive *r, int source, int tag, size_t bytes) {
  struct result *result = &r->request.result;
  const size_t room = span_size(&r->span);
  result->source = source;
  result->tag = tag;
  result->bytes = (MPI_Count)(bytes < room ? bytes : room);
  result->error = bytes > room ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

/* With the lock: the receiver unpacks it when it looks. */
void receive_give(struct receive *r, struct letter *l) {
  receive_set(r, l->source, l->tag, l->bytes);
  r->letter = l;
  request_done(&r->request);
}

static void done(struct request *r) {
  run_queue_lock();
  request_done(r);
  run_queue_unlock();
}

/* --- sending --- */

struct outgoing outgoing_make(struct comm *comm, enum channel channel,
                              enum send_mode mode, const void *buffer,
                              int count, const struct layout *layout, int peer,
                              int tag) {
  struct outgoing o = {
      .comm = comm,
      .channel = channel,
      .mode = mode,
      .span = {(char *)buffer, (size_t)count, layout},
      .peer = peer == MPI_PROC_NULL ? peer : comm->first_peer + peer,
      .tag = tag,
  };
  o.bytes = span_size(&o.span);
  return o;
}

static int target_index(const struct outgoing *o) {
  return o->comm->team->index[o->peer];
}

static struct letter *address(const struct outgoing *o, struct letter *l) {
  l->channel = o->channel;
  l->source = o->comm->rank;
  l->tag = o->tag;
  return l;
}

static struct letter *pack(const struct outgoing *o) {
  return address(o, letter_pack(&o->span, o->bytes));
}

/* The posted receive of a message; with the lock. */
static struct receive *taker(const struct outgoing *o, struct endpoint **e) {
  *e = endpoint_of(o->comm->team, target_index(o));
  return endpoint_match(*e, o->channel, o->comm->rank, o->tag);
}

/* Is it better to leave the message for the receiver, who is on disk, than to
   write a few bytes there? */
static bool leave_to(const struct outgoing *o, const struct receive *r) {
  return o->bytes <= p2p_eager_limit() && letters_room(o->bytes) &&
         !context_in_memory(r->request.vp->context, r->span.base);
}

/* Moves the data to a receive that was taken off the list. */
static void deliver(const struct outgoing *o, struct receive *r) {
  if (leave_to(o, r)) {
    struct letter *l = pack(o);
    run_queue_lock();
    receive_give(r, l);
    run_queue_unlock();
    return;
  }
  receive_set(r, o->comm->rank, o->tag, o->bytes);
  transfer(o->comm->vp->context, &o->span, r->request.vp->context, &r->span);
  done(&r->request);
}

/* To whoever takes it, now or later. */
static void send_letter(const struct outgoing *o, struct letter *l) {
  struct endpoint *e;
  run_queue_lock();
  struct receive *r = taker(o, &e);
  if (r) {
    receive_give(r, l);
  } else {
    endpoint_add(e, l);
  }
  run_queue_unlock();
}

/* A few bytes take no memory of their own if they are waited for. */
static void send_tiny(const struct outgoing *o) {
  char bytes[TINY];
  struct endpoint *e;
  span_pack(&o->span, 0, bytes, o->bytes);
  run_queue_lock();
  struct receive *r = taker(o, &e);
  if (r) {
    receive_set(r, o->comm->rank, o->tag, o->bytes);
    memcpy(r->tiny, bytes, o->bytes);
    r->has_tiny = true;
    request_done(&r->request);
  } else {
    endpoint_add(e, address(o, letter_copy(bytes, o->bytes)));
  }
  run_queue_unlock();
}

/* True if the message was taken by a posted receive. */
static bool send_posted(const struct outgoing *o) {
  struct endpoint *e;
  run_queue_lock();
  struct receive *r = taker(o, &e);
  run_queue_unlock();
  if (r) {
    deliver(o, r);
  }
  return r;
}

static bool send_here(const struct outgoing *o) {
  if (o->mode == SEND_SYNCHRONOUS) {
    return false;
  }
  if (o->bytes <= TINY && letters_room(o->bytes)) {
    send_tiny(o);
    return true;
  }
  if (o->bytes <= SMALL && o->bytes <= p2p_eager_limit()) {
    send_letter(o, pack(o));
    return true;
  }
  if (send_posted(o)) {
    return true;
  }
  if (o->bytes <= p2p_eager_limit() || o->mode == SEND_BUFFERED) {
    send_letter(o, pack(o));
    return true;
  }
  return false;
}

bool send_now(const struct outgoing *o) {
  return o->peer == MPI_PROC_NULL ||
         (target_index(o) >= 0 ? send_here(o) : p2p_remote_send_now(o));
}

/* Waits for a receive that is not posted yet. A small message is copied, so
   that the receiver need not look for it on disk. */
static void send_later_here(struct send *s) {
  const struct outgoing *o = &s->out;
  const bool small = o->bytes <= p2p_eager_limit();
  struct letter *l = small ? pack(o) : address(o, letter_new(o->bytes));
  struct endpoint *e;
  run_queue_lock();
  struct receive *r = taker(o, &e);
  if (!r) {
    l->send = s;
    s->letter = l;
    endpoint_add(e, l);
  } else if (small) {
    receive_give(r, l);
  }
  run_queue_unlock();
  if (r && !small) {
    letter_free(l);
    deliver(o, r);
  }
  if (r) {
    request_done_now(&s->request);
  }
}

void send_later(struct send *s) {
  if (target_index(&s->out) >= 0) {
    send_later_here(s);
  } else {
    p2p_remote_send_later(s);
  }
}

/* The program must not change what it sends. */
static void sum_up(struct send *s) {
  s->summed = s->out.channel == CHANNEL_USER && s->out.peer != MPI_PROC_NULL;
  s->sum = s->summed ? check_buffers_sum(&s->out.span) : 0;
}

static void send_finish(struct request *r) {
  const struct send *s = (const struct send *)r;
  if (s->summed && !r->freed) {
    check_buffers_same(&s->out.span, s->sum, r->function, r->site);
  }
}

/* Begins a persistent one. */
static void send_start(struct request *r) {
  struct send *s = (struct send *)r;
  if (check_buffers_on) {
    sum_up(s);
  }
  if (send_now(&s->out)) {
    request_done_now(r);
  } else {
    send_later(s);
  }
}

static void send_cancel(struct request *r) {
  struct send *s = (struct send *)r;
  if (request_is_done(r)) {
    return;
  }
  if (target_index(&s->out) < 0) {
    p2p_remote_cancel(s);
    return;
  }
  run_queue_lock();
  struct letter *l = s->letter;
  if (l) {
    endpoint_remove(endpoint_of(s->out.comm->team, target_index(&s->out)), l);
    s->letter = NULL;
    r->result.cancelled = true;
    request_done(r);
  }
  run_queue_unlock();
  if (l) {
    letter_free(l);
  }
}

static void send_release(struct request *r) {
  struct send *s = (struct send *)r;
  if (s->letter) {
    letter_free(s->letter);
  }
  if (s->held) {
    layout_release(s->out.span.layout);
  }
}

static void send_tell(const struct request *request,
                      struct request_reason *why) {
  const struct outgoing *o = &((const struct send *)request)->out;
  const bool user = o->channel == CHANNEL_USER;
  *why =
      (struct request_reason){.what = user ? "for its message" : "for its part",
                              .by = "to be received by",
                              .peer = o->peer,
                              .tag = o->tag,
                              .tagged = user};
}

static void send_buffers(const struct request *request, request_buffer_fn *f,
                         void *arg) {
  const struct outgoing *o = &((const struct send *)request)->out;
  if (o->channel == CHANNEL_USER && o->peer != MPI_PROC_NULL) {
    f(arg, request, &o->span, false);
  }
}

static const struct request_class class_send = {
    .name = "send",
    .finish = send_finish,
    .buffers = send_buffers,
    .start = send_start,
    .cancel = send_cancel,
    .release = send_release,
    .tell = send_tell,
};

struct send *send_new(const struct outgoing *o, MPI_Datatype type,
                      const char *function) {
  struct send *s = request_new(sizeof(*s), &class_send, o->comm, function);
  s->out = *o;
  s->held = hold(type, &s->out.span);
  return s;
}

struct request *p2p_send(struct comm *comm, enum channel channel,
                         enum send_mode mode, const void *buffer, int count,
                         MPI_Datatype type, int peer, int tag,
                         const char *function) {
  const struct outgoing o = outgoing_make(comm, channel, mode, buffer, count,
                                          message_layout(type), peer, tag);
  const bool now = send_now(&o);
  struct send *s = send_new(&o, type, function);
  if (check_buffers_on && function[strlen("MPI_")] == 'I') {
    sum_up(s);
  }
  if (now) {
    request_done_now(&s->request);
  } else {
    send_later(s);
  }
  return &s->request;
}

/* --- receiving --- */

/* The owner's part: what was left for it goes to its memory. */
static void receive_finish(struct request *request) {
  struct receive *r = (struct receive *)request;
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
  struct receive *r = (struct receive *)request;
  run_queue_lock();
  if (r->endpoint) {
    endpoint_unpost(r);
    request->result.cancelled = true;
    request_done(request);
  }
  run_queue_unlock();
}

static void receive_release(struct request *request) {
  struct receive *r = (struct receive *)request;
  if (r->held) {
    layout_release(r->span.layout);
  }
}

void receive_letter(struct receive *r, struct letter *l) {
  receive_set(r, l->source, l->tag, l->bytes);
  if (!l->kept && !l->send) {
    p2p_remote_receive(r, l);
    return;
  }
  if (l->kept) {
    letter_unpack(l, &r->span, (size_t)r->request.result.bytes);
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

struct letter *letter_take(struct endpoint *e, const struct pattern *p) {
  struct letter *l = endpoint_find(e, p);
  if (l) {
    endpoint_remove(e, l);
    if (l->send) {
      l->send->letter = NULL; /* too late to cancel it */
    }
  }
  return l;
}

static void receive_start(struct request *request) {
  struct receive *r = (struct receive *)request;
  struct comm *comm = request->comm;
  if (r->pattern.source == MPI_PROC_NULL) {
    request->result.source = MPI_PROC_NULL;
    request_done_now(request);
    return;
  }
  run_queue_lock();
  struct endpoint *e = endpoint_of(comm->team, comm->index);
  struct letter *l = letter_take(e, &r->pattern);
  if (!l) {
    endpoint_post(e, r);
  }
  run_queue_unlock();
  if (l) {
    receive_letter(r, l);
  }
}

static void receive_tell(const struct request *request,
                         struct request_reason *why) {
  const struct pattern *p = &((const struct receive *)request)->pattern;
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
  const struct receive *r = (const struct receive *)request;
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

struct receive *receive_new(struct comm *comm, enum channel channel,
                            void *buffer, int count, MPI_Datatype type,
                            int peer, int tag, const char *function) {
  struct receive *r = request_new(sizeof(*r), &class_receive, comm, function);
  r->pattern = (struct pattern){channel, peer, tag};
  r->span = (struct span){buffer, (size_t)count, message_layout(type)};
  r->held = hold(type, &r->span);
  return r;
}

struct request *p2p_receive(struct comm *comm, enum channel channel,
                            void *buffer, int count, MPI_Datatype type,
                            int peer, int tag, const char *function) {
  struct receive *r =
      receive_new(comm, channel, buffer, count, type, peer, tag, function);
  receive_start(&r->request);
  return &r->request;
}

/* --- bytes --- */

/* Elements of a type that is as large as it must be for an int to count them.
 */
enum { MOST = 1 << 30 };

void p2p_send_bytes(struct comm *comm, enum channel channel, const void *bytes,
                    size_t n, int peer, int tag, const char *function) {
  const char *from = bytes;
  do {
    const int part = n < MOST ? (int)n : MOST;
    struct request *r = p2p_send(comm, channel, SEND_STANDARD, from, part,
                                 MPI_BYTE, peer, tag, function);
    request_complete(r, NULL);
    from += part;
    n -= (size_t)part;
  } while (n);
}

void p2p_receive_bytes(struct comm *comm, enum channel channel, void *bytes,
                       size_t n, int peer, int tag, const char *function) {
  char *to = bytes;
  do {
    const int part = n < MOST ? (int)n : MOST;
    struct request *r =
        p2p_receive(comm, channel, to, part, MPI_BYTE, peer, tag, function);
    request_complete(r, NULL);
    to += part;
    n -= (size_t)part;
  } while (n);
}
