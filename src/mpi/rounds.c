/* Messages between processes (after PEMS2, Algorithm 7.1.3): rounds in which
   each process packs up to alpha messages for each other one into its half of
   the communication buffer; each message crosses the network once. The
   receiving process delivers to its VPs' contexts wherever they are. A message
   that all members in a process receive is sent to the process once. Two
   processes are never more than one round apart, so that little has to be kept
   for one that is late. */
#include "mpi/part.h"

#include "base/counters.h"
#include "base/native.h"
#include "base/trace.h"
#include "mpi/box.h"
#include "mpi/transfer.h"
#include "net/net.h"

#include <limits.h>
#include <string.h>

/* What stands before each piece of a message in a round's buffer. */
struct header {
  int32_t source;      /* peer */
  int32_t destination; /* a peer, or EVERYBODY in the process */
  uint64_t position;   /* of the piece in the packed message */
  uint64_t n;          /* bytes of the piece that follow */
  uint64_t total;      /* bytes of the message */
};

/* What stands before all pieces of a round. */
struct round_header {
  uint64_t more; /* of the sender: another round is needed */
};

enum {
  EVERYBODY = -1,
  LARGEST_BUFFER = 64 << 20,
  /* The first round's: the other process may not have made the call yet. */
  FIRST_BUFFER = 8 << 10,
  ALIGN = 8,
};

/* Another process, and where this one stands in its list of messages to it. */
struct queue {
  int process;
  int *peers; /* members there, ascending */
  int n;
  int index;       /* of the sending member here */
  int destination; /* in peers */
  size_t position; /* bytes of the current message already sent */
  bool more;       /* here or there: one more round with it */
};

struct rounds {
  struct coll *coll;
  struct queue *queue; /* of each other process with members */
  int n;
  char *buffer;
  size_t room; /* for one process */
};

static void queue_start(struct queue *q, const struct team *team, int process) {
  *q = (struct queue){.process = process, .more = true};
  q->peers = native_need(team->size * sizeof(int), "network rounds");
  for (int peer = 0; peer < team->size; peer++) {
    if (team->proc[peer] == process) {
      q->peers[q->n++] = peer;
    }
  }
}

static bool to_everybody(const struct part *p) {
  return p->send.shape == SIDE_ONE && p->send.only < 0;
}

static void queue_advance(struct queue *q, const struct part *p) {
  q->position = 0;
  if (++q->destination >= q->n || to_everybody(p)) {
    q->destination = 0;
    q->index++;
  }
}

/* Moves on to a destination of the member's that gets a message, if there is
   one. */
static bool has_message(struct queue *q, const struct part *p, struct span *m) {
  for (; q->destination < q->n; q->destination++) {
    if (side_span(&p->send, q->peers[q->destination], m)) {
      return true;
    }
  }
  return false;
}

/* The message at the head of the queue; false when there is none left. */
static bool queue_head(struct queue *q, const struct coll *coll,
                       struct part **p, struct span *m) {
  for (; q->index < coll->team->n; q->index++, q->destination = 0) {
    *p = part_of(coll, q->index);
    if (has_message(q, *p, m)) {
      return true;
    }
  }
  return false;
}

static void read_piece(struct part *p, int destination, const struct span *m,
                       size_t position, char *out, size_t n) {
  const char *staged = part_staged(p, destination);
  if (staged) {
    memcpy(out, staged + position, n);
  } else {
    transfer_read(p->vp->context, m, position, out, n);
  }
}

static size_t padded(size_t n) {
  return (n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

/* Packs the next messages for one process into `room` bytes. Returns how many;
   q->more tells whether some remain. */
static size_t fill(struct rounds *r, struct queue *q, size_t room) {
  char *out = r->buffer;
  size_t used = sizeof(struct round_header);
  struct part *p;
  struct span m;
  for (int messages = 0; (q->more = queue_head(q, r->coll, &p, &m));
       messages++) {
    if (messages == vps.plan.alpha ||
        used + sizeof(struct header) + ALIGN > room) {
      break;
    }
    const int destination = q->peers[q->destination];
    const size_t total = span_size(&m);
    const size_t space = room - used - sizeof(struct header);
    size_t n = total - q->position;
    n = n < space ? n : space & ~(size_t)(ALIGN - 1);
    const struct header h = {p->peer, to_everybody(p) ? EVERYBODY : destination,
                             q->position, n, total};
    memcpy(out + used, &h, sizeof(h));
    read_piece(p, destination, &m, q->position, out + used + sizeof(h), n);
    trace_add(p->vp->index, TRACE_SENT, n);
    used += padded(sizeof(h) + n);
    q->position += n;
    if (q->position == total) {
      queue_advance(q, p);
    }
  }
  const struct round_header round = {q->more};
  memcpy(out, &round, sizeof(round));
  return used;
}

static void keep_in_memory(struct part *p, const struct header *h,
                           const char *data, size_t n) {
  struct inbox *m = native_need(sizeof(*m) + n, "small messages");
  m->next = p->inbox;
  m->source = h->source;
  m->position = h->position;
  m->n = n;
  memcpy(m->data, data, n);
  p->inbox = m;
}

static void deliver(struct coll *coll, struct part *p, const struct header *h,
                    const char *data) {
  struct span to;
  if (!side_span(&p->receive, h->source, &to) || span_size(&to) < h->total) {
    coll->error = MPI_ERR_TRUNCATE;
  }
  if (!side_span(&p->receive, h->source, &to) ||
      h->position >= span_size(&to)) {
    return;
  }
  const size_t most = span_size(&to) - h->position;
  const size_t n = h->n < most ? h->n : most;
  if (h->total <= coll_small(vps.plan.v_local, p->receive.n)) {
    keep_in_memory(p, h, data, n);
  } else {
    transfer_write(p->vp->context, &to, h->position, data, n);
  }
}

static void deliver_to_all(struct coll *coll, const struct header *h,
                           const char *data) {
  for (int i = 0; i < coll->team->n; i++) {
    struct part *p = part_of(coll, i);
    struct span to;
    if (side_span(&p->receive, h->source, &to)) {
      deliver(coll, p, h, data);
    }
  }
}

/* Delivers what came; tells whether more will. */
static bool unpack(struct coll *coll, const char *bytes, size_t n) {
  struct round_header round;
  memcpy(&round, bytes, sizeof(round));
  for (size_t at = sizeof(round); at < n;) {
    struct header h;
    memcpy(&h, bytes + at, sizeof(h));
    const char *data = bytes + at + sizeof(h);
    if (h.destination == EVERYBODY) {
      deliver_to_all(coll, &h, data);
    } else {
      deliver(coll, part_of(coll, coll->team->index[h.destination]), &h, data);
    }
    at += padded(sizeof(h) + h.n);
  }
  return round.more;
}

static void rounds_start(struct rounds *r, struct coll *coll) {
  const struct team *team = coll->team;
  size_t half = vps.plan.sigma / 8;
  half = half < LARGEST_BUFFER ? half : LARGEST_BUFFER;
  r->coll = coll;
  r->room = (half / vps.plan.nprocs) & ~(size_t)(ALIGN - 1);
  if (r->room < 4 * sizeof(struct header)) {
    r->room = 4 * sizeof(struct header);
  }
  r->buffer = native_need(r->room, "network rounds");
  r->queue = native_need(team->nprocs * sizeof(*r->queue), "network rounds");
  r->n = 0;
  for (int i = 0; i < team->nprocs; i++) {
    if (team->procs[i] != net_rank()) {
      queue_start(&r->queue[r->n++], team, team->procs[i]);
    }
  }
}

static void rounds_end(struct rounds *r) {
  for (int i = 0; i < r->n; i++) {
    native_free(r->queue[i].peers);
  }
  native_free(r->queue);
  native_free(r->buffer);
}

static void send_round(struct rounds *r, struct box_key key) {
  const size_t room =
      key.tag == 0 && r->room > FIRST_BUFFER ? FIRST_BUFFER : r->room;
  for (int i = 0; i < r->n; i++) {
    struct queue *q = &r->queue[i];
    if (q->more) {
      const size_t n = fill(r, q, room);
      box_send(q->process, key, r->buffer, n);
    } else {
      q->process = -1; /* both ends know that there is no more */
    }
  }
}

/* Returns whether there is another round. */
static bool receive_round(struct rounds *r, struct box_key key) {
  bool more = false;
  for (int i = 0; i < r->n; i++) {
    struct queue *q = &r->queue[i];
    if (q->process >= 0) {
      size_t n;
      char *bytes = box_take(q->process, key, &n);
      q->more |= unpack(r->coll, bytes, n);
      native_free(bytes);
      more |= q->more;
    }
  }
  return more;
}

void rounds_run(struct coll *coll) {
  struct rounds r;
  struct box_key key = box_key(coll, 0);
  rounds_start(&r, coll);
  do {
    send_round(&r, key);
    counter_add(net_rounds, 1);
  } while (receive_round(&r, key) && ++key.tag);
  rounds_end(&r);
}
