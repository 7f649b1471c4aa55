/* Messages of random.c. Ranks make all calls in one order, so what is sent from
   one rank to another on a communicator and what is received there correspond
   in order, too: a tag of MPI_ANY_TAG changes nothing. MPI_ANY_SOURCE needs a
   tag that nothing else has. */
#ifndef TESTS_MPI_RANDOM_P2P_H
#define TESTS_MPI_RANDOM_P2P_H

#include "random_comm.h"

#include <stdbool.h>

enum { OWN_TAG = 100, BUFFERED = 3 << 20 };

static char buffered[BUFFERED];
static long buffered_used;

/* Two ranks to talk, of one group or of both: numbers of side and rank. */
struct ends {
  int from_side, from, to_side, to;
};

static inline struct ends draw_ends(const struct com *c) {
  struct ends e = {0, 0, 0, 0};
  if (is_inter(c)) {
    e.from_side = draw(2);
    e.to_side = !e.from_side;
  }
  e.from = draw(c->n[e.from_side]);
  e.to = draw(c->n[e.to_side]);
  return e;
}

static inline bool is_end(const struct com *c, int side, int r) {
  return is_member(c) && c->side == side && c->me == r;
}

enum mode { STANDARD, SYNCHRONOUS, BUFFER, READY, MODES };

struct send {
  const char *origin;
  int count;
  MPI_Datatype type;
  int to, tag;
  MPI_Comm comm;
};

static inline bool takes_buffer(const struct send *s) {
  int n;
  MPI_Pack_size(s->count, s->type, s->comm, &n);
  n += MPI_BSEND_OVERHEAD + 64;
  if (n > BUFFERED - buffered_used) {
    return false;
  }
  buffered_used += n;
  return true;
}

static inline void send_blocking(enum mode mode, const struct send *s) {
  if (mode == BUFFER && takes_buffer(s)) {
    MPI_Bsend(s->origin, s->count, s->type, s->to, s->tag, s->comm);
  } else if (mode == SYNCHRONOUS) {
    MPI_Ssend(s->origin, s->count, s->type, s->to, s->tag, s->comm);
  } else if (mode == READY) {
    MPI_Rsend(s->origin, s->count, s->type, s->to, s->tag, s->comm);
  } else {
    MPI_Send(s->origin, s->count, s->type, s->to, s->tag, s->comm);
  }
}

static inline void send_start(enum mode mode, const struct send *s,
                              MPI_Request *r) {
  if (mode == BUFFER && takes_buffer(s)) {
    MPI_Ibsend(s->origin, s->count, s->type, s->to, s->tag, s->comm, r);
  } else if (mode == SYNCHRONOUS) {
    MPI_Issend(s->origin, s->count, s->type, s->to, s->tag, s->comm, r);
  } else if (mode == READY) {
    MPI_Irsend(s->origin, s->count, s->type, s->to, s->tag, s->comm, r);
  } else {
    MPI_Isend(s->origin, s->count, s->type, s->to, s->tag, s->comm, r);
  }
}

/* Several messages of one rank to another. */
struct parcel {
  int n, tag;
  struct {
    struct unit unit;
    int units, room; /* sent, and what there is room for */
    enum mode mode;
  } part[4];
  int open_source; /* the tag is its own */
};

static inline struct parcel draw_parcel(bool ready) {
  struct parcel q = {.n = 1 + (draw(3) ? 0 : draw(4))};
  q.open_source = draw(5) == 0;
  q.tag = q.open_source ? OWN_TAG + (int)operation : draw(4);
  for (int i = 0; i < q.n; i++) {
    q.part[i].unit = draw_unit();
    q.part[i].units = draw_units(q.part[i].unit, 1);
    q.part[i].room = q.part[i].units + (draw(4) ? 0 : draw(50));
    q.part[i].mode = (enum mode)draw(ready ? MODES : READY);
  }
  return q;
}

static inline void parcel_send(struct pending *p, const struct com *c, int to,
                               const struct parcel *q) {
  for (int i = 0; i < q->n; i++) {
    struct shape shape = op_shape(p, q->part[i].unit);
    struct send s = {
        NULL, q->part[i].units * shape.per, shape.type, to, q->tag, c->handle};
    s.origin = op_buffer(p, s.type, s.count);
    if (q->part[i].mode == READY) {
      MPI_Recv(NULL, 0, MPI_BYTE, to, q->tag, c->handle, MPI_STATUS_IGNORE);
    }
    if (own(2)) {
      send_blocking(q->part[i].mode, &s);
    } else {
      send_start(q->part[i].mode, &s, op_request(p));
    }
  }
}

static inline void probed(const struct com *c, int from, int tag, int how,
                          MPI_Message *m, MPI_Status *s) {
  int flag = 0;
  if (how == 0) {
    MPI_Probe(from, tag, c->handle, s);
  } else if (how == 1) {
    MPI_Mprobe(from, tag, c->handle, m, s);
  }
  while (how == 2 && !flag) {
    MPI_Iprobe(from, tag, c->handle, &flag, s);
  }
  while (how == 3 && !flag) {
    MPI_Improbe(from, tag, c->handle, &flag, m, s);
  }
}

/* Asks what comes, then receives just that much. */
static inline void receive_probed(struct pending *p, const struct com *c,
                                  int from, int tag, struct unit u) {
  struct shape shape = op_shape(p, u);
  const int how = own(4);
  MPI_Message m = MPI_MESSAGE_NULL;
  MPI_Status s;
  int count;
  probed(c, from, tag, how, &m, &s);
  MPI_Get_count(&s, shape.type, &count);
  char *origin = op_buffer(p, shape.type, count);
  fold(p->op, 50, (uint64_t)(s.MPI_SOURCE * 100000 + s.MPI_TAG));
  fold(p->op, 51, (uint64_t)count);
  if (m != MPI_MESSAGE_NULL && own(2)) {
    MPI_Imrecv(origin, count, shape.type, &m, op_receive(p, shape.type));
  } else if (m != MPI_MESSAGE_NULL) {
    MPI_Mrecv(origin, count, shape.type, &m, &s);
    fold_status(p->op, 60, &s, shape.type);
  } else {
    MPI_Recv(origin, count, shape.type, s.MPI_SOURCE, s.MPI_TAG, c->handle, &s);
    fold_status(p->op, 60, &s, shape.type);
  }
}

static inline void parcel_receive(struct pending *p, const struct com *c,
                                  int from, const struct parcel *q) {
  for (int i = 0; i < q->n; i++) {
    const int source = q->open_source && own(2) ? MPI_ANY_SOURCE : from;
    const bool ready = q->part[i].mode == READY;
    const int tag = source == from && own(4) == 0 ? MPI_ANY_TAG : q->tag;
    if (has(PROBE) && !ready && own(4) == 0) {
      receive_probed(p, c, source, tag, q->part[i].unit);
      continue;
    }
    struct shape shape = op_shape(p, q->part[i].unit);
    const int count = q->part[i].room * shape.per;
    char *origin = op_buffer(p, shape.type, count);
    if (ready || own(2)) {
      MPI_Irecv(origin, count, shape.type, source, tag, c->handle,
                op_receive(p, shape.type));
    } else {
      MPI_Status s;
      MPI_Recv(origin, count, shape.type, source, tag, c->handle, &s);
      fold_status(p->op, 200 + 10 * (uint64_t)i, &s, shape.type);
    }
    if (ready) {
      MPI_Send(NULL, 0, MPI_BYTE, from, q->tag, c->handle);
    }
  }
}

/* A parcel from one rank to another; to itself, the receive comes first. */
static inline void pair(struct com *c) {
  const struct ends e = draw_ends(c);
  const bool to_itself = e.from == e.to && e.from_side == e.to_side;
  const struct parcel q = draw_parcel(!to_itself);
  if (!is_member(c)) {
    return;
  }
  struct pending *p = op_begin();
  com_use(c, p);
  say("pair: %d messages from %d to %d, %d units", q.n, e.from, e.to,
      q.part[0].units);
  if (to_itself && is_end(c, e.to_side, e.to)) {
    struct shape in = op_shape(p, q.part[0].unit);
    struct shape out = op_shape(p, q.part[0].unit);
    const int n = q.part[0].units;
    char *to = op_buffer(p, in.type, n * in.per);
    MPI_Irecv(to, n * in.per, in.type, e.from, q.tag, c->handle,
              op_receive(p, in.type));
    const struct send s = {op_buffer(p, out.type, n * out.per),
                           n * out.per,
                           out.type,
                           e.to,
                           q.tag,
                           c->handle};
    send_blocking(q.part[0].mode, &s);
  } else if (is_end(c, e.from_side, e.from)) {
    parcel_send(p, c, e.to, &q);
  } else if (is_end(c, e.to_side, e.to)) {
    parcel_receive(p, c, e.from, &q);
  }
  op_end(p);
}

/* Everybody sends a few messages to one rank, which does not know who is
   first. */
static inline void fan_in(struct com *c) {
  const struct ends e = draw_ends(c);
  const int to = e.to, messages = 1 + draw(3), n = c->n[e.from_side];
  const struct unit u = draw_unit();
  const int most = draw_units(u, n * messages);
  const int tag = OWN_TAG + (int)operation;
  const bool probing = has(PROBE) && draw(3) == 0;
  if (!is_member(c) || n * messages > MOST_BUFFERS / 2) {
    return;
  }
  struct pending *p = op_begin();
  com_use(c, p);
  say("fan-in: %d messages of up to %d units to %d", messages, most, to);
  if (is_end(c, e.to_side, to)) {
    p->by_source = !probing;
    uint64_t state = scramble(operation, 17); /* the same type for all */
    struct shape s = op_same_shape(p, u, state);
    if (probing) { /* the sum of what came; the others only have its size */
      for (int i = 0; i < n * messages - (e.to_side == e.from_side) * messages;
           i++) {
        MPI_Status got;
        MPI_Probe(MPI_ANY_SOURCE, tag, c->handle, &got);
        int count;
        MPI_Get_count(&got, s.type, &count);
        struct buffer b = buffer_make(s.type, count, 5);
        MPI_Recv(b.origin, count, s.type, got.MPI_SOURCE, tag, c->handle, &got);
        /* Its margins depend on where it lies, so what it holds is packed. */
        int bytes, at = 0;
        MPI_Type_size(s.type, &bytes);
        char *packed = malloc((size_t)count * (size_t)bytes + 1);
        MPI_Pack(b.origin, count, s.type, packed, count * bytes, &at,
                 c->handle);
        fold(p->op, (uint64_t)got.MPI_SOURCE, hash(packed, (size_t)at));
        free(packed);
        buffer_free(&b);
      }
    } else {
      for (int i = 0; i < n * messages - (e.to_side == e.from_side) * messages;
           i++) {
        char *origin = op_buffer(p, s.type, most * s.per);
        MPI_Irecv(origin, most * s.per, s.type, MPI_ANY_SOURCE, tag, c->handle,
                  op_receive(p, s.type));
      }
    }
  } else if (c->side == e.from_side) {
    for (int i = 0; i < messages; i++) {
      struct shape shape = op_shape(p, u);
      struct send s = {NULL, 0, shape.type, to, tag, c->handle};
      s.count = (own(2) ? most : own(most + 1)) * shape.per;
      s.origin = op_buffer(p, s.type, s.count);
      send_start((enum mode)own(READY), &s, op_request(p));
    }
  }
  op_end(p);
}

/* All send to the one that is `step` further, in a ring or in a line. */
static inline void shift(struct com *c) {
  const int n = c->n[0], step = draw(n + 1), ring = draw(2), replace = draw(3);
  const int blocking = draw(2), tag = draw(3);
  const struct unit u = draw_unit();
  const int units = draw_units(u, 1);
  if (!is_member(c)) {
    return;
  }
  struct pending *p = op_begin();
  com_use(c, p);
  int to = c->me + step, from = c->me - step;
  if (ring) {
    to %= n;
    from = (from + n) % n;
  } else {
    to = to < n ? to : MPI_PROC_NULL;
    from = from >= 0 ? from : MPI_PROC_NULL;
  }
  say("shift by %d: %d units", step, units);
  const struct shape in = op_shape(p, u), out = op_shape(p, u);
  MPI_Status s;
  char *source = op_buffer(p, out.type, units * out.per);
  if (replace == 0) {
    MPI_Sendrecv_replace(source, units * out.per, out.type, to, tag, from, tag,
                         c->handle, &s);
    fold_status(p->op, 300, &s, out.type);
    op_end(p);
    return;
  }
  char *target = op_buffer(p, in.type, units * in.per);
  if (blocking) {
    MPI_Sendrecv(source, units * out.per, out.type, to, tag, target,
                 units * in.per, in.type, from, own(2) ? tag : MPI_ANY_TAG,
                 c->handle, &s);
    fold_status(p->op, 300, &s, in.type);
  } else {
    MPI_Irecv(target, units * in.per, in.type, from, tag, c->handle,
              op_receive(p, in.type));
    MPI_Isend(source, units * out.per, out.type, to, tag, c->handle,
              op_request(p));
  }
  op_end(p);
}

/* Any rank to any other, all at once. */
static inline void mesh(struct com *c) {
  const struct unit u = draw_unit();
  const int n = c->n[0], units = draw_units(u, n * n), some = 1 + draw(3);
  const int tag = draw(3);
  uint64_t seed = scramble(operation, 3);
  if (!is_member(c) || 2 * n > MOST_BUFFERS) {
    return;
  }
  struct pending *p = op_begin();
  com_use(c, p);
  say("mesh: up to %d units", units);
  for (int i = 0; i < n; i++) {
    uint64_t state = scramble(seed, (uint64_t)(i * 1000 + c->me));
    const int count = (int)pick(&state, (unsigned)units + 1);
    if (pick(&state, (unsigned)some)) {
      continue;
    }
    struct shape s = op_shape(p, u);
    char *origin = op_buffer(p, s.type, count * s.per);
    MPI_Irecv(origin, count * s.per, s.type, i, tag, c->handle,
              op_receive(p, s.type));
  }
  for (int i = 0; i < n; i++) {
    uint64_t state = scramble(seed, (uint64_t)(c->me * 1000 + i));
    const int count = (int)pick(&state, (unsigned)units + 1);
    if (pick(&state, (unsigned)some)) {
      continue;
    }
    struct shape shape = op_shape(p, u);
    struct send s = {NULL, count * shape.per, shape.type, i, tag, c->handle};
    s.origin = op_buffer(p, s.type, s.count);
    send_start((enum mode)own(READY), &s, op_request(p));
  }
  op_end(p);
}

/* A communicator of its own, where any message may match any receive. */
static inline void any_any(struct com *c) {
  const struct ends e = draw_ends(c);
  const struct unit u = draw_unit();
  const int units = draw_units(u, c->n[e.from_side]);
  struct com *made = com_place();
  if (!made) {
    return;
  }
  made = com_like(c);
  if (is_member(c)) {
    MPI_Comm_dup(c->handle, &made->handle);
    struct pending *p = op_begin();
    com_use(made, p);
    say("any source and tag: %d units", units);
    if (is_end(c, e.to_side, e.to)) {
      p->by_source = 1;
      struct shape s = op_same_shape(p, u, operation);
      for (int i = 0; i < c->n[e.from_side] - !is_inter(c); i++) {
        MPI_Irecv(op_buffer(p, s.type, units * s.per), units * s.per, s.type,
                  MPI_ANY_SOURCE, MPI_ANY_TAG, made->handle,
                  op_receive(p, s.type));
      }
    } else if (c->side == e.from_side) {
      struct shape s = op_shape(p, u);
      MPI_Send(op_buffer(p, s.type, units * s.per), units * s.per, s.type, e.to,
               own(50), made->handle);
    }
    op_end(p);
  }
  com_free(made);
}

/* A receive that nothing is sent for. */
static inline void cancelled(struct com *c) {
  const struct unit u = draw_unit();
  const int tag = OWN_TAG + (int)operation;
  const int any = draw(2), from = is_inter(c) ? 0 : draw(c->n[0]);
  if (!is_member(c) || own(2)) {
    return;
  }
  struct pending *p = op_begin();
  com_use(c, p);
  struct shape s = op_shape(p, u);
  char *origin = op_buffer(p, s.type, 3 * s.per);
  MPI_Request *r = op_receive(p, s.type);
  MPI_Irecv(origin, 3 * s.per, s.type, any ? MPI_ANY_SOURCE : from, tag,
            c->handle, r);
  int flag;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, tag, c->handle, &flag, &status);
  if (flag) {
    die("a message that nobody sent");
  }
  MPI_Cancel(r);
  op_end(p);
}

/* A send whose request is freed: its buffer may be used again when the receiver
   has answered. */
static inline void forgotten(struct com *c) {
  const struct ends e = draw_ends(c);
  const struct unit u = draw_unit();
  const int units = draw_units(u, 1);
  if (!is_member(c) || (e.from == e.to && e.from_side == e.to_side)) {
    return;
  }
  struct pending *p = op_begin();
  com_use(c, p);
  if (is_end(c, e.from_side, e.from)) {
    struct shape s = op_shape(p, u);
    char *origin = op_buffer(p, s.type, units * s.per);
    MPI_Request r;
    MPI_Isend(origin, units * s.per, s.type, e.to, 1, c->handle, &r);
    MPI_Request_free(&r);
    MPI_Recv(NULL, 0, MPI_BYTE, e.to, 2, c->handle, MPI_STATUS_IGNORE);
  } else if (is_end(c, e.to_side, e.to)) {
    struct shape s = op_shape(p, u);
    char *origin = op_buffer(p, s.type, units * s.per);
    MPI_Recv(origin, units * s.per, s.type, e.from, 1, c->handle,
             MPI_STATUS_IGNORE);
    MPI_Send(NULL, 0, MPI_BYTE, e.from, 2, c->handle);
  }
  op_end(p);
}

static inline void p2p_step(void) {
  struct com *c = com_draw(2);
  switch (draw(8)) {
  case 0:
    fan_in(c);
    break;
  case 1:
    if (!is_inter(c)) {
      shift(c);
    }
    break;
  case 2:
    if (!is_inter(c)) {
      mesh(c);
    }
    break;
  case 3:
    if (has(COMM)) {
      any_any(c);
    }
    break;
  case 4:
    if (has(PROBE)) {
      cancelled(c);
    }
    break;
  case 5:
    forgotten(c);
    break;
  default:
    pair(c);
  }
}

/* --- persistent requests --- */

enum { MOST_PERSISTENT = 6 };

/* A message that is sent again and again. */
struct lasting {
  int live;
  struct com *com;
  struct ends ends;
  int tag, units;
  enum mode mode;
  /* Of this rank, if it is one of the ends: */
  MPI_Request request;
  struct shape shape;
  struct buffer buffer;
  struct pending *round; /* under way */
};

static struct lasting lasting[MOST_PERSISTENT];

static inline bool lasting_mine(const struct lasting *l) {
  return is_end(l->com, l->ends.from_side, l->ends.from) ||
         is_end(l->com, l->ends.to_side, l->ends.to);
}

static inline void lasting_make(struct lasting *l) {
  const struct unit u = draw_unit();
  *l = (struct lasting){.live = 1, .com = com_draw(2), .tag = draw(4)};
  l->ends = draw_ends(l->com);
  l->units = draw_units(u, 1);
  l->mode = (enum mode)draw(MODES);
  l->request = MPI_REQUEST_NULL;
  if (!is_inter(l->com) && l->ends.from == l->ends.to) {
    l->live = 0;
    return;
  }
  l->com->persistent++;
  if (!lasting_mine(l)) {
    return;
  }
  l->shape = shape_make(&own_state, u);
  const int n = l->units * l->shape.per;
  l->buffer = buffer_make(l->shape.type, n, operation);
  char *origin = l->buffer.origin;
  const MPI_Comm comm = l->com->handle;
  const MPI_Datatype type = l->shape.type;
  say("persistent: %d units", l->units);
  if (!is_end(l->com, l->ends.from_side, l->ends.from)) {
    MPI_Recv_init(origin, n, type, l->ends.from, own(2) ? l->tag : MPI_ANY_TAG,
                  comm, &l->request);
  } else if (l->mode == SYNCHRONOUS) {
    MPI_Ssend_init(origin, n, type, l->ends.to, l->tag, comm, &l->request);
  } else if (l->mode == READY) {
    MPI_Rsend_init(origin, n, type, l->ends.to, l->tag, comm, &l->request);
  } else if (l->mode == BUFFER) {
    MPI_Bsend_init(origin, n, type, l->ends.to, l->tag, comm, &l->request);
  } else {
    MPI_Send_init(origin, n, type, l->ends.to, l->tag, comm, &l->request);
  }
}

/* The rounds of it that are under way end. */
static inline void lasting_settle(struct lasting *l) {
  bool active = true;
  MPI_Status s;
  while (active) { /* it is among those that are waited for, if it is at all */
    active = false;
    for (struct pending *p = under_way; p; p = p->next) {
      for (int i = 0; i < p->n_requests; i++) {
        active |= p->requests[i] == l->request;
      }
    }
    if (active) {
      wait_among(2, NULL);
    }
  }
  (void)s;
}

static inline void lasting_end(struct lasting *l) {
  l->com->persistent--;
  l->live = 0;
  if (!lasting_mine(l)) {
    return;
  }
  lasting_settle(l);
  MPI_Request_free(&l->request);
  if (l->request != MPI_REQUEST_NULL) {
    die("the handle of a freed request");
  }
  shape_free(&l->shape);
  buffer_free(&l->buffer);
}

/* A new round of one: `ready` is the pass of the receivers of ready sends. */
static inline void lasting_begin(struct lasting *l, struct pending *p) {
  const bool sends = is_end(l->com, l->ends.from_side, l->ends.from);
  fill(l->buffer.memory, l->buffer.bytes, scramble(p->op, (uint64_t)rank) | 1);
  struct buffer *b = &p->buffers[p->n_buffers++];
  *b = l->buffer;
  b->borrowed = 1;
  MPI_Request *r = sends ? op_request(p) : op_receive(p, l->shape.type);
  *r = l->request;
}

/* Some begin a round; one, or all those of a rank at once. */
static inline void lasting_start(void) {
  const int which = draw(MOST_PERSISTENT), several = draw(2);
  struct pending *p = op_begin();
  for (int i = 0; i < MOST_PERSISTENT; i++) {
    struct lasting *l = &lasting[i];
    const bool chosen = l->live && (i == which || several);
    if (!chosen || l->mode == READY || l->mode == BUFFER || !lasting_mine(l)) {
      continue;
    }
    lasting_settle(l);
    lasting_begin(l, p);
  }
  /* The order of the requests is that of the table, on all ranks. */
  say("starts %d persistent requests", p->n_requests);
  if (p->n_requests && own(2)) {
    MPI_Startall(p->n_requests, p->requests);
  } else {
    for (int i = 0; i < p->n_requests; i++) {
      MPI_Start(&p->requests[i]);
    }
  }
  op_end(p);
  struct lasting *l = &lasting[which];
  if (!l->live || (l->mode != READY && l->mode != BUFFER) || !lasting_mine(l)) {
    return;
  }
  lasting_settle(l);
  p = op_begin();
  lasting_begin(l, p);
  const bool sends = is_end(l->com, l->ends.from_side, l->ends.from);
  const int peer = sends ? l->ends.to : l->ends.from;
  const struct send s = {NULL, l->units * l->shape.per, l->shape.type, peer,
                         0,    l->com->handle};
  /* Nothing says so early that there is no room for it: wait for the end. */
  if (sends && l->mode == BUFFER && !takes_buffer(&s)) {
    MPI_Buffer_detach(&(void *){0}, &(int){0});
    MPI_Buffer_attach(buffered, BUFFERED);
    buffered_used = 0;
    takes_buffer(&s);
  }
  if (l->mode == READY && sends) {
    MPI_Recv(NULL, 0, MPI_BYTE, peer, l->tag, l->com->handle,
             MPI_STATUS_IGNORE);
  }
  MPI_Start(&p->requests[0]);
  if (l->mode == READY && !sends) {
    MPI_Send(NULL, 0, MPI_BYTE, peer, l->tag, l->com->handle);
  }
  op_end(p);
}

static inline void persistent_step(void) {
  struct lasting *l = &lasting[draw(MOST_PERSISTENT)];
  const int what = draw(5);
  if (what == 0 && l->live) {
    lasting_end(l);
  } else if (what < 2 && !l->live) {
    lasting_make(l);
  } else {
    lasting_start();
  }
}

static inline void persistent_end(void) {
  for (int i = 0; i < MOST_PERSISTENT; i++) {
    if (lasting[i].live) {
      lasting_end(&lasting[i]);
    }
  }
}

#endif
