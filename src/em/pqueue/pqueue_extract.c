/* Taking records out of a priority queue by parallel merging (Bingmann, Keh and
   Sanders 2015, section 3): of internal arrays, loaded blocks of external ones
   and the extract buffer, as far as nothing else can be before. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "em/pqueue/pqueue.h"
#include "em/sort/parallel_merge.h"

/* Less than this, in bytes per thread, is merged only if there is no more. */
#define LEAST_BATCH ((size_t)64 << 10)
/* Fewer records than this share of the extract buffer come out of it. */
enum { FEW_SHARE = 4 };

/* Up to where records may be taken, and why not further. */
struct bound {
  const char *record; /* in stored form, or NULL: there is no bound */
  int equal;          /* equal ones, too */
  enum { BY_NONE, BY_LIMIT, BY_AREA, BY_PENDING, BY_BUFFER, BY_EXTERNAL } by;
};

static void tighten(const struct pems_pqueue *q, struct bound *b,
                    const char *record, int equal, int by) {
  if (!record) {
    return;
  }
  if (b->record) {
    const int c = q->s.kernel->compare(&q->s.o.record, record, b->record);
    if (c > 0 || (c == 0 && (equal || !b->equal))) {
      return;
    }
  }
  b->record = record;
  b->equal = equal;
  b->by = by;
}

/* All that the extract buffer holds is before what is on disk. */
static struct bound find_bound(struct pems_pqueue *q, const char *limit,
                               bool with_area) {
  struct bound b = {NULL, 0, BY_NONE};
  tighten(q, &b, limit, 0, BY_LIMIT);
  if (with_area) {
    tighten(q, &b, pqueue_buffer_least(q), 1, BY_AREA);
  }
  if (q->buffer.n) {
    tighten(q, &b, q->buffer.at + (q->buffer.n - 1) * pq_size(q), 1, BY_BUFFER);
    return b;
  }
  if (q->pending.range) {
    tighten(q, &b, q->pending.run.least, 1, BY_PENDING);
  }
  tighten(q, &b, disk_arrays_limit(q->external), 1, BY_EXTERNAL);
  return b;
}

/* --- pieces --- */

/* How many of n sorted records are within the bound. */
static size_t within(const struct pems_pqueue *q, const struct bound *b,
                     const char *at, size_t n) {
  if (!b->record) {
    return n;
  }
  return q->s.kernel->rank(&q->s.o.record, at, n, b->record, b->equal);
}

/* What may be merged now. */
struct list {
  int pieces, external; /* the first that is */
  size_t records;
};

static void add_piece(struct pems_pqueue *q, struct list *l, const char *at,
                      size_t n, int slot) {
  if (n == 0) {
    return;
  }
  q->piece[l->pieces] = (struct kernel_piece){at, n};
  q->piece_slot[l->pieces++] = slot;
  l->records += n;
}

/* No more than the first `most` records of each array: no others can be among
   the first `most` of all. */
static struct list list_pieces(struct pems_pqueue *q, const struct bound *b,
                               size_t most) {
  const struct memory_arrays *const all = &q->arrays;
  const int first = memory_arrays_first(all);
  struct list l = {0, 0, 0};
  if (q->buffer.n) {
    add_piece(q, &l, q->buffer.at, within(q, b, q->buffer.at, q->buffer.n), -1);
  }
  if (first >= 0 && within(q, b, all->array[first].at, 1)) {
    for (int i = 0; i < all->end; i++) {
      const struct memory_array *const a = &all->array[i];
      if (a->n) {
        add_piece(q, &l, a->at, within(q, b, a->at, a->n < most ? a->n : most),
                  i);
      }
    }
  }
  l.external = l.pieces;
  if (!q->buffer.n) {
    size_t records;
    l.pieces += disk_arrays_pieces(q->external, b->record, b->equal, most,
                                   q->piece + l.pieces, &records);
    l.records += records;
  }
  return l;
}

/* Merges the first n records of a list to `out`, where `last` in the user's
   form. */
static void take(struct pems_pqueue *q, const struct list *l, size_t n,
                 char *out, bool last) {
  pqueue_merge_pieces(q, l->pieces, l->records, n, out, last);
  for (int i = 0; i < l->external; i++) {
    const size_t gone = q->piece_end[i];
    if (q->piece_slot[i] >= 0) {
      if (gone) {
        memory_arrays_gone(&q->arrays, q->piece_slot[i], gone);
      }
    } else {
      q->buffer.at += gone * pq_size(q);
      q->buffer.n -= gone;
    }
  }
  if (l->pieces > l->external) {
    disk_arrays_advance(q->external, q->piece_end + l->external);
  }
}

/* --- what stands in the way --- */

/* What find does and does not. */
enum {
  WITH_AREA = 1, /* the area's records come, too */
  GENTLY = 2,    /* nothing in memory is moved to make room */
};

/* ENOBUFS where it may not make room. */
static int load(struct pems_pqueue *q, size_t wanted, size_t least, int how,
                struct pems_error *error) {
  int failed;
  while ((failed = disk_arrays_load(q->external, wanted, least, error)) ==
             ENOBUFS &&
         !(how & GENTLY)) {
    failed = pqueue_make_room(q, q->s.plan.block, error);
    if (failed) {
      break;
    }
  }
  return failed;
}

/* Removes what the bound is due to, if that may give more. Sets *stuck if it
   cannot be removed. */
static int widen(struct pems_pqueue *q, const struct bound *b, size_t wanted,
                 size_t there, int how, bool *stuck, struct pems_error *error) {
  const size_t batch = LEAST_BATCH * (size_t)q->o.threads / pq_size(q) + 1;
  const size_t least = batch < wanted ? batch : wanted;
  int failed = 0;
  if (b->by == BY_EXTERNAL && there < least) {
    failed = load(q, wanted, least, how, error);
  } else if (b->by == BY_AREA) {
    failed = pqueue_push_sort(q, error);
  } else if (b->by == BY_PENDING && !(how & GENTLY)) {
    failed = pqueue_flush_finish(q, error);
  } else {
    *stuck = true;
  }
  if (failed != ENOBUFS) {
    return failed;
  }
  *stuck = true;
  return 0;
}

/* A list of up to `wanted` records, none only if there are none, or none that
   can be had gently. */
static int find(struct pems_pqueue *q, size_t wanted, const char *limit,
                int how, struct list *l, struct pems_error *error) {
  bool loaded = false;
  int failed = 0;
  *l = (struct list){0, 0, 0};
  if (!q->buffer.n) {
    failed = load(q, wanted, 0, how, error);
  }
  if (failed == ENOBUFS) {
    return 0;
  }
  while (!failed) {
    pqueue_buffer_close(q);
    const struct bound b = find_bound(q, limit, how & WITH_AREA);
    bool stuck = false;
    *l = list_pieces(q, &b, wanted);
    if (l->records >= wanted || (loaded && l->records && b.by == BY_EXTERNAL)) {
      break;
    }
    loaded = b.by == BY_EXTERNAL;
    failed = widen(q, &b, wanted, l->records, how, &stuck, error);
    if (stuck) {
      break;
    }
  }
  return failed;
}

/* --- the extract buffer --- */

static int take_buffer(struct pems_pqueue *q, struct pems_error *error) {
  struct pqueue_buffer *const b = &q->buffer;
  const size_t bytes = arena_rounded(&q->arena, q->plan.extract_buffer);
  while (!b->range) {
    b->bytes = bytes;
    b->range = arena_get(&q->arena, bytes);
    const int failed = b->range ? 0 : pqueue_make_room(q, bytes, error);
    if (failed) {
      return failed;
    }
  }
  return 0;
}

int pqueue_extract_refill(struct pems_pqueue *q, struct pems_error *error) {
  struct pqueue_buffer *const b = &q->buffer;
  const size_t room = q->plan.extract_buffer / pq_size(q);
  size_t filled = 0;
  int failed = take_buffer(q, error);
  /* While it is filled it must not be given away. */
  char *const range = b->range;
  const size_t bytes = b->bytes;
  *b = (struct pqueue_buffer){0};
  while (!failed && filled < room) {
    struct list l;
    /* Records that are moved to make room could be before those in the buffer
       already. */
    failed = find(q, room - filled, NULL, filled ? GENTLY : 0, &l, error);
    if (failed || l.records == 0) {
      break;
    }
    const size_t n = l.records < room - filled ? l.records : room - filled;
    take(q, &l, n, range + filled * pq_size(q), false);
    filled += n;
  }
  *b = (struct pqueue_buffer){range, bytes, range, filled, 0};
  q->counts.refills++;
  disk_arrays_hint(q->external);
  return failed;
}

/* --- in bulk --- */

size_t pqueue_extract_few(const struct pems_pqueue *q) {
  return q->plan.extract_buffer / pq_size(q) / FEW_SHARE;
}

int pqueue_extract(struct pems_pqueue *q, void *out, size_t max,
                   size_t expected, const char *limit, size_t *n,
                   struct pems_error *error) {
  char *to = out;
  int failed = 0;
  *n = 0;
  q->top = PQ_UNKNOWN;
  while (*n < max && !failed) {
    const size_t wanted = max - *n;
    struct list l;
    if (!q->buffer.n &&
        (wanted < expected ? wanted : expected) <= pqueue_extract_few(q)) {
      failed = pqueue_extract_refill(q, error);
      if (failed) {
        break;
      }
    }
    failed = find(q, wanted, limit, WITH_AREA, &l, error);
    if (failed || l.records == 0) {
      break;
    }
    const size_t some = l.records < wanted ? l.records : wanted;
    take(q, &l, some, to, true);
    to += some * pq_size(q);
    *n += some;
  }
  if (!q->buffer.n && !failed) {
    disk_arrays_hint(q->external);
  }
  return failed;
}

int pqueue_extract_more(struct pems_pqueue *q, const char *limit, int *more,
                        struct pems_error *error) {
  struct list l;
  const int failed = find(q, 1, limit, WITH_AREA, &l, error);
  *more = !failed && l.records > 0;
  return failed;
}
