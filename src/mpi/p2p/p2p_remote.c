#include "mpi/p2p/p2p_remote.h"

#include "base/need.h"
#include "context/residency/residency.h"
#include "mpi/p2p/early.h"
#include "mpi/p2p/receive.h"
#include "mpi/p2p/unbound.h"
#include "mpi/transfer/transfer.h"
#include "net/jobs.h"
#include "os/native.h"
#include "vp/dispatch.h"

#include <string.h>

enum what {
  EAGER,     /* an envelope and the contents */
  ENVELOPE,  /* of contents that are to be asked for; perhaps an offer */
  ASK,       /* for the contents */
  CONTENTS,  /* some of them */
  RECEIVED,  /* what a synchronous send waits for, and one that was an offer */
  WITHDRAW,  /* an envelope, if nobody has taken it */
  WITHDRAWN, /* it was */
  ROOM,      /* for more eager messages */
  BIND,      /* a letter of a checkpoint, to the send that it is of */
};

struct wire {
  uint8_t what, channel;
  bool synchronous;
  int source; /* rank in the sender's group */
  int target; /* in the team */
  int tag;
  uint64_t bytes;
  uint64_t send;     /* struct outgoing_send of who sends */
  uint64_t receive;  /* struct endpoint_receive of who receives */
  uint64_t position; /* of contents; or what a checkpoint knew the send by */
};

/* By process: eager bytes that it has not taken yet, so that who sends much
   fills the memory of neither; and what it sent and has no answer for. */
static struct flow {
  size_t out, in;
  struct run_queue_waiting waiting;
} *flows;

static size_t flow_limit(void) {
  return memory_plan_flow(&vps.plan.memory);
}

static void done(struct request *r) {
  run_queue_lock();
  request_done_locked(r);
  run_queue_unlock();
}

static void tell(int process, uint64_t key, const struct wire *w) {
  am_send(process, AM_P2P, key, w, sizeof(*w), NULL, 0);
}

/* --- sending --- */

static int process_of(const struct outgoing *o) {
  return o->comm->team->proc[o->peer];
}

static struct wire envelope(enum what what, const struct outgoing *o,
                            const struct outgoing_send *s) {
  return (struct wire){
      .what = what,
      .channel = o->channel,
      .synchronous = o->mode == SEND_SYNCHRONOUS,
      .source = o->comm->rank,
      .target = o->peer,
      .tag = o->tag,
      .bytes = o->bytes,
      .send = (uintptr_t)s,
  };
}

static void wait_room(const struct outgoing *o) {
  struct flow *f = &flows[process_of(o)];
  const size_t n = sizeof(struct wire) + o->bytes;
  run_queue_lock();
  while (f->out && f->out + n > flow_limit()) {
    run_queue_wait_locked(o->comm->vp, &f->waiting,
                          "sending to another process");
  }
  f->out += n;
  run_queue_unlock();
}

static void send_eager(const struct outgoing *o,
                       const struct outgoing_send *s) {
  enum { ON_STACK = 4 << 10 };
  const struct wire w = envelope(EAGER, o, s);
  char small[ON_STACK];
  const bool dense = o->span.layout->dense;
  char *packed = dense                  ? o->span.base
                 : o->bytes <= ON_STACK ? small
                                        : need_alloc(o->bytes, "a message");
  wait_room(o);
  if (!dense) {
    span_pack(&o->span, 0, packed, o->bytes);
  }
  am_send(process_of(o), AM_P2P, o->comm->team->id, &w, sizeof(w), packed,
          o->bytes);
  if (!dense && packed != small) {
    native_free(packed);
  }
}

/* Contents that the receiver may read where they are, if it is soon enough. */
static bool may_offer(const struct outgoing_send *s) {
  const struct layout_span *span = &s->out.span;
  return neighbour(process_of(&s->out)) && !s->letter && span->layout->dense &&
         context_in_memory(s->request.vp->context, span->base);
}

void p2p_remote_announce(struct outgoing_send *s) {
  const struct wire w = envelope(ENVELOPE, &s->out, s);
  const bool offers = may_offer(s);
  struct neighbour_offer offer;
  if (offers) {
    offer =
        neighbour_offer(s->out.span.base, &s->request.vp->context->departures);
  }
  s->sent = s->wanted = 0;
  am_send(process_of(&s->out), AM_P2P, s->out.comm->team->id, &w, sizeof(w),
          &offer, offers ? sizeof(offer) : 0);
}

/* Is a message that could be copied better read by the receiver? That is one
   copy instead of four, but keeps the sender waiting: not where others would
   go on in its place, or its context would leave. */
static bool is_read(const struct outgoing *o) {
  enum { READ_LEAST = 12 << 10 };
  return o->bytes >= READ_LEAST && neighbour(process_of(o)) &&
         !am_is_short(process_of(o), sizeof(struct wire) + o->bytes) &&
         o->span.layout->dense && o->mode != SEND_BUFFERED &&
         dispatch_none_ready() && !contexts_crowded();
}

static bool is_eager(const struct outgoing *o) {
  return o->bytes <= letter_eager_limit() && !is_read(o);
}

bool p2p_remote_send_now(const struct outgoing *o) {
  if (o->mode == SEND_SYNCHRONOUS) {
    return false;
  }
  if (is_eager(o)) {
    send_eager(o, NULL);
    return true;
  }
  return false;
}

void p2p_remote_send_later(struct outgoing_send *s) {
  if (is_eager(&s->out)) {
    send_eager(&s->out, s);
  } else {
    p2p_remote_announce(s);
  }
}

void p2p_remote_cancel(struct outgoing_send *s) {
  const struct wire w = envelope(WITHDRAW, &s->out, s);
  tell(process_of(&s->out), s->out.comm->team->id, &w);
}

void p2p_remote_bind(struct outgoing_send *s) {
  struct wire w = envelope(BIND, &s->out, s);
  w.position = s->number;
  tell(process_of(&s->out), s->out.comm->team->id, &w);
}

static size_t next_contents(struct am_stream *stream, char *out) {
  struct outgoing_send *s =
      (struct outgoing_send *)((char *)stream -
                               offsetof(struct outgoing_send, stream));
  const size_t left = s->wanted - s->sent;
  if (!left) {
    done(&s->request);
    return 0;
  }
  const size_t room = AM_LARGEST - sizeof(struct wire);
  const size_t n = left < room ? left : room;
  const struct wire w = {
      .what = CONTENTS, .receive = s->receive, .position = s->sent, .bytes = n};
  memcpy(out, &w, sizeof(w));
  if (s->letter) {
    letter_read(s->letter, s->sent, out + sizeof(w), n);
  } else {
    transfer_read(s->request.vp->context, &s->out.span, s->sent,
                  out + sizeof(w), n);
  }
  s->sent += n;
  return sizeof(w) + n;
}

static void on_ask(int process, uint64_t key, const struct wire *w) {
  struct outgoing_send *s = (struct outgoing_send *)(uintptr_t)w->send;
  s->receive = w->receive;
  s->wanted = w->bytes;
  s->stream = (struct am_stream){
      .process = process, .kind = AM_P2P, .key = key, .next = next_contents};
  if (s->wanted) {
    am_stream_start(&s->stream);
  } else {
    done(&s->request);
  }
}

static void on_withdrawn(const struct wire *w) {
  struct outgoing_send *s = (struct outgoing_send *)(uintptr_t)w->send;
  s->request.result.cancelled = true;
  done(&s->request);
}

static void on_room(int process, const struct wire *w) {
  struct flow *f = &flows[process];
  run_queue_lock();
  f->out -= w->bytes;
  run_queue_wake_locked(&f->waiting);
  run_queue_unlock();
}

/* --- receiving --- */

/* Takes contents that are offered; false: they are to be asked for. */
static bool take(struct endpoint_receive *r, const struct letter *l) {
  const size_t n = (size_t)r->request.result.bytes;
  return l->offer.at && n &&
         transfer_take(r->request.vp->context, &r->span, 0, n, l->process,
                       &l->offer);
}

void p2p_remote_receive(struct endpoint_receive *r, struct letter *l) {
  if (take(r, l)) {
    p2p_remote_acknowledge(l);
    letter_free(l);
    done(&r->request);
    return;
  }
  const struct wire w = {.what = ASK,
                         .bytes = (uint64_t)r->request.result.bytes,
                         .send = l->remote,
                         .receive = (uintptr_t)r};
  r->expected = w.bytes;
  r->got = 0;
  tell(l->process, 0, &w);
  letter_free(l);
  if (!w.bytes) {
    done(&r->request);
  }
}

static void tell_received(int process, uint64_t send) {
  const struct wire w = {.what = RECEIVED, .send = send};
  tell(process, 0, &w);
}

void p2p_remote_acknowledge(const struct letter *l) {
  if (l->remote) {
    tell_received(l->process, l->remote);
  }
}

/* The member that a message is for; with the lock. NULL if nobody here has the
   communicator yet. */
static struct endpoint *endpoint_for_locked(uint64_t key,
                                            const struct wire *w) {
  struct team *team = team_find_locked(key);
  return team ? endpoint_of(team, team->index[w->target]) : NULL;
}

static struct letter *address(struct letter *l, int process,
                              const struct wire *w) {
  l->channel = w->channel;
  l->source = w->source;
  l->tag = w->tag;
  l->process = process;
  l->remote = w->what == ENVELOPE || w->synchronous ? w->send : 0;
  return l;
}

/* Room for others, once there is much. */
static void taken(int process, size_t n) {
  struct flow *f = &flows[process];
  f->in += n;
  if (f->in >= flow_limit() / 4) {
    const struct wire w = {.what = ROOM, .bytes = f->in};
    f->in = 0;
    tell(process, 0, &w);
  }
}

/* The receive that takes the letter; else it is kept, and NULL. With the
   lock. */
static struct endpoint_receive *
hand_over_locked(uint64_t key, const struct wire *w, struct letter *l) {
  struct endpoint *e = endpoint_for_locked(key, w);
  if (!e) {
    early_keep(key, w->target, l);
    return NULL;
  }
  struct endpoint_receive *r =
      endpoint_match_locked(e, w->channel, w->source, w->tag);
  if (!r) {
    endpoint_add_locked(e, l);
  }
  return r;
}

/* A posted receive, if there is one. With the lock. */
static struct endpoint_receive *find_posted_locked(uint64_t key,
                                                   const struct wire *w) {
  struct endpoint *const e = endpoint_for_locked(key, w);
  return e ? endpoint_match_locked(e, w->channel, w->source, w->tag) : NULL;
}

/* A few bytes, which the receive keeps until its VP looks. */
static bool give_tiny_locked(struct endpoint_receive *r, const struct wire *w,
                             const char *data) {
  if (w->bytes > TINY || !endpoint_takes_tiny(r)) {
    return false;
  }
  endpoint_result(r, w->source, w->tag, w->bytes);
  memcpy(r->tiny, data, w->bytes);
  r->has_tiny = true;
  request_done_locked(&r->request);
  return true;
}

/* To where it belongs, if that is in memory: else it is a letter, for a few
   bytes are not worth a request of the disk. */
static void give_posted(int process, struct endpoint_receive *r,
                        const struct wire *w, const char *data) {
  struct context *const context = r->request.vp->context;
  if (context_in_memory(context, r->span.base)) {
    endpoint_result(r, w->source, w->tag, w->bytes);
    transfer_write(context, &r->span, 0, data, (size_t)r->request.result.bytes);
    done(&r->request);
  } else {
    struct letter *const l = address(letter_copy(data, w->bytes), process, w);
    run_queue_lock();
    endpoint_give_locked(r, l);
    run_queue_unlock();
  }
}

/* Nobody waits for it yet, unless that has changed meanwhile: true then. */
static bool keep_or_give(int process, uint64_t key, const struct wire *w,
                         const char *data) {
  struct letter *const l = address(letter_copy(data, w->bytes), process, w);
  run_queue_lock();
  struct endpoint_receive *const r = hand_over_locked(key, w, l);
  if (r) {
    endpoint_give_locked(r, l);
  }
  run_queue_unlock();
  return r;
}

static void on_eager(int process, uint64_t key, const struct wire *w,
                     const char *data) {
  run_queue_lock();
  struct endpoint_receive *const r = find_posted_locked(key, w);
  const bool tiny = r && give_tiny_locked(r, w, data);
  run_queue_unlock();
  if (r && !tiny) {
    give_posted(process, r, w, data);
  }
  if ((r || keep_or_give(process, key, w, data)) && w->synchronous) {
    tell_received(process, w->send);
  }
  taken(process, sizeof(*w) + w->bytes);
}

/* A receive and the letter that it takes. */
struct taking {
  struct endpoint_receive *receive;
  struct letter *letter;
};

static void take_job(void *arg) {
  const struct taking t = *(struct taking *)arg;
  native_free(arg);
  p2p_remote_receive(t.receive, t.letter);
}

/* On the receiver's thread, which others wait for, too. */
static void receive_offered(struct endpoint_receive *r, struct letter *l) {
  enum { SHORT = 16 << 20 };
  if (!l->offer.at || l->bytes <= SHORT) {
    p2p_remote_receive(r, l);
    return;
  }
  struct taking *const t = need_alloc(sizeof(*t), "a message");
  *t = (struct taking){r, l};
  net_jobs_add(take_job, t);
}

static void on_envelope(int process, uint64_t key, const struct wire *w,
                        const char *data, size_t n) {
  struct letter *l = address(letter_new(w->bytes), process, w);
  if (n >= sizeof(l->offer)) {
    memcpy(&l->offer, data, sizeof(l->offer));
  }
  run_queue_lock();
  struct endpoint_receive *r = hand_over_locked(key, w, l);
  run_queue_unlock();
  if (r) {
    endpoint_result(r, l->source, l->tag, l->bytes);
    receive_offered(r, l);
  }
}

static void on_contents(const struct wire *w, const char *data) {
  struct endpoint_receive *r = (struct endpoint_receive *)(uintptr_t)w->receive;
  transfer_write(r->request.vp->context, &r->span, w->position, data, w->bytes);
  r->got += w->bytes;
  if (r->got == r->expected) {
    done(&r->request);
  }
}

static void on_withdraw(int process, uint64_t key, const struct wire *w) {
  run_queue_lock();
  struct endpoint *e = endpoint_for_locked(key, w);
  struct letter *l =
      e ? endpoint_find_remote_locked(e, w->channel, process, w->send)
        : early_withdraw(key, process, w->send);
  if (e && l) {
    endpoint_remove_locked(e, l);
  }
  run_queue_unlock();
  if (l) {
    const struct wire answer = {.what = WITHDRAWN, .send = w->send};
    letter_free(l);
    tell(process, 0, &answer);
  }
}

static void on_bind(int process, uint64_t key, const struct wire *w) {
  bool matched;
  run_queue_lock();
  struct endpoint *e = endpoint_for_locked(key, w);
  struct letter *l =
      e ? unbound_find_locked(e, w->channel, w->source, w->position, &matched)
        : NULL;
  if (l) {
    l->remote = w->send;
    l->process = process;
  }
  run_queue_unlock();
}

static bool on_message(int process, uint64_t key, const char *bytes, size_t n) {
  const struct wire *w = (const struct wire *)bytes;
  switch (w->what) {
  case EAGER:
    on_eager(process, key, w, bytes + sizeof(*w));
    break;
  case ENVELOPE:
    on_envelope(process, key, w, bytes + sizeof(*w), n - sizeof(*w));
    break;
  case WITHDRAW:
    on_withdraw(process, key, w);
    break;
  case ASK:
    on_ask(process, key, w);
    break;
  case CONTENTS:
    on_contents(w, bytes + sizeof(*w));
    break;
  case RECEIVED:
    done(&((struct outgoing_send *)(uintptr_t)w->send)->request);
    break;
  case WITHDRAWN:
    on_withdrawn(w);
    break;
  case ROOM:
    on_room(process, w);
    break;
  case BIND:
    on_bind(process, key, w);
    break;
  }
  return true;
}

void p2p_remote_start(void) {
  flows = need_zalloc(vps.plan.nprocs, sizeof(*flows), "messages");
  am_register(AM_P2P, on_message);
}
