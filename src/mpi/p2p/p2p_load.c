#include "mpi/p2p/p2p_load.h"

#include "base/need.h"
#include "mpi/datatype/layout_kept.h"
#include "mpi/p2p/buffered.h"
#include "mpi/p2p/outgoing.h"
#include "mpi/p2p/p2p_record.h"
#include "mpi/p2p/p2p_remote.h"
#include "mpi/p2p/receive.h"
#include "mpi/p2p/unbound.h"
#include "os/bits.h"
#include "os/native.h"
#include "vp/run_queue.h"

#include <stdlib.h>

static struct comm *comm_at(const struct rank *rank,
                            struct checkpoint_reader *from, uint64_t id) {
  struct comm *const c = comm_with(rank, id);
  if (!c) {
    checkpoint_read_strange(from, "a message of a communicator that it lacks");
  }
  return c;
}

static void take_handle(struct handle *h, int number,
                        struct checkpoint_reader *from) {
  if (number && !handle_restore(h, number)) {
    checkpoint_read_strange(from, "two requests or messages with one handle");
  }
}

/* --- contents ------------------------------------------------------------- */

enum { CHUNK = 64 << 10 };

static struct letter *load_contents(struct checkpoint_reader *from, size_t n) {
  struct letter *const l = letter_begin(n);
  char *const chunk = need_alloc(bits_min(CHUNK, n + 1), "restart");
  for (size_t at = 0; at < n && !from->code; at += CHUNK) {
    const size_t part = bits_min(CHUNK, n - at);
    checkpoint_read(from, chunk, part);
    letter_write(l, at, chunk, part);
  }
  native_free(chunk);
  return l;
}

static void load_memory(const struct layout_span *s,
                        struct checkpoint_reader *from, size_t n) {
  char *const chunk = need_alloc(bits_min(CHUNK, n + 1), "restart");
  for (size_t at = 0; at < n && !from->code; at += CHUNK) {
    const size_t part = bits_min(CHUNK, n - at);
    checkpoint_read(from, chunk, part);
    if (!from->code) {
      span_unpack(s, at, chunk, part);
    }
  }
  native_free(chunk);
}

/* Its layout is held; NULL after an error. */
static struct layout_span load_span(const struct p2p_record_span *s,
                                    struct checkpoint_reader *from) {
  return (struct layout_span){(char *)s->base, s->count,
                              layout_kept_load(from)};
}

/* --- requests ------------------------------------------------------------- */

static struct request *load_send(const struct p2p_record_request *q,
                                 struct comm *comm,
                                 const struct layout_span *span,
                                 struct checkpoint_reader *from) {
  const struct outgoing o = {
      .comm = comm,
      .channel = (enum p2p_channel)q->channel,
      .mode = (enum p2p_send_mode)q->mode,
      .span = *span,
      .peer = q->peer,
      .tag = q->tag,
      .bytes = span_size(span),
  };
  struct outgoing_send *const s =
      outgoing_again(&o, (const char *)(uintptr_t)q->function);
  s->summed = q->summed;
  s->sum = q->sum;
  s->number = q->number;
  if (q->contents) {
    s->copied = true;
    s->letter = load_contents(from, q->contents);
  }
  return &s->request;
}

static void post(struct endpoint_receive *r) {
  struct comm *const comm = r->request.comm;
  run_queue_lock();
  endpoint_post_locked(endpoint_of(comm->team, comm->index), r);
  run_queue_unlock();
}

static struct request *load_receive(const struct p2p_record_request *q,
                                    struct comm *comm,
                                    const struct layout_span *span,
                                    struct checkpoint_reader *from) {
  const struct endpoint_pattern p = {(enum p2p_channel)q->channel, q->peer,
                                     q->tag};
  struct endpoint_receive *const r =
      receive_again(comm, &p, span, (const char *)(uintptr_t)q->function);
  load_memory(span, from, q->contents);
  if (q->posted) {
    post(r);
  }
  return &r->request;
}

static void set_state(struct rank *rank, struct request *r,
                      const struct p2p_record_request *q) {
  r->site = (void *)(uintptr_t)q->site;
  r->persistent = q->persistent;
  r->active = q->active;
  r->finished = q->finished;
  r->result = q->result;
  r->freed = q->freed;
  rank->unended += q->freed;
  if (q->kept) {
    request_keep(r, (q->kept - 1) % 2);
  }
  if (q->done && q->freed) {
    run_queue_lock();
    request_done_locked(r);
    run_queue_unlock();
  } else if (q->done) {
    request_done_now(r);
  }
}

/* What were a rank's requests, until all are there. */
struct known {
  size_t n;
  bool sorted;
  struct numbered {
    uint64_t number;
    struct request *request;
  } at[];
};

static int by_number(const void *a, const void *b) {
  const struct numbered *const x = a, *const y = b;
  return (x->number > y->number) - (x->number < y->number);
}

/* What comes after the first one that has parts is no part. */
static void note(struct known *known, uint64_t number, struct request *r) {
  if (!known->sorted) {
    known->at[known->n++] = (struct numbered){number, r};
  }
}

static struct request *find(struct known *known, uint64_t number,
                            struct checkpoint_reader *from) {
  if (!known->sorted) { /* all parts are there */
    qsort(known->at, known->n, sizeof(known->at[0]), by_number);
    known->sorted = true;
  }
  const struct numbered key = {number, NULL};
  const struct numbered *const found =
      bsearch(&key, known->at, known->n, sizeof(key), by_number);
  if (!found) {
    checkpoint_read_strange(from, "a request that lacks a part");
    return NULL;
  }
  return found->request;
}

/* Those that it names, at most as many as there are. */
static void find_parts(struct known *known, struct request **parts, size_t n,
                       struct checkpoint_reader *from) {
  if (n > known->n) {
    checkpoint_read_strange(from, "a request that lacks a part");
  }
  for (size_t i = 0; i < n && !from->code; i++) {
    uint64_t number;
    checkpoint_read(from, &number, sizeof(number));
    parts[i] = from->code ? NULL : find(known, number, from);
  }
}

/* By its class, which lies where it was; NULL after an error. */
static struct request *load_other(const struct p2p_record_request *q,
                                  struct comm *comm, struct known *known,
                                  struct checkpoint_reader *from) {
  const struct request_class *const class =
      (const struct request_class *)(uintptr_t)q->class;
  struct request **const parts =
      need_zalloc(known->n + 1, sizeof(*parts), "restart");
  find_parts(known, parts, q->parts, from);
  const struct request_before was = {
      class, comm, (const char *)(uintptr_t)q->function, parts, (int)q->parts};
  struct request *const r = from->code ? NULL : class->load(&was, from);
  native_free(parts);
  return r;
}

/* When its state is known: whose end is its. */
static void take_parts(struct request *r) {
  struct request *const *part;
  const int n = r->class->parts ? r->class->parts(r, &part) : 0;
  const bool under_way = r->active && !r->finished && !r->done;
  for (int i = 0; i < n; i++) {
    part[i]->whole = r;
    r->parts += under_way && !part[i]->done;
  }
}

/* NULL after an error. */
static struct request *load_message(const struct p2p_record_request *q,
                                    struct comm *comm,
                                    struct checkpoint_reader *from) {
  const struct layout_span span = load_span(&q->span, from);
  if (from->code) {
    layout_release(span.layout);
    return NULL;
  }
  return (q->kind == P2P_RECORD_SEND ? load_send : load_receive)(q, comm, &span,
                                                                 from);
}

static void load_request(struct rank *rank, struct checkpoint_reader *from,
                         struct known *known) {
  struct p2p_record_request q;
  checkpoint_read(from, &q, sizeof(q));
  const bool alone =
      (q.kind == P2P_RECORD_PAST || q.kind == P2P_RECORD_OTHER) &&
      q.comm == P2P_RECORD_NO_COMM;
  struct comm *const comm =
      alone || from->code ? NULL : comm_at(rank, from, q.comm);
  if (from->code) {
    return;
  }
  const char *const function = (const char *)(uintptr_t)q.function;
  struct request *const r =
      q.kind == P2P_RECORD_PAST    ? request_past(comm, function)
      : q.kind == P2P_RECORD_OTHER ? load_other(&q, comm, known, from)
                                   : load_message(&q, comm, from);
  if (r) {
    set_state(rank, r, &q);
    take_parts(r);
    take_handle(&r->handle, q.handle, from);
    note(known, q.number, r);
  }
}

static void load_requests(struct rank *rank, struct checkpoint_reader *from,
                          uint32_t n) {
  struct known *const known =
      need_zalloc(1, sizeof(*known) + n * sizeof(known->at[0]), "restart");
  for (uint32_t i = 0; i < n && !from->code; i++) {
    load_request(rank, from, known);
  }
  native_free(known);
}

/* --- letters -------------------------------------------------------------- */

/* NULL after an error. */
static struct letter *load_letter(struct checkpoint_reader *from,
                                  uint64_t *comm, int *handle) {
  struct p2p_record_letter record;
  checkpoint_read(from, &record, sizeof(record));
  if (from->code) {
    return NULL;
  }
  struct letter *const l = record.kept ? load_contents(from, record.bytes)
                                       : letter_new(record.bytes);
  l->source = record.source;
  l->tag = record.tag;
  l->channel = record.channel;
  l->remote = record.number;
  l->process = record.number ? LETTER_UNBOUND : 0;
  *comm = record.comm;
  *handle = record.handle;
  if (l->channel >= CHANNELS) {
    checkpoint_read_strange(from, "a message of an unknown kind");
  }
  if (from->code) {
    letter_free(l);
    return NULL;
  }
  return l;
}

static void load_letters(const struct rank *rank,
                         struct checkpoint_reader *from) {
  struct p2p_record_comm record;
  uint64_t none;
  int number;
  checkpoint_read(from, &record, sizeof(record));
  const struct comm *const comm =
      from->code ? NULL : comm_at(rank, from, record.comm);
  for (uint64_t i = 0; i < record.letters && !from->code; i++) {
    struct letter *const l = load_letter(from, &none, &number);
    if (l) {
      run_queue_lock();
      endpoint_add_locked(endpoint_of(comm->team, comm->index), l);
      run_queue_unlock();
    }
  }
}

static void load_matched(const struct rank *rank,
                         struct checkpoint_reader *from) {
  uint64_t id;
  int number;
  struct letter *const l = load_letter(from, &id, &number);
  struct comm *const comm = l ? comm_at(rank, from, id) : NULL;
  if (comm) {
    l->comm = comm;
    comm_use(comm);
    take_handle(&l->handle, number, from);
  }
}

void p2p_load(struct rank *rank, struct checkpoint_reader *from) {
  struct p2p_record_rank n;
  checkpoint_read(from, &n, sizeof(n));
  buffered_load(from, n.buffers);
  load_requests(rank, from, from->code ? 0 : n.requests);
  for (uint32_t i = 0; i < n.comms && !from->code; i++) {
    load_letters(rank, from);
  }
  for (uint32_t i = 0; i < n.matched && !from->code; i++) {
    load_matched(rank, from);
  }
}

/* --- messages and their senders ------------------------------------------- */

static void bind_here(struct outgoing_send *s, int index) {
  const struct outgoing *const o = &s->out;
  bool matched;
  run_queue_lock();
  struct letter *const l =
      unbound_find_locked(endpoint_of(o->comm->team, index), o->channel,
                          o->comm->rank, s->number, &matched);
  if (l) {
    l->send = s;
    l->remote = 0;
    l->process = 0;
    if (!matched && !s->copied) {
      s->letter = l;
    }
  }
  run_queue_unlock();
}

static void bind_sends(const struct rank *rank) {
  for (struct request *r = rank->requests; r; r = r->next) {
    struct outgoing_send *const s = outgoing_of(r);
    if (!s || !s->number || !r->active || r->done) {
      continue;
    }
    const int index = s->out.comm->team->index[s->out.peer];
    if (index >= 0) {
      bind_here(s, index);
    } else {
      p2p_remote_bind(s);
    }
    s->number = 0;
  }
}

void p2p_load_bind(void) {
  for (int i = 0; i < vps.n; i++) {
    bind_sends(vps.item[i].mpi);
  }
}

bool p2p_load_bound(void) {
  bool all = true;
  for (int i = 0; i < vps.n; i++) {
    all = all && !unbound_any(vps.item[i].mpi);
  }
  return all;
}
