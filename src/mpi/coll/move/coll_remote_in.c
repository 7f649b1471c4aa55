/* What comes from another process: small messages wait in memory for their
   receivers, chunks of large ones are written where these are, in memory or on
   disk, by jobs beside the thread that receives. */
#include "base/need.h"
#include "config/memory_used.h"
#include "mpi/coll/move/coll_remote_state.h"
#include "net/jobs.h"

#include "mpi/transfer/transfer.h"
#include "os/bits.h"
#include "os/native.h"

#include <string.h>

/* A chunk of large messages that comes in pieces. */
struct incoming {
  struct incoming *next;
  struct coll_remote_slot *slot;
  uint64_t number;
  uint64_t kept;
  size_t n, have;
  char bytes[];
};

/* Of n bytes at `position` of a message from `source`, those that the member
   has room for. */
static size_t wanted(const struct coll_part *p, int source, size_t position,
                     size_t n) {
  struct layout_span m;
  const size_t room =
      coll_side_span(&p->receive, source, &m) ? span_size(&m) : 0;
  return position < room ? bits_min(n, room - position) : 0;
}

static size_t in_mail(const struct coll_remote_slot *s,
                      const struct coll_part *p,
                      const struct coll_remote_mail *m) {
  const struct team *team = s->crossing->coll->team;
  size_t n = 0;
  for (; m; m = m->next) {
    n +=
        team->proc[m->source] == s->process ? wanted(p, m->source, 0, m->n) : 0;
  }
  return n;
}

size_t coll_remote_in_expected(const struct coll_remote_slot *s,
                               const struct coll_part *p) {
  const struct coll_remote *c = s->crossing;
  struct layout_span m;
  size_t n = 0;
  for (int j = 0; j < s->n; j++) {
    n += coll_side_span(&p->receive, s->peers[j], &m) ? span_size(&m) : 0;
  }
  return n - in_mail(s, p, c->mail[p->index]) - in_mail(s, p, c->to_all);
}

/* n bytes are there for the member. */
static void received_locked(struct coll_remote_slot *s, struct coll_part *p,
                            size_t n) {
  size_t *lacking = &s->lacking[p->index];
  if (n && *lacking) {
    *lacking -= n;
    if (!*lacking) {
      coll_part_settle_locked(p, 1);
    }
  }
}

/* Members to look at: from *first on, so many. */
static int receivers(const struct coll_remote_record *r,
                     const struct coll *coll, int *first) {
  const bool all = r->destination == EVERYBODY;
  *first =
      all || r->destination == NOBODY ? 0 : coll->team->index[r->destination];
  return all ? coll->team->n : r->destination != NOBODY;
}

/* The record's bytes are there for those that it is for. */
static void count_locked(struct coll_remote_slot *s,
                         const struct coll_remote_record *r) {
  const struct coll *coll = s->crossing->coll;
  int i;
  for (int n = receivers(r, coll, &i); n > 0; n--, i++) {
    struct coll_part *p = part_of(coll, i);
    if (p) {
      received_locked(s, p, wanted(p, r->source, r->position, r->n));
    }
  }
}

/* The next record, or NULL behind the last one. */
static const struct coll_remote_record *next_record(const char *bytes, size_t n,
                                                    size_t *at) {
  if (*at >= n) {
    return NULL;
  }
  const struct coll_remote_record *r =
      (const struct coll_remote_record *)(bytes + *at);
  *at += sizeof(*r) + coll_remote_body(r);
  return r;
}

struct coll_remote_mail *coll_remote_in_unpack(const char *bytes, size_t n) {
  struct coll_remote_mail *first = NULL, **last = &first;
  const struct coll_remote_record *r;
  for (size_t at = 0; (r = next_record(bytes, n, &at));) {
    struct coll_remote_mail *m =
        need_alloc(sizeof(*m) + r->n, "small messages");
    m->next = NULL;
    m->source = r->source;
    m->n = r->n;
    memcpy(m->data, r + 1, r->n);
    *last = m;
    last = &m->next;
  }
  return first;
}

void coll_remote_in_small_locked(struct coll_remote_slot *s, const char *bytes,
                                 size_t n, struct coll_remote_mail *mail) {
  struct coll_remote *c = s->crossing;
  const struct coll_remote_record *r;
  for (size_t at = 0; (r = next_record(bytes, n, &at));) {
    struct coll_remote_mail **list =
        r->destination == EVERYBODY
            ? &c->to_all
            : &c->mail[c->coll->team->index[r->destination]];
    struct coll_remote_mail *const m = mail;
    mail = m->next;
    m->next = *list;
    *list = m;
    count_locked(s, r);
  }
}

/* All that comes has come; what somebody still lacks was never sent. */
static void close_slot_locked(struct coll_remote_slot *s) {
  const struct coll *coll = s->crossing->coll;
  for (int i = 0; i < coll->team->n; i++) {
    if (s->lacking[i]) {
      s->lacking[i] = 0;
      coll_part_settle_locked(part_of(coll, i), 1);
    }
  }
  s->closed = true;
  coll_remote_check_over(s);
}

void coll_remote_in_end_locked(struct coll_remote_slot *s, uint64_t chunks) {
  s->end = true;
  s->coming = chunks;
  if (s->taken == s->coming) {
    close_slot_locked(s);
  }
}

/* --- chunks --- */

/* Whose bytes, how many of them, go to which place of the member. */
static size_t place_of(struct coll *coll, const struct coll_part *p,
                       const struct coll_remote_record *r,
                       struct layout_span *to) {
  const bool known = coll_side_span(&p->receive, r->source, to);
  const size_t room = known ? span_size(to) : 0;
  if (room < r->total && (known || r->destination != EVERYBODY)) {
    coll->error = MPI_ERR_TRUNCATE;
  }
  return wanted(p, r->source, r->position, r->n);
}

static void write_record(struct coll *coll, struct delivery *d,
                         const struct coll_remote_record *r) {
  int i;
  for (int n = receivers(r, coll, &i); n > 0; n--, i++) {
    const struct coll_part *p = part_of(coll, i);
    struct layout_span to;
    const size_t k = place_of(coll, p, r, &to);
    if (k) {
      transfer_write_start(d, p->vp->context, &to, r->position,
                           (const char *)(r + 1), k);
    }
  }
}

/* False if the offer does not hold. */
static bool take_record(struct coll *coll, int process,
                        const struct coll_remote_record *r) {
  const struct neighbour_offer *const offer =
      (const struct neighbour_offer *)(r + 1);
  bool taken = true;
  int i;
  for (int n = receivers(r, coll, &i); n > 0 && taken; n--, i++) {
    const struct coll_part *p = part_of(coll, i);
    struct layout_span to;
    const size_t k = place_of(coll, p, r, &to);
    taken = !k ||
            transfer_take(p->vp->context, &to, r->position, k, process, offer);
  }
  return taken;
}

/* Those records of a chunk that are there: the others are sent again. Returns
   how many are not. */
static size_t take_records(struct incoming *chunk, uint16_t *failed) {
  struct coll_remote_slot *s = chunk->slot;
  struct coll_remote_record *r;
  size_t failures = 0;
  uint16_t number = 0;
  for (size_t at = 0; (r = (struct coll_remote_record *)next_record(
                           chunk->bytes, chunk->n, &at));
       number++) {
    if (r->offered && !take_record(s->crossing->coll, s->process, r)) {
      failed[failures++] = number;
      r->destination = NOBODY;
    }
  }
  return failures;
}

static void write_records(struct incoming *chunk) {
  const struct coll_remote_record *r;
  struct delivery d;
  delivery_begin(&d);
  for (size_t at = 0; (r = next_record(chunk->bytes, chunk->n, &at));) {
    if (!r->offered) {
      write_record(chunk->slot->crossing->coll, &d, r);
    }
  }
  delivery_end(&d);
}

/* The receivers are there, and wait. */
static void deliver(void *arg) {
  struct incoming *chunk = arg;
  struct coll_remote_slot *s = chunk->slot;
  const int process = s->process;
  const struct coll_remote_record *r;
  uint16_t failed[COLL_REMOTE_PIECES];
  const size_t failures = take_records(chunk, failed);
  write_records(chunk);
  run_queue_lock();
  for (size_t at = 0; (r = next_record(chunk->bytes, chunk->n, &at));) {
    count_locked(s, r);
  }
  s->taken++;
  if (s->end && s->taken == s->coming) {
    close_slot_locked(s);
  }
  run_queue_unlock();
  const struct coll_remote_wire taken = {.what = CROSS_TAKEN,
                                         .kept = chunk->kept};
  memory_used_sub(MEMORY_INCOMING, chunk->n);
  native_free(chunk);
  am_send(process, AM_CROSS, 0, &taken, sizeof(taken), failed,
          failures * sizeof(*failed));
}

static struct incoming **find_chunk(struct coll_remote_slot *s,
                                    const struct coll_remote_wire *w) {
  struct incoming **link = &s->incoming;
  while (*link && (*link)->number != w->chunk) {
    link = &(*link)->next;
  }
  if (!*link) {
    struct incoming *chunk =
        need_alloc(sizeof(*chunk) + w->total, "messages between processes");
    *chunk = (struct incoming){
        .slot = s, .number = w->chunk, .kept = w->kept, .n = w->total};
    memory_used_add(MEMORY_INCOMING, w->total);
    *link = chunk;
  }
  return link;
}

void coll_remote_in_chunk(struct coll_remote_slot *s,
                          const struct coll_remote_wire *w, const char *bytes,
                          size_t n) {
  struct incoming **link = find_chunk(s, w), *chunk = *link;
  memcpy(chunk->bytes + w->position, bytes, n);
  chunk->have += n;
  if (chunk->have == chunk->n) {
    *link = chunk->next;
    net_jobs_add(deliver, chunk);
  }
}
