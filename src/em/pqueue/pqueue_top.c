/* The first record of a priority queue: of the area's heap, the extract buffer
   and the internal arrays (a hierarchy of tournaments, as in Bingmann, Keh and
   Sanders 2015, section 3: what is popped most is compared least). */
#include <string.h>

#include "em/pqueue/insertion_heap.h"
#include "em/pqueue/pqueue.h"

/* What was pushed becomes part of the heap, or an array if it is too much. */
static int order_area(struct pems_pqueue *q, struct pems_error *error) {
  const struct pqueue_area *const a = &q->area;
  if (a->heap == a->n) {
    return 0;
  }
  if (a->n * pq_size(q) > q->plan.heap) {
    return pqueue_push_sort(q, error);
  }
  pqueue_area_heap(q);
  return 0;
}

/* The first record of the arrays, in the user's form. */
static const char *array_head(struct pems_pqueue *q) {
  const int first = memory_arrays_first(&q->arrays);
  if (first < 0) {
    return NULL;
  }
  const char *const at = q->arrays.array[first].at;
  if (!q->s.kernel->decode) {
    return at;
  }
  /* Most often it is the one that it was when another was popped. */
  if (q->head_at != at || q->head_added != q->arrays.added) {
    memcpy(q->head, at, pq_size(q));
    q->s.kernel->decode(&q->s.o.record, q->head, 1);
    q->head_at = at;
    q->head_added = q->arrays.added;
  }
  return q->head;
}

static bool has_arrays(const struct pems_pqueue *q) {
  return q->arrays.records || q->pending.range ||
         disk_arrays_records(q->external);
}

static void consider(struct pems_pqueue *q, const char *record,
                     enum pqueue_top top, const char **least) {
  if (*least && record_order_compare(&q->order, *least, record) <= 0) {
    return;
  }
  *least = record;
  q->top = top;
}

int pqueue_top_find(struct pems_pqueue *q, enum pqueue_top_area area,
                    struct pems_error *error) {
  const char *least = NULL;
  int failed = area == TOP_ORDERED_AREA ? order_area(q, error) : 0;
  if (!failed && q->buffer.n == 0 && has_arrays(q)) {
    failed = pqueue_extract_refill(q, error);
  }
  if (failed) {
    return failed;
  }
  pqueue_buffer_open(q);
  q->top = PQ_NONE;
  if (area != TOP_WITHOUT_AREA && q->area.n) {
    consider(q, pqueue_area_least(q), PQ_HEAP, &least);
  }
  if (q->buffer.n) {
    consider(q, q->buffer.at, PQ_BUFFER, &least);
  }
  const char *const head = array_head(q);
  if (head) {
    consider(q, head, PQ_ARRAY, &least);
  }
  if (q->top == PQ_HEAP && q->area.heap < q->area.n) {
    return pqueue_top_find(q, TOP_ORDERED_AREA, error);
  }
  q->first = least;
  return 0;
}

void pqueue_top_pop(struct pems_pqueue *q) {
  switch (q->top) {
  case PQ_HEAP:
    pqueue_area_pop(q);
    break;
  case PQ_BUFFER:
    q->buffer.at += pq_size(q);
    q->buffer.n--;
    q->buffer.open -= q->buffer.open > 0;
    break;
  default:
    memory_arrays_gone(&q->arrays, memory_arrays_first(&q->arrays), 1);
    break;
  }
  q->top = PQ_UNKNOWN;
}

size_t pqueue_top_sure(const struct pems_pqueue *q, const char *limit) {
  const struct pems_record *const r = &q->s.o.record;
  const struct pqueue_buffer *const b = &q->buffer;
  const size_t seen = q->s.kernel->decode ? b->open : b->n;
  if (q->top != PQ_BUFFER) {
    return 0;
  }
  const size_t before = record_rank(r, b->at, seen, limit, 0);
  const int first = memory_arrays_first(&q->arrays);
  if (first < 0) {
    return before;
  }
  const char *const head =
      q->s.kernel->decode ? q->head : q->arrays.array[first].at;
  return record_rank(r, b->at, before, head, 1);
}

/* Finds the first record if it is not known; *there: it exists and is before
   the limit. */
static int look(struct pems_pqueue *q, const char *limit, bool *there,
                struct pems_error *error) {
  const int failed =
      q->top == PQ_UNKNOWN ? pqueue_top_find(q, TOP_AREA, error) : 0;
  *there = !failed && q->first &&
           (!limit || record_order_compare(&q->order, q->first, limit) < 0);
  return failed;
}

int pqueue_top_take(struct pems_pqueue *q, char *out, size_t max,
                    const char *limit, size_t *n, struct pems_error *error) {
  const size_t size = pq_size(q);
  for (*n = 0; *n < max; ++*n, out += size) {
    bool there;
    const int failed = look(q, limit, &there, error);
    if (!there) {
      return failed;
    }
    memcpy(out, q->first, size);
    pqueue_top_pop(q);
  }
  return 0;
}

int pqueue_top_more(struct pems_pqueue *q, const char *limit, int *more,
                    struct pems_error *error) {
  bool there;
  const int failed = look(q, limit, &there, error);
  *more = there;
  return failed;
}
