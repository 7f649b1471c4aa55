/* Sends. To a member of this process whichever side comes later moves the data:
   small ones from a letter, large ones from context to context, wherever these
   are. */
#include "mpi/p2p/outgoing.h"

#include "mpi/check/check_buffers.h"
#include "mpi/datatype/named.h"
#include "mpi/p2p/endpoint.h"
#include "mpi/p2p/p2p_remote.h"
#include "mpi/transfer/transfer.h"
#include "vp/run_queue.h"

#include <string.h>

/* Copied twice rather than pin the receiver's context. */
enum { SMALL = 4 << 10 };

static void done(struct request *r) {
  run_queue_lock();
  request_done_locked(r);
  run_queue_unlock();
}

struct outgoing outgoing_make(struct comm *comm, enum p2p_channel channel,
                              enum p2p_send_mode mode, const void *buffer,
                              MPI_Count count, const struct layout *layout,
                              int peer, int tag) {
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
static struct endpoint_receive *taker_locked(const struct outgoing *o,
                                             struct endpoint **e) {
  *e = endpoint_of(o->comm->team, target_index(o));
  return endpoint_match_locked(*e, o->channel, o->comm->rank, o->tag);
}

/* Is it better to leave the message for the receiver, who is on disk, than to
   write a few bytes there? */
static bool leave_to(const struct outgoing *o,
                     const struct endpoint_receive *r) {
  return o->bytes <= letter_eager_limit() && letters_room(o->bytes) &&
         !context_in_memory(r->request.vp->context, r->span.base);
}

/* Moves the data to a receive that was taken off the list. */
static void deliver(const struct outgoing *o, struct endpoint_receive *r) {
  if (leave_to(o, r)) {
    struct letter *l = pack(o);
    run_queue_lock();
    endpoint_give_locked(r, l);
    run_queue_unlock();
    return;
  }
  endpoint_result(r, o->comm->rank, o->tag, o->bytes);
  transfer(o->comm->vp->context, &o->span, r->request.vp->context, &r->span);
  done(&r->request);
}

/* To whoever takes it, now or later. */
static void send_letter(const struct outgoing *o, struct letter *l) {
  struct endpoint *e;
  run_queue_lock();
  struct endpoint_receive *r = taker_locked(o, &e);
  if (r) {
    endpoint_give_locked(r, l);
  } else {
    endpoint_add_locked(e, l);
  }
  run_queue_unlock();
}

/* A few bytes take no memory of their own if they are waited for. */
static void send_tiny(const struct outgoing *o) {
  char bytes[TINY];
  struct endpoint *e;
  span_pack(&o->span, 0, bytes, o->bytes);
  run_queue_lock();
  struct endpoint_receive *r = taker_locked(o, &e);
  if (r && !endpoint_takes_tiny(r)) {
    endpoint_give_locked(r, address(o, letter_copy(bytes, o->bytes)));
  } else if (r) {
    endpoint_result(r, o->comm->rank, o->tag, o->bytes);
    memcpy(r->tiny, bytes, o->bytes);
    r->has_tiny = true;
    request_done_locked(&r->request);
  } else {
    endpoint_add_locked(e, address(o, letter_copy(bytes, o->bytes)));
  }
  run_queue_unlock();
}

/* True if the message was taken by a posted receive. */
static bool send_posted(const struct outgoing *o) {
  struct endpoint *e;
  run_queue_lock();
  struct endpoint_receive *r = taker_locked(o, &e);
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
  if (o->bytes <= SMALL && o->bytes <= letter_eager_limit()) {
    send_letter(o, pack(o));
    return true;
  }
  if (send_posted(o)) {
    return true;
  }
  if (o->bytes <= letter_eager_limit() || o->mode == SEND_BUFFERED) {
    send_letter(o, pack(o));
    return true;
  }
  return false;
}

/* The program is done with a large buffered message: its copy is sent. */
static void send_copy(const struct outgoing *o) {
  struct outgoing_send *s = (struct outgoing_send *)request_need(
      (struct request *)outgoing_new(o, MPI_BYTE, "MPI_Bsend"));
  s->letter = letter_pack(&o->span, o->bytes);
  s->copied = true;
  p2p_remote_announce(s);
  request_let_go(&s->request);
}

static bool send_there(const struct outgoing *o) {
  if (p2p_remote_send_now(o)) {
    return true;
  }
  if (o->mode == SEND_BUFFERED) {
    send_copy(o);
  }
  return o->mode == SEND_BUFFERED;
}

bool outgoing_is_announced(const struct outgoing_send *s) {
  return s && s->out.peer != MPI_PROC_NULL && target_index(&s->out) < 0 &&
         s->out.bytes > letter_eager_limit();
}

bool outgoing_now(const struct outgoing *o) {
  return o->peer == MPI_PROC_NULL ||
         (target_index(o) >= 0 ? send_here(o) : send_there(o));
}

/* Waits for a receive that is not posted yet. A small message is copied, so
   that the receiver need not look for it on disk. */
static void later_here(struct outgoing_send *s) {
  const struct outgoing *o = &s->out;
  const bool small = o->bytes <= letter_eager_limit();
  struct letter *l = small ? pack(o) : address(o, letter_new(o->bytes));
  struct endpoint *e;
  run_queue_lock();
  struct endpoint_receive *r = taker_locked(o, &e);
  if (!r) {
    l->send = s;
    s->letter = l;
    endpoint_add_locked(e, l);
  } else if (small) {
    endpoint_give_locked(r, l);
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

void outgoing_later(struct outgoing_send *s) {
  if (target_index(&s->out) >= 0) {
    later_here(s);
  } else {
    p2p_remote_send_later(s);
  }
}

/* Notes what the buffer holds, which the program must not change. */
static void sum(struct outgoing_send *s) {
  s->summed = s->out.channel == CHANNEL_USER && s->out.peer != MPI_PROC_NULL;
  s->sum = s->summed ? check_buffers_sum(&s->out.span) : 0;
}

static void send_finish(struct request *r) {
  const struct outgoing_send *s = (const struct outgoing_send *)r;
  if (s->summed && !r->freed) {
    check_buffers_same(&s->out.span, s->sum, r->function, r->site);
  }
}

/* Does the program go on while it is sent? */
static bool lasts(const struct request *r) {
  return r->persistent || r->function[strlen("MPI_")] == 'I';
}

static void send_start(struct request *r) {
  struct outgoing_send *s = (struct outgoing_send *)r;
  if (check_buffers_on && lasts(r)) {
    sum(s);
  }
  if (outgoing_now(&s->out)) {
    request_done_now(r);
  } else {
    outgoing_later(s);
  }
}

static void send_cancel(struct request *r) {
  struct outgoing_send *s = (struct outgoing_send *)r;
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
    endpoint_remove_locked(
        endpoint_of(s->out.comm->team, target_index(&s->out)), l);
    s->letter = NULL;
    r->result.cancelled = true;
    request_done_locked(r);
  }
  run_queue_unlock();
  if (l) {
    letter_free(l);
  }
}

static void send_release(struct request *r) {
  struct outgoing_send *s = (struct outgoing_send *)r;
  if (s->letter) {
    letter_free(s->letter);
  }
  if (s->held) {
    layout_release(s->out.span.layout);
  }
}

static void send_tell(const struct request *request,
                      struct request_reason *why) {
  const struct outgoing *o = &((const struct outgoing_send *)request)->out;
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
  const struct outgoing *o = &((const struct outgoing_send *)request)->out;
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

struct outgoing_send *outgoing_new(const struct outgoing *o, MPI_Datatype type,
                                   const char *function) {
  struct outgoing_send *s =
      request_new(sizeof(*s), &class_send, o->comm, function);
  if (!s) {
    return NULL;
  }
  s->out = *o;
  s->held = named_hold(type, &s->out.span);
  return s;
}

struct outgoing_send *outgoing_again(const struct outgoing *o,
                                     const char *function) {
  struct outgoing_send *s = (struct outgoing_send *)request_need(
      request_new(sizeof(*s), &class_send, o->comm, function));
  s->out = *o;
  s->held = true;
  return s;
}

struct outgoing_send *outgoing_of(struct request *r) {
  return r->class == &class_send ? (struct outgoing_send *)r : NULL;
}
