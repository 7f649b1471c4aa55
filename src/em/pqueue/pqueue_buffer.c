/* The extract buffer of a priority queue: the first records of its arrays, some
   of them in the user's form. And the area beside it, as far as one of the two
   may be before the other. */
#include <string.h>

#include "em/pqueue/pqueue.h"

/* So many of its records get the user's form at once. */
enum { OPEN = 64 };

const char *pqueue_buffer_least(struct pems_pqueue *q) {
  const char *const least = pqueue_area_least(q);
  if (!least) {
    return NULL;
  }
  memcpy(q->least_stored, least, pq_size(q));
  if (q->s.kernel->encode) {
    q->s.kernel->encode(&q->s.o.record, q->least_stored, 1);
  }
  return q->least_stored;
}

/* Only some, so that whoever takes records one by one and in bulk by turns does
   not wait for all of them each time. */
void pqueue_buffer_open(struct pems_pqueue *q) {
  struct pqueue_buffer *const b = &q->buffer;
  if (b->open > 0 || b->n == 0 || !q->s.kernel->decode) {
    return;
  }
  b->open = b->n < OPEN ? b->n : OPEN;
  q->s.kernel->decode(&q->s.o.record, b->at, b->open);
}

void pqueue_buffer_close(struct pems_pqueue *q) {
  struct pqueue_buffer *const b = &q->buffer;
  if (b->open > 0) {
    q->s.kernel->encode(&q->s.o.record, b->at, b->open);
  }
  b->open = 0;
}

bool pqueue_buffer_overlaps_area(struct pems_pqueue *q) {
  const struct pqueue_buffer *const b = &q->buffer;
  if (b->n == 0 || q->area.n == 0) {
    return false;
  }
  pqueue_buffer_close(q);
  const char *const last = b->at + (b->n - 1) * pq_size(q);
  return q->s.kernel->compare(&q->s.o.record, last, pqueue_buffer_least(q)) > 0;
}

void pqueue_buffer_drop(struct pems_pqueue *q) {
  if (q->buffer.range) {
    arena_put(&q->arena, q->buffer.range, q->buffer.bytes);
  }
  q->buffer = (struct pqueue_buffer){0};
}

void pqueue_buffer_give_up(struct pems_pqueue *q) {
  struct pqueue_buffer *const b = &q->buffer;
  if (b->n == 0) {
    return;
  }
  pqueue_buffer_close(q);
  memory_arrays_add(&q->arrays, b->at, b->n, b->range, b->bytes, 0);
  *b = (struct pqueue_buffer){0};
  q->top = PQ_UNKNOWN;
}
