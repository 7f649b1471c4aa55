/* What goes to another process. Jobs read large messages from the contexts,
   wherever these are, into chunks as large as the network's share of sigma
   allows, and wait when the other process has not taken earlier ones. */
#include "base/need.h"
#include "config/memory_used.h"
#include "mpi/coll/move/coll_remote_state.h"
#include "net/jobs.h"

#include "base/counters.h"
#include "mpi/transfer/transfer.h"
#include "mpi_below/net.h"
#include "os/lock.h"
#include "os/native.h"
#include "report/trace.h"

#include <pthread.h>
#include <string.h>

enum {
  OPEN_BYTES = 64 << 10, /* of small messages: others may not be ready */
};

/* Chunks under way to each process: the other process may have taken one before
   its memory here is free. */
static struct {
  struct lock lock;
  pthread_cond_t room;
  int *flying; /* not taken there yet */
  int *held;   /* in memory here */
} window = {.lock = LOCK_INITIALIZER(LOCK_COLL_WINDOW),
            .room = PTHREAD_COND_INITIALIZER};

void coll_remote_out_start(void) {
  window.flying = need_zalloc(net_size(), sizeof(int), "network");
  window.held = need_zalloc(net_size(), sizeof(int), "network");
}

static void window_enter(int process) {
  lock_take(&window.lock);
  while (window.flying[process] == MEMORY_CHUNKS ||
         window.held[process] == MEMORY_CHUNKS) {
    lock_wait(&window.room, &window.lock);
  }
  window.flying[process]++;
  window.held[process]++;
  lock_give(&window.lock);
}

static void one_less(int *chunks) {
  lock_take(&window.lock);
  --*chunks;
  pthread_cond_broadcast(&window.room);
  lock_give(&window.lock);
}

/* Where nothing was sent that the other process could take. */
static void window_leave(int process) {
  one_less(&window.flying[process]);
  one_less(&window.held[process]);
}

static size_t chunk_size(void) {
  return memory_plan_chunk(&vps.plan.memory);
}

static void send_wire(const struct coll_remote_slot *s,
                      const struct coll_remote_wire *w, const char *bytes,
                      size_t n) {
  am_send(s->process, AM_CROSS, coll_remote_key(w->team, w->number), w,
          sizeof(*w), bytes, n);
}

/* --- what is due --- */

static uint32_t later(uint32_t a, uint32_t b) {
  return a > b ? a : b;
}

/* The first member there to which p's one message to all goes. */
static bool everybodys_message(const struct coll_remote_slot *s,
                               const struct coll_part *p,
                               struct layout_span *m) {
  for (int j = 0; j < s->n; j++) {
    if (coll_remote_is_large(p, s->peers[j], m)) {
      return true;
    }
  }
  return false;
}

/* Is the message from i to peers[j], at which `due` stands, due by its event?
 */
static bool is_due(const struct coll_remote_slot *s, struct coll_part **p,
                   struct layout_span *m) {
  const struct coll_remote_due *d = &s->due;
  *p = part_of(s->crossing->coll, d->i);
  if (!s->sent[d->i]) {
    return false;
  }
  if (coll_remote_to_everybody(*p)) {
    return d->j == 0 && s->opened &&
           later(s->sent[d->i], s->opened) == d->time &&
           everybodys_message(s, *p, m);
  }
  return s->ready[d->j] && later(s->sent[d->i], s->ready[d->j]) == d->time &&
         coll_remote_is_large(*p, s->peers[d->j], m);
}

static int first_i(const struct coll_remote_event *e) {
  return e->sender ? e->who : 0;
}

static int first_j(const struct coll_remote_event *e) {
  return e->sender || e->who == ALL_OTHERS ? 0 : e->who;
}

static void due_begin(struct coll_remote_slot *s, uint32_t time) {
  s->due = (struct coll_remote_due){.time = time};
  if (time <= s->clock) {
    s->due.i = first_i(&s->event[time - 1]);
    s->due.j = first_j(&s->event[time - 1]);
  }
}

static void due_step(struct coll_remote_slot *s) {
  const struct coll_remote_event *e = &s->event[s->due.time - 1];
  const int end_i = e->sender ? e->who + 1 : s->crossing->coll->team->n;
  const int end_j = e->sender || e->who == ALL_OTHERS ? s->n : e->who + 1;
  s->due.position = 0;
  if (++s->due.j < end_j) {
    return;
  }
  s->due.j = first_j(e);
  if (++s->due.i == end_i) {
    due_begin(s, s->due.time + 1);
  }
}

/* The next message, or rest of one, that is due; false if there is none. */
static bool next_due(struct coll_remote_slot *s, struct coll_part **p,
                     struct layout_span *m) {
  while (s->pending && s->due.time <= s->clock) {
    if (is_due(s, p, m)) {
      return true;
    }
    due_step(s);
  }
  return false;
}

static void note_event(struct coll_remote_slot *s, bool sender, int who) {
  s->event[s->clock++] = (struct coll_remote_event){sender, who};
  if (s->due.time == s->clock) {
    due_begin(s, s->clock);
  }
}

/* --- small messages --- */

/* The small message from member i to peers[j]; both move on to it. */
static bool next_small(const struct coll_remote_slot *s, int *i, int *j,
                       struct coll_remote_record *r) {
  const struct coll *coll = s->crossing->coll;
  for (; s->crossing->moves && *i < coll->team->n; ++*i, *j = 0) {
    const struct coll_part *p = part_of(coll, *i);
    for (struct layout_span m; *j < s->n; ++*j) {
      if (coll_side_span(&p->send, s->peers[*j], &m) &&
          !coll_remote_is_large(p, s->peers[*j], &m)) {
        *r = (struct coll_remote_record){
            .source = p->peer,
            .destination =
                coll_remote_to_everybody(p) ? EVERYBODY : s->peers[*j],
            .n = span_size(&m),
            .total = span_size(&m)};
        return true;
      }
    }
  }
  return false;
}

/* Packs small messages into `room` bytes; returns how many bytes that took.
 *more: some are left. */
static size_t pack_small(struct coll_remote_slot *s, char *out, size_t room,
                         bool *more) {
  struct coll_remote_record r;
  size_t used = 0;
  while ((*more = next_small(s, &s->small_i, &s->small_j, &r)) &&
         used + sizeof(r) + coll_remote_padded(r.n) <= room) {
    const struct coll_part *p = part_of(s->crossing->coll, s->small_i);
    memcpy(out + used, &r, sizeof(r));
    memcpy(out + used + sizeof(r), coll_part_staged(p, s->peers[s->small_j]),
           r.n);
    trace_add(p->vp->index, TRACE_SENT, r.n);
    used += sizeof(r) + coll_remote_padded(r.n);
    s->small_j = r.destination == EVERYBODY ? s->n : s->small_j + 1;
  }
  return used;
}

static void send_small(struct coll_remote_slot *s) {
  enum { ROOM = AM_LARGEST - sizeof(struct coll_remote_wire) };
  const struct coll_remote_wire w =
      coll_remote_wire(s->crossing->coll, CROSS_SMALL);
  char *out = need_alloc(ROOM, "small messages");
  for (bool more = true; more;) {
    const size_t n = pack_small(s, out, ROOM, &more);
    send_wire(s, &w, out, n);
    am_wait_room(s->process);
  }
  native_free(out);
}

/* --- chunks --- */

struct piece {
  struct coll_part *part;
  struct layout_span message;
  struct coll_remote_record record;
  struct neighbour_offer offer;
};

struct chunk {
  struct coll_remote_slot *slot; /* of one that is kept */
  bool again;                    /* its offers did not hold: there are none */
  size_t bytes;                  /* with records */
  uint64_t number;
  int n;
  struct piece piece[COLL_REMOTE_PIECES];
};

/* Takes what is due, as much as fits; false if there is nothing. */
static bool claim(struct coll_remote_slot *s, struct chunk *c) {
  const size_t room = chunk_size();
  const int alpha = vps.plan.alpha;
  const int most =
      alpha && alpha < COLL_REMOTE_PIECES ? alpha : COLL_REMOTE_PIECES;
  struct piece *q = c->piece;
  c->n = 0;
  c->bytes = 0;
  c->again = false;
  while (c->n < most && c->bytes + sizeof(q->record) + 8 <= room &&
         next_due(s, &q->part, &q->message)) {
    const size_t total = span_size(&q->message);
    const size_t left = total - s->due.position;
    const size_t space = (room - c->bytes - sizeof(q->record)) & ~(size_t)7;
    q->record = (struct coll_remote_record){
        .source = q->part->peer,
        .destination =
            coll_remote_to_everybody(q->part) ? EVERYBODY : s->peers[s->due.j],
        .position = s->due.position,
        .n = left < space ? left : space,
        .total = total};
    c->bytes += sizeof(q->record) + coll_remote_padded(q->record.n);
    s->due.position += q->record.n;
    if (s->due.position == total) {
      due_step(s);
    }
    c->n++;
    q++;
  }
  c->number = s->chunks;
  s->chunks += c->n > 0;
  return c->n > 0;
}

/* Where the message is: a peer that it goes to. */
static int a_peer(const struct coll_remote_slot *s, const struct piece *q) {
  struct layout_span m;
  int j = 0;
  if (q->record.destination != EVERYBODY) {
    return q->record.destination;
  }
  while (!coll_side_span(&q->part->send, s->peers[j], &m)) {
    j++;
  }
  return s->peers[j];
}

static const char *staged(const struct coll_remote_slot *s,
                          const struct piece *q) {
  return coll_part_staged(q->part, a_peer(s, q));
}

/* May the other process read the piece where it is? Its sender waits until it
   has; what comes for that must not go there meanwhile. */
static bool may_offer(const struct coll_remote_slot *s, const struct piece *q,
                      struct neighbour_offer *offer) {
  struct context *const c = q->part->vp->context;
  const char *const at = q->message.base + q->record.position;
  if (q->record.n < NEIGHBOUR_LEAST || !q->message.layout->dense ||
      q->part->send.in_place || staged(s, q)) {
    return false;
  }
  *offer = neighbour_offer(at, &c->departures);
  return context_in_memory(c, at);
}

/* Decides which pieces are offered, and how many bytes the chunk takes. */
static bool make_offers(const struct coll_remote_slot *s, struct chunk *c) {
  bool any = false;
  c->bytes = 0;
  for (struct piece *q = c->piece; q < c->piece + c->n; q++) {
    q->record.offered =
        neighbour(s->process) && !c->again && may_offer(s, q, &q->offer);
    any = any || q->record.offered;
    c->bytes += sizeof(q->record) + coll_remote_body(&q->record);
  }
  return any;
}

static void read_piece(const struct coll_remote_slot *s, const struct piece *q,
                       struct delivery *d, char *to) {
  const char *const ready = staged(s, q);
  if (q->record.offered) {
    memcpy(to, &q->offer, sizeof(q->offer));
  } else if (ready) {
    memcpy(to, ready + q->record.position, q->record.n);
  } else {
    transfer_read_start(d, q->part->vp->context, &q->message,
                        q->record.position, to, q->record.n);
  }
}

static char *read_chunk(const struct coll_remote_slot *s,
                        const struct chunk *c) {
  char *bytes = need_alloc(c->bytes, "messages between processes"), *at = bytes;
  struct delivery d;
  delivery_begin(&d);
  for (const struct piece *q = c->piece; q < c->piece + c->n; q++) {
    memcpy(at, &q->record, sizeof(q->record));
    at += sizeof(q->record);
    read_piece(s, q, &d, at);
    trace_add(q->part->vp->index, TRACE_SENT, q->record.n);
    at += coll_remote_body(&q->record);
  }
  delivery_end(&d);
  return bytes;
}

/* The sender's memory is its own again. */
static void settle_sender_locked(struct coll_remote_slot *s,
                                 const struct piece *q) {
  size_t *unsent = &s->unsent[q->part->index];
  *unsent -= q->record.n;
  s->pending -= q->record.n;
  if (!*unsent) {
    coll_part_settle_locked(q->part, 1);
  }
}

/* Those of pieces that are copied. */
static void settle_senders(struct coll_remote_slot *s, const struct chunk *c) {
  run_queue_lock();
  for (const struct piece *q = c->piece; q < c->piece + c->n; q++) {
    if (!q->record.offered) {
      settle_sender_locked(s, q);
    }
  }
  run_queue_unlock();
}

/* Until the offers have been taken. */
static struct chunk *keep(const struct coll_remote_slot *s,
                          const struct chunk *c) {
  const size_t n = sizeof(*c) - sizeof(c->piece) + c->n * sizeof(*c->piece);
  struct chunk *const kept = need_alloc(n, "messages between processes");
  memcpy(kept, c, n);
  kept->slot = (struct coll_remote_slot *)s;
  return kept;
}

static void send_pieces(const struct coll_remote_slot *s,
                        struct coll_remote_wire *w, const char *bytes) {
  enum { ROOM = AM_LARGEST - sizeof(*w) };
  for (; w->position < w->total; w->position += ROOM) {
    const size_t left = w->total - w->position;
    send_wire(s, w, bytes + w->position, left < ROOM ? left : ROOM);
    am_wait_room(s->process);
  }
}

static void send_chunk(struct coll_remote_slot *s, struct chunk *c) {
  const int process = s->process;
  struct coll_remote_wire w = coll_remote_wire(s->crossing->coll, CROSS_CHUNK);
  const bool offers = make_offers(s, c);
  char *bytes = read_chunk(s, c);
  memory_used_add(MEMORY_OUTGOING, c->bytes);
  w.chunk = c->number;
  w.total = c->bytes;
  w.kept = offers ? (uintptr_t)keep(s, c) : 0;
  send_pieces(s, &w, bytes);
  native_free(bytes);
  memory_used_sub(MEMORY_OUTGOING, c->bytes);
  one_less(&window.held[process]);
  counter_add(net_rounds, 1);
  settle_senders(s, c);
}

/* --- jobs --- */

static bool small_is_due(const struct coll_remote_slot *s) {
  return s->small && s->told && s->opened;
}

/* Is everything on its way? */
static bool all_sent(const struct coll_remote_slot *s) {
  return s->told && !s->ended && !s->pending && !s->small && !s->jobs;
}

static void end_if_all_sent_locked(struct coll_remote_slot *s) {
  if (all_sent(s)) {
    struct coll_remote_wire w = coll_remote_wire(s->crossing->coll, CROSS_END);
    w.end = true;
    w.chunk = s->chunks;
    s->ended = true;
    am_post_locked(s->process, AM_CROSS, coll_remote_key(w.team, w.number), &w,
                   sizeof(w), NULL, 0);
    coll_remote_check_over(s);
  }
}

/* A job finds nothing more to do. What is due later starts another one. */
static void job_end_locked(struct coll_remote_slot *s) {
  s->jobs--;
  end_if_all_sent_locked(s);
}

/* The slot may be gone when it ends. */
static void run(void *arg) {
  struct coll_remote_slot *s = arg;
  const int process = s->process;
  struct chunk *c = need_alloc(sizeof(*c), "messages between processes");
  for (;;) {
    window_enter(process);
    run_queue_lock();
    const bool small = small_is_due(s);
    s->small = s->small && !small;
    const bool some = small || claim(s, c);
    if (!some) {
      job_end_locked(s);
    }
    run_queue_unlock();
    if (!some) {
      break;
    }
    if (small) {
      send_small(s);
      window_leave(process);
    } else {
      send_chunk(s, c);
    }
  }
  window_leave(process);
  native_free(c);
}

/* What was offered and is not there any more; then what has become due: no
   other job was started for that. The slot may be gone when it ends. */
static void send_again(void *arg) {
  struct chunk *const c = arg;
  struct coll_remote_slot *const s = c->slot;
  window_enter(s->process);
  send_chunk(s, c);
  native_free(c);
  run(s);
}

/* Settles the senders of pieces that were taken, and leaves the others. */
static void sort_out_locked(struct chunk *c, const uint16_t *failed, size_t n) {
  int left = 0;
  size_t next = 0;
  for (int i = 0; i < c->n; i++) {
    const bool again = next < n && failed[next] == i;
    if (again) {
      next++;
      c->piece[left++] = c->piece[i];
    } else if (c->piece[i].record.offered) {
      settle_sender_locked(c->slot, &c->piece[i]);
    }
  }
  c->n = left;
}

void coll_remote_out_taken(int process, uint64_t kept, const uint16_t *failed,
                           size_t n) {
  struct chunk *const c = (struct chunk *)(uintptr_t)kept;
  one_less(&window.flying[process]);
  if (!c) {
    return;
  }
  run_queue_lock();
  sort_out_locked(c, failed, n);
  if (c->n) {
    c->again = true;
    c->number = c->slot->chunks++;
    c->slot->jobs++;
    net_jobs_add(send_again, c);
  } else {
    end_if_all_sent_locked(c->slot);
  }
  run_queue_unlock();
  if (!n) {
    native_free(c);
  }
}

/* One reads while another sends. */
static void start_jobs(struct coll_remote_slot *s) {
  struct coll_part *p;
  struct layout_span m;
  if (!small_is_due(s) && !next_due(s, &p, &m)) {
    return;
  }
  const int most = s->pending > chunk_size() ? 2 : 1;
  while (s->jobs < most) {
    s->jobs++;
    net_jobs_add(run, s);
  }
}

/* --- events --- */

void coll_remote_out_sender(struct coll_remote_slot *s,
                            const struct coll_part *p) {
  const bool everybody = coll_remote_to_everybody(p);
  size_t n = 0;
  struct layout_span m;
  if (everybody && everybodys_message(s, p, &m)) {
    n = span_size(&m);
  }
  for (int j = 0; j < s->n && !everybody; j++) {
    n += coll_remote_is_large(p, s->peers[j], &m) ? span_size(&m) : 0;
  }
  if (n) {
    s->unsent[p->index] = n;
    s->pending += n;
    s->sent[p->index] = s->clock + 1;
    note_event(s, true, p->index);
    start_jobs(s);
  }
}

void coll_remote_out_ready(struct coll_remote_slot *s, int peer) {
  const uint32_t now = s->clock + 1;
  int who = ALL_OTHERS;
  if (peer == ALL_OTHERS) {
    s->opened = now;
  }
  for (int j = 0; j < s->n; j++) {
    if (peer == s->peers[j]) {
      who = j;
    }
    if ((peer == s->peers[j] || peer == ALL_OTHERS) && !s->ready[j]) {
      s->ready[j] = now;
    }
  }
  note_event(s, false, who);
  start_jobs(s);
}

void coll_remote_out_open(struct coll_remote_slot *s) {
  char out[OPEN_BYTES];
  struct coll_remote_wire w = coll_remote_wire(s->crossing->coll, CROSS_OPEN);
  bool more;
  const size_t n = pack_small(s, out, sizeof(out), &more);
  run_queue_lock();
  s->small = more;
  s->told = true;
  w.end = s->ended = all_sent(s);
  w.chunk = s->chunks;
  am_post_locked(s->process, AM_CROSS, coll_remote_key(w.team, w.number), &w,
                 sizeof(w), out, n);
  if (s->ended) {
    coll_remote_check_over(s);
  } else {
    start_jobs(s);
  }
  run_queue_unlock();
}
