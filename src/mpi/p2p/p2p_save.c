#include "mpi/p2p/p2p_save.h"

#include "base/need.h"
#include "mpi/datatype/layout_kept.h"
#include "mpi/p2p/buffered.h"
#include "mpi/p2p/early.h"
#include "mpi/p2p/matched.h"
#include "mpi/p2p/outgoing.h"
#include "mpi/p2p/p2p_record.h"
#include "mpi/p2p/receive.h"
#include "mpi/request/requests.h"
#include "mpi/transfer/transfer.h"
#include "os/bits.h"
#include "os/native.h"

#include <stdlib.h>
#include <string.h>

/* --- what stands in the way ----------------------------------------------- */

static bool is_past(const struct request *r) {
  return r->class->past && r->finished && !r->persistent;
}

/* What its class saves is the same before its start and after its end, or is
   made of messages, which may be under way. */
static bool is_other(const struct request *r) {
  const bool rests = !r->persistent || !r->active || r->finished;
  return r->class->save && (rests || r->class->parts) &&
         (!r->class->saves || r->class->saves(r));
}

/* Its class ends it, where it can be ended by nobody else. */
static void end_round(struct request *r) {
  if (r->class->save && r->persistent && r->active && request_is_done(r)) {
    request_finish(r);
  }
}

static bool can_be_saved(struct request *r) {
  return outgoing_of(r) || is_past(r) || is_other(r);
}

const char *p2p_save_stop(struct rank *rank, const char **function) {
  *function = NULL;
  for (struct request *r = rank->requests; r; r = r->next) {
    struct endpoint_receive *const receive = receive_of(r);
    end_round(r);
    if (receive) {
      receive->unsaved = !request_is_done(r);
    } else if (!can_be_saved(r)) {
      *function = r->function;
      return "a request of ";
    }
  }
  return buffered_count(rank) < 0 ? "a buffer of a session" : NULL;
}

bool p2p_save_receives(const struct rank *rank) {
  for (struct request *r = rank->requests; r; r = r->next) {
    const struct endpoint_receive *const receive = receive_of(r);
    if (receive && receive->unsaved) {
      return true;
    }
  }
  return false;
}

bool p2p_save_early(void) {
  run_queue_lock();
  const bool any = early_any();
  run_queue_unlock();
  return any;
}

/* --- letters -------------------------------------------------------------- */

static const struct endpoint *endpoint_at(const struct comm *comm) {
  return comm->team->endpoints ? comm->team->endpoints[comm->index] : NULL;
}

static uint64_t letters_of(const struct comm *comm) {
  const struct endpoint *const e = endpoint_at(comm);
  uint64_t n = 0;
  for (const struct letter *l = NULL; e && (l = endpoint_next(e, l));) {
    n++;
  }
  return n;
}

static void save_contents(const struct letter *l, struct checkpoint_writer *to,
                          size_t n) {
  enum { CHUNK = 64 << 10 };
  if (l->where == LETTER_HERE) {
    checkpoint_write(to, l->here, n);
    return;
  }
  char *const chunk = need_alloc(bits_min(CHUNK, n), "checkpoint");
  for (size_t at = 0; at < n && !to->code; at += CHUNK) {
    const size_t part = bits_min(CHUNK, n - at);
    letter_read(l, at, chunk, part);
    checkpoint_write(to, chunk, part);
  }
  native_free(chunk);
}

static void save_letter(const struct letter *l, struct checkpoint_writer *to) {
  const struct p2p_record_letter record = {
      .comm = l->comm ? l->comm->team->id : 0,
      .number = l->send ? (uintptr_t)l->send : l->remote,
      .bytes = l->bytes,
      .handle = l->handle.fortran,
      .source = l->source,
      .tag = l->tag,
      .channel = l->channel,
      .kept = l->kept,
  };
  checkpoint_write(to, &record, sizeof(record));
  if (l->kept) {
    save_contents(l, to, l->bytes);
  }
}

static void save_letters(const struct comm *comm,
                         struct checkpoint_writer *to) {
  const struct p2p_record_comm record = {comm->team->id, letters_of(comm)};
  if (!record.letters) {
    return;
  }
  checkpoint_write(to, &record, sizeof(record));
  for (const struct letter *l = NULL;
       (l = endpoint_next(endpoint_at(comm), l));) {
    save_letter(l, to);
  }
}

/* --- requests ------------------------------------------------------------- */

static void save_span(const struct layout_span *s, struct p2p_record_span *to) {
  *to = (struct p2p_record_span){(uintptr_t)s->base, s->count};
}

static struct p2p_record_request record_of(const struct request *r) {
  struct p2p_record_request record;
  memset(&record, 0, sizeof(record)); /* the holes, too */
  record.number = (uintptr_t)r;
  record.comm = r->comm ? r->comm->team->id : P2P_RECORD_NO_COMM;
  record.function = (uintptr_t)r->function;
  record.site = (uintptr_t)r->site;
  record.handle = r->handle.fortran;
  record.persistent = r->persistent;
  record.active = r->active;
  record.finished = r->finished;
  record.done = r->done;
  record.freed = r->freed;
  record.kept = r == r->vp->mpi->kept[0] ? 1 : r == r->vp->mpi->kept[1] ? 2 : 0;
  record.result = r->result;
  return record;
}

static void save_send(const struct outgoing_send *s,
                      struct checkpoint_writer *to) {
  const struct outgoing *const o = &s->out;
  const struct letter *const copy = s->copied ? s->letter : NULL;
  struct p2p_record_request record = record_of(&s->request);
  record.kind = P2P_RECORD_SEND;
  record.channel = o->channel;
  record.mode = o->mode;
  record.peer = o->peer;
  record.tag = o->tag;
  record.summed = s->summed;
  record.sum = s->sum;
  record.contents = copy ? copy->bytes : 0;
  save_span(&o->span, &record.span);
  checkpoint_write(to, &record, sizeof(record));
  layout_kept_save(o->span.layout, to);
  if (copy) {
    save_contents(copy, to, copy->bytes);
  }
}

/* What others have written to the rank's memory since that was saved. */
static void save_memory(const struct endpoint_receive *r,
                        struct checkpoint_writer *to, size_t n) {
  enum { CHUNK = 1 << 20 };
  char *const chunk = need_alloc(bits_min(CHUNK, n), "checkpoint");
  for (size_t at = 0; at < n && !to->code; at += CHUNK) {
    const size_t part = bits_min(CHUNK, n - at);
    transfer_read(r->request.vp->context, &r->span, at, chunk, part);
    checkpoint_write(to, chunk, part);
  }
  native_free(chunk);
}

/* Of one that is done and was not finished. */
static void save_received(const struct endpoint_receive *r,
                          struct checkpoint_writer *to, size_t n) {
  if (r->letter) {
    save_contents(r->letter, to, n);
  } else if (r->has_tiny) {
    checkpoint_write(to, r->tiny, n);
  } else if (n) {
    save_memory(r, to, n);
  }
}

static void save_receive(const struct endpoint_receive *r,
                         struct checkpoint_writer *to) {
  const struct request *const q = &r->request;
  struct p2p_record_request record = record_of(q);
  const bool beside = q->active && q->done && !q->finished &&
                      (r->letter || r->has_tiny || r->unsaved);
  record.kind = P2P_RECORD_RECEIVE;
  record.channel = r->pattern.channel;
  record.peer = r->pattern.source;
  record.tag = r->pattern.tag;
  record.posted = r->endpoint != NULL;
  record.contents = beside ? (uint64_t)q->result.bytes : 0;
  save_span(&r->span, &record.span);
  checkpoint_write(to, &record, sizeof(record));
  layout_kept_save(r->span.layout, to);
  save_received(r, to, record.contents);
}

static void save_past(const struct request *r, struct checkpoint_writer *to) {
  struct p2p_record_request record = record_of(r);
  record.kind = P2P_RECORD_PAST;
  checkpoint_write(to, &record, sizeof(record));
}

static void save_other(const struct request *r, struct checkpoint_writer *to) {
  struct request *const *part;
  const int n = r->class->parts ? r->class->parts(r, &part) : 0;
  struct p2p_record_request record = record_of(r);
  record.kind = P2P_RECORD_OTHER;
  record.class = (uintptr_t)r->class;
  record.parts = (uint32_t)n;
  checkpoint_write(to, &record, sizeof(record));
  for (int i = 0; i < n; i++) {
    const uint64_t number = (uintptr_t)part[i];
    checkpoint_write(to, &number, sizeof(number));
  }
  r->class->save(r, to);
}

static void save_request(struct request *r, struct checkpoint_writer *to) {
  if (outgoing_of(r)) {
    save_send(outgoing_of(r), to);
  } else if (receive_of(r)) {
    save_receive(receive_of(r), to);
  } else if (is_past(r)) {
    save_past(r, to);
  } else {
    save_other(r, to);
  }
}

/* Where a request comes among others. */
struct place {
  int group;
  uint64_t order;
  struct request *request;
};

static struct place place_of(struct request *r, uint64_t order) {
  const struct endpoint_receive *const receive = receive_of(r);
  const bool posted = receive && receive->endpoint;
  return (struct place){receive || outgoing_of(r) ? posted : 2,
                        posted ? receive->number : order, r};
}

static int compare(const void *a, const void *b) {
  const struct place *const x = a, *const y = b;
  return x->group != y->group ? x->group - y->group
                              : (x->order > y->order) - (x->order < y->order);
}

static void save_requests(const struct rank *rank,
                          struct checkpoint_writer *to) {
  const size_t all = (size_t)rank->n_requests;
  struct place *const at = need_alloc((all + 1) * sizeof(*at), "checkpoint");
  size_t n = 0;
  for (struct request *r = rank->requests; r; r = r->next) {
    at[n] = place_of(r, all - n); /* the newest comes first */
    n++;
  }
  qsort(at, n, sizeof(*at), compare);
  for (size_t i = 0; i < n; i++) {
    save_request(at[i].request, to);
  }
  native_free(at);
}

/* --- all of it ------------------------------------------------------------ */

static struct p2p_record_rank count(const struct rank *rank) {
  struct p2p_record_rank n = {.buffers = (uint32_t)buffered_count(rank),
                              .requests = (uint32_t)rank->n_requests};
  for (const struct comm *c = rank->comms; c; c = c->next) {
    n.comms += letters_of(c) > 0;
  }
  for (const struct letter *l = NULL; (l = matched_next(rank, l));) {
    n.matched++;
  }
  return n;
}

bool p2p_save_any(const struct rank *rank) {
  const struct p2p_record_rank n = count(rank);
  return n.buffers || n.requests || n.comms || n.matched;
}

void p2p_save(struct rank *rank, struct checkpoint_writer *to) {
  const struct p2p_record_rank n = count(rank);
  checkpoint_write(to, &n, sizeof(n));
  buffered_save(rank, to);
  save_requests(rank, to);
  for (const struct comm *c = rank->comms; c; c = c->next) {
    save_letters(c, to);
  }
  for (const struct letter *l = NULL; (l = matched_next(rank, l));) {
    save_letter(l, to);
  }
}
