/* Pushing: records go to the area; a full one becomes an array, in memory or on
   disk. */
#include <errno.h>
#include <string.h>

#include "base/failure.h"
#include "em/kernel/parts.h"
#include "em/pqueue/pqueue.h"
#include "os/clock.h"
#include "os/lock.h"

/* Bytes that are worth waking threads to copy them. */
#define MUCH ((size_t)1 << 20)
/* An area that has at least this share of the memory is an external array of
   its own when it is full. */
enum { LARGE_SHARE = 8 };

int pqueue_push_sort(struct pems_pqueue *q, struct pems_error *error) {
  int failed = pqueue_make_slot(q, error);
  while (!failed && q->area.n && !pqueue_area_to_array(q)) {
    failed = pqueue_flush_all(q, error);
  }
  q->top = PQ_UNKNOWN;
  return failed;
}

static int take_range(struct pems_pqueue *q, struct pems_error *error) {
  const size_t wanted = pqueue_area_wanted(q);
  if (pqueue_area_take(q, wanted)) {
    return 0;
  }
  const int failed = pqueue_make_room(q, wanted, error);
  return failed || pqueue_area_take(q, 0)
             ? failed
             : failure(error, ENOMEM,
                       "memory of a priority queue: no range "
                       "for what is pushed: give more");
}

static bool is_large(const struct pems_pqueue *q) {
  return q->area.bytes >= arena_bytes(&q->arena) / LARGE_SHARE;
}

/* The area is full, or there is none: makes one with room. */
static int renew(struct pems_pqueue *q, struct pems_error *error) {
  struct pqueue_area *const a = &q->area;
  const uint64_t begin = clock_ns();
  q->sure = 0;
  int failed = pqueue_make_slot(q, error);
  if (!failed && a->n) {
    failed =
        is_large(q) ? pqueue_flush_area(q, error) : pqueue_push_sort(q, error);
  }
  if (!failed && (!a->base || a->n == a->room)) {
    pqueue_area_release(q);
    failed = take_range(q, error);
  }
  q->counts.flush_seconds += (double)(clock_ns() - begin) / 1e9;
  return failed;
}

/* The argument of tasks that copy a part each. */
struct copying {
  char *to;
  const char *from;
  size_t bytes;
  int parts;
};

static void copy_part(void *arg, int part, int member) {
  const struct copying *const c = arg;
  const size_t begin = part_begin(c->bytes, c->parts, part);
  const size_t end = part_begin(c->bytes, c->parts, part + 1);
  (void)member;
  memcpy(c->to + begin, c->from + begin, end - begin);
}

/* Without the lock where others push, too; else, if it is much, all threads
   together. */
static void copy(struct pems_pqueue *q, size_t at, const char *from, size_t n) {
  struct pqueue_area *const a = &q->area;
  const size_t bytes = n * pq_size(q);
  struct copying c = {a->base + at * pq_size(q), from, bytes, 1};
  if (q->mode != PQ_BULK && bytes < MUCH) {
    memcpy(c.to, from, bytes);
  } else if (q->mode != PQ_BULK) {
    c.parts = q->o.threads;
    team_run(q->s.team, c.parts, copy_part, &c);
  } else {
    a->copying++;
    lock_give(&q->lock);
    memcpy(c.to, from, bytes);
    lock_take(&q->lock);
    if (--a->copying == 0) {
      pthread_cond_broadcast(&q->copied);
    }
  }
}

int pqueue_push(struct pems_pqueue *q, const void *records, size_t n,
                struct pems_error *error) {
  struct pqueue_area *const a = &q->area;
  const char *from = records;
  if (n == 1 && q->mode != PQ_BULK && pqueue_push_one(q, records)) {
    return 0;
  }
  while (n > 0 && !q->failed) {
    if (a->n < a->room) {
      const size_t at = a->n;
      const size_t some = n < a->room - at ? n : a->room - at;
      a->n += some;
      copy(q, at, from, some);
      from += some * pq_size(q);
      n -= some;
    } else if (a->copying) {
      lock_wait(&q->copied, &q->lock);
    } else {
      const int failed = renew(q, error);
      if (failed) {
        return failed;
      }
    }
  }
  return 0;
}
