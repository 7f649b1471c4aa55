/* Messages between processes (PEMS2, Algorithm 7.1.3): rounds in which each
   process packs up to alpha messages for each other one into its half of the
   communication buffer; each message crosses the network once. The receiving
   process delivers to its VPs' contexts wherever they are. A message that all
   VPs of a process receive is sent to the process once. */
#include "mpi/part.h"

#include "base/native.h"
#include "base/trace.h"
#include "mpi/transfer.h"
#include "net/net.h"

#include <limits.h>
#include <string.h>

/* What stands before each piece of a message in a round's buffer. */
struct header {
  int32_t source;
  int32_t destination; /* a rank, or EVERYBODY in the process */
  uint64_t position;   /* of the piece in the packed message */
  uint64_t n;          /* bytes of the piece that follow */
  uint64_t total;      /* bytes of the message */
};

enum { EVERYBODY = -1, LARGEST_BUFFER = 64 << 20, ALIGN = 8 };

/* Where a process stands in its list of messages to another process. */
struct queue {
  int first, last; /* ranks of the other process: [first, last) */
  int index;       /* of the sending VP here */
  int destination; /* rank */
  size_t position; /* bytes of the current message already sent */
};

struct rounds {
  struct coll *coll;
  struct queue *queue; /* by process */
  char **send;         /* by process: its part of the buffer */
  int *n_send, *n_receive;
  char *receive;
  size_t room; /* for each process in the sending half */
  size_t half; /* bytes of each half */
};

static void queue_start(struct queue *q, int process) {
  const struct plan *plan = &vps.plan;
  q->first = plan_first_rank(plan->v, plan->nprocs, process);
  q->last = plan_first_rank(plan->v, plan->nprocs, process + 1);
  q->index = 0;
  q->destination = q->first;
  q->position = 0;
}

static void queue_advance(struct queue *q) {
  q->position = 0;
  if (++q->destination >= q->last) {
    q->destination = q->first;
    q->index++;
  }
}

static bool to_everybody(const struct part *p) {
  return p->send.shape == SIDE_ONE && p->send.only < 0;
}

/* The message at the head of the queue; false when there is none left. */
static bool queue_head(struct queue *q, const struct coll *coll,
                       struct part **p, struct span *m) {
  for (; q->index < vps.n; queue_advance(q)) {
    *p = part_of(coll, q->index);
    if (to_everybody(*p) && q->destination > q->first) {
      continue;
    }
    if (side_span(&(*p)->send, q->destination, m)) {
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

/* Packs the next messages for one process. Returns true if some remain. */
static bool fill(struct rounds *r, int process) {
  struct queue *q = &r->queue[process];
  char *out = r->send[process];
  size_t used = 0;
  struct part *p;
  struct span m;
  bool left = false;
  for (int messages = 0; (left = queue_head(q, r->coll, &p, &m)); messages++) {
    if (messages == vps.plan.alpha ||
        used + sizeof(struct header) + ALIGN > r->room) {
      break;
    }
    const size_t total = span_size(&m);
    const size_t space = r->room - used - sizeof(struct header);
    size_t n = total - q->position;
    n = n < space ? n : space & ~(size_t)(ALIGN - 1);
    const struct header h = {p->vp->rank,
                             to_everybody(p) ? EVERYBODY : q->destination,
                             q->position, n, total};
    memcpy(out + used, &h, sizeof(h));
    read_piece(p, q->destination, &m, q->position, out + used + sizeof(h), n);
    trace_add(p->vp->index, TRACE_SENT, n);
    used += padded(sizeof(h) + n);
    q->position += n;
    if (q->position == total) {
      queue_advance(q);
    }
  }
  r->n_send[process] = (int)used;
  return left;
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
  if (h->total <= coll_small(vps.plan.v_local, vps.plan.v)) {
    keep_in_memory(p, h, data, n);
  } else {
    transfer_write(p->vp->context, &to, h->position, data, n);
  }
}

static void unpack(struct rounds *r, size_t n) {
  for (size_t at = 0; at < n;) {
    struct header h;
    memcpy(&h, r->receive + at, sizeof(h));
    const char *data = r->receive + at + sizeof(h);
    if (h.destination != EVERYBODY) {
      deliver(r->coll, part_of(r->coll, h.destination - vps.first_rank), &h,
              data);
    } else {
      for (int i = 0; i < vps.n; i++) {
        struct part *p = part_of(r->coll, i);
        struct span to;
        if (side_span(&p->receive, h.source, &to)) {
          deliver(r->coll, p, &h, data);
        }
      }
    }
    at += padded(sizeof(h) + h.n);
  }
}

static void rounds_start(struct rounds *r, struct coll *coll) {
  const int procs = vps.plan.nprocs;
  size_t half = vps.plan.sigma / 8;
  half = half < LARGEST_BUFFER ? half : LARGEST_BUFFER;
  r->coll = coll;
  r->room = (half / procs) & ~(size_t)(ALIGN - 1);
  if (r->room < 4 * sizeof(struct header)) {
    r->room = 4 * sizeof(struct header);
  }
  r->half = r->room * procs;
  r->queue = native_need(procs * sizeof(*r->queue), "network rounds");
  r->send = native_need(procs * sizeof(*r->send), "network rounds");
  r->n_send = native_zneed(procs, sizeof(int), "network rounds");
  r->n_receive = native_zneed(procs, sizeof(int), "network rounds");
  r->send[0] = native_need(2 * r->half, "network rounds");
  r->receive = r->send[0] + r->half;
  for (int i = 0; i < procs; i++) {
    r->send[i] = r->send[0] + i * r->room;
    queue_start(&r->queue[i], i);
  }
}

static void rounds_end(struct rounds *r) {
  native_free(r->send[0]);
  native_free(r->queue);
  native_free(r->send);
  native_free(r->n_send);
  native_free(r->n_receive);
}

static size_t sum(const int *n) {
  size_t total = 0;
  for (int i = 0; i < vps.plan.nprocs; i++) {
    total += n[i];
  }
  return total;
}

void rounds_run(struct coll *coll, const struct vp *vp) {
  struct rounds r;
  int more;
  rounds_start(&r, coll);
  do {
    more = 0;
    for (int i = 0; i < vps.plan.nprocs; i++) {
      if (i != net_rank() && fill(&r, i)) {
        more = 1;
      }
    }
    trace_enter(vp->index, TRACE_NETWORK);
    net_exchange(r.send, r.n_send, r.receive, r.half, r.n_receive, &more);
    trace_enter(vp->index, TRACE_DELIVER);
    unpack(&r, sum(r.n_receive));
  } while (more);
  rounds_end(&r);
}
