/* The insertion area of a priority queue: what was pushed, unsorted.

   It stands for the insertion heaps of Bingmann, Keh and Sanders 2015 (section
   3), one for all threads, which in a bulk have a lane each. Nothing is
   compared when a record is pushed; a few records become a heap when one of
   them is asked for, many become a sorted array. */
#include <stdbool.h>
#include <string.h>

#include "em/core/bisect.h"
#include "em/kernel/parts.h"
#include "em/pqueue/insertion_heap.h"
#include "em/pqueue/pqueue.h"
#include "os/bits.h"

/* Where records are sorted in place they are aligned so. */
#define ALIGNED ((size_t)64)

static size_t aligned(size_t n) {
  return bits_round_up(n, ALIGNED);
}

/* Bytes that n records and sorting them take. */
static size_t bytes_for(const struct pems_pqueue *q, size_t n) {
  return aligned(n * pq_size(q)) +
         aligned(q->s.kernel->sort_work(&q->s.o.record, n, q->o.threads));
}

static size_t least_bytes(const struct pems_pqueue *q) {
  const size_t some = 4096 / pq_size(q) + 1;
  return arena_rounded(&q->arena, bytes_for(q, some));
}

struct range_trial {
  const struct pems_pqueue *q;
  size_t bytes;
};

static bool records_fit(const void *trial, uint64_t n) {
  const struct range_trial *const t = trial;
  return bytes_for(t->q, (size_t)n) <= t->bytes;
}

/* The most records that fit. */
static size_t records_for(const struct pems_pqueue *q, size_t bytes) {
  const struct range_trial t = {q, bytes};
  return (size_t)bisect_most(records_fit, &t, bytes / pq_size(q) + 1);
}

static void set_range(struct pems_pqueue *q, char *base, size_t bytes) {
  q->area = (struct pqueue_area){.base = base, .bytes = bytes};
  q->area.room = records_for(q, bytes);
}

static void *work_of(const struct pems_pqueue *q) {
  return q->area.base + aligned(q->area.room * pq_size(q));
}

/* --- where it lies --- */

/* While an area is written another one is filled, where that is done in place:
   so it takes half of what blocks in memory leave. */
static size_t most_bytes(const struct pems_pqueue *q) {
  const size_t all = arena_bytes(&q->arena);
  const size_t held =
      disk_arrays_held(q->external) * arena_rounded(&q->arena, q->s.plan.block);
  const size_t left = held < all ? all - held : 0;
  const size_t most = q->s.plan.in_place ? left / 2 : left / 4 * 3;
  const size_t least = least_bytes(q);
  return (most > least ? most : least) / q->arena.unit * q->arena.unit;
}

size_t pqueue_area_wanted(const struct pems_pqueue *q) {
  return bits_max(arena_bytes(&q->arena) / 64, least_bytes(q));
}

bool pqueue_area_take(struct pems_pqueue *q, size_t least) {
  size_t bytes = 0;
  char *const base = arena_get_largest(
      &q->arena, bits_max(least, least_bytes(q)), most_bytes(q), &bytes);
  if (base) {
    set_range(q, base, bytes);
  }
  return base;
}

void pqueue_area_trim(struct pems_pqueue *q) {
  struct pqueue_area *const a = &q->area;
  if (!a->base || a->copying) {
    return;
  }
  const size_t needed = a->n ? arena_rounded(&q->arena, bytes_for(q, a->n)) : 0;
  if (needed >= a->bytes) {
    return;
  }
  arena_put(&q->arena, a->base + needed, a->bytes - needed);
  a->bytes = needed;
  a->room = records_for(q, needed);
  if (!needed) {
    a->base = NULL;
  }
}

void pqueue_area_release(struct pems_pqueue *q) {
  if (q->area.base) {
    arena_put(&q->arena, q->area.base, q->area.bytes);
  }
  q->area = (struct pqueue_area){0};
}

void pqueue_area_expect(struct pems_pqueue *q, uint64_t n) {
  struct pqueue_area *const a = &q->area;
  if (a->n || a->room >= n || a->bytes >= most_bytes(q)) {
    return;
  }
  pqueue_area_release(q);
}

/* --- sorting --- */

/* One part of the sorted order for each task. */
struct emission {
  struct pems_pqueue *q;
  size_t first, n;
  int parts;
  char *out;
};

static void emit_part(void *arg, int part, int member) {
  const struct emission *const e = arg;
  const struct pems_pqueue *const q = e->q;
  const size_t begin = part_begin(e->n, e->parts, part);
  const size_t end = part_begin(e->n, e->parts, part + 1);
  const size_t first = e->first + begin, n = end - begin;
  char *const out = e->out + begin * pq_size(q);
  (void)member;
  if (q->s.kernel->emit) {
    q->s.kernel->emit(&q->s.o.record, q->area.base, q->area.n, work_of(q),
                      first, n, out);
  } else {
    memcpy(out, q->area.base + first * pq_size(q), n * pq_size(q));
  }
}

void pqueue_area_emit(struct pems_pqueue *q, size_t first, size_t n,
                      char *out) {
  const int k = q->o.threads;
  struct emission e = {q, first, n, n / PARTS_LEAST < (size_t)k ? 1 : k, out};
  team_run(q->s.team, e.parts, emit_part, &e);
}

/* Parts that overlap by a record, so that all are in order if each is. */
struct ordering {
  const struct pems_pqueue *q;
  int parts;
  bool reverse;
  _Atomic bool broken;
};

static void check_part(void *arg, int part, int member) {
  struct ordering *const c = arg;
  const struct pems_pqueue *const q = c->q;
  const size_t n = q->area.n;
  const size_t begin = part_begin(n, c->parts, part);
  const size_t end = part_begin(n, c->parts, part + 1);
  (void)member;
  for (size_t at = begin; at < end && !c->broken; at += PARTS_LEAST) {
    const size_t rest = n - at, most = PARTS_LEAST + 1;
    if (!record_in_order(&q->order, q->area.base + at * pq_size(q),
                         rest < most ? rest : most, c->reverse)) {
      c->broken = true;
    }
  }
}

static bool is_in_order(const struct pems_pqueue *q, bool reverse) {
  struct ordering c = {q, q->o.threads, reverse, false};
  team_run(q->s.team, c.parts, check_part, &c);
  return !c.broken;
}

/* Exchanges a part of the first half with its mirror image. */
static void turn_part(void *arg, int part, int member) {
  const struct ordering *const c = arg;
  const struct pqueue_area *const a = &c->q->area;
  const size_t size = pq_size(c->q),
               end = part_begin(a->n / 2, c->parts, part + 1);
  char record[PEMS_RECORD_MOST];
  (void)member;
  for (size_t i = part_begin(a->n / 2, c->parts, part); i < end; i++) {
    char *const x = a->base + i * size, *const y =
                                            a->base + (a->n - 1 - i) * size;
    memcpy(record, x, size);
    memcpy(x, y, size);
    memcpy(y, record, size);
  }
}

bool pqueue_area_in_order(struct pems_pqueue *q) {
  struct ordering c = {q, q->o.threads, true, false};
  /* Kernels that sort in place, or store another form, look for themselves. */
  if (!q->s.kernel->emit || q->s.kernel->encode) {
    return false;
  }
  if (is_in_order(q, false)) {
    return true;
  }
  if (pq_size(q) > PEMS_RECORD_MOST || !is_in_order(q, true)) {
    return false;
  }
  team_run(q->s.team, c.parts, turn_part, &c);
  return true;
}

void pqueue_area_sort_records(struct pems_pqueue *q) {
  if (q->area.n && !q->area.sorted) {
    q->s.kernel->sort(&q->s.o.record, q->s.team, q->area.base, q->area.n,
                      work_of(q));
    q->area.sorted = !q->s.kernel->emit;
  }
}

/* The sorted beginning becomes an array; the area goes on behind it. */
static void split(struct pems_pqueue *q) {
  struct pqueue_area *const a = &q->area;
  const size_t bytes = arena_rounded(&q->arena, a->n * pq_size(q));
  char *const base = a->base;
  const size_t n = a->n, left = a->bytes - bytes;
  q->counts.sorted_arrays++;
  if (left >= least_bytes(q)) {
    set_range(q, base + bytes, left);
  } else {
    if (left) {
      arena_put(&q->arena, base + bytes, left);
    }
    *a = (struct pqueue_area){0};
  }
  memory_arrays_add(&q->arrays, base, n, base, bytes, 0);
}

void pqueue_area_forget(struct pems_pqueue *q) {
  struct pqueue_area *const a = &q->area;
  a->n = a->heap = a->seen = a->least = 0;
  a->sorted = false;
}

/* A range for n bytes, for which the area may become smaller. */
static char *range_beside(struct pems_pqueue *q, size_t n, bool *trimmed) {
  char *const range = arena_get(&q->arena, n);
  *trimmed = !range;
  if (range) {
    return range;
  }
  pqueue_area_trim(q);
  return arena_get(&q->arena, n);
}

bool pqueue_area_to_array(struct pems_pqueue *q) {
  const size_t n = q->area.n, bytes = n * pq_size(q);
  const bool ordered = pqueue_area_in_order(q);
  bool trimmed;
  if (ordered || !q->s.kernel->emit) {
    if (!ordered) {
      pqueue_area_sort_records(q);
    }
    split(q);
    return true;
  }
  char *const out = range_beside(q, bytes, &trimmed);
  if (!out) {
    return false;
  }
  pqueue_area_sort_records(q);
  pqueue_area_emit(q, 0, n, out);
  q->counts.sorted_arrays++;
  memory_arrays_add(&q->arrays, out, n, out, bytes, 0);
  if (trimmed) {
    pqueue_area_release(q);
  } else {
    pqueue_area_forget(q);
  }
  return true;
}

/* --- looking --- */

const char *pqueue_area_least(struct pems_pqueue *q) {
  struct pqueue_area *const a = &q->area;
  const size_t size = pq_size(q);
  if (a->n == 0) {
    return NULL;
  }
  if (a->seen < a->n) {
    const char *const fresh = a->base + a->seen * size;
    const size_t i =
        a->seen + insertion_heap_least(&q->order, fresh, a->n - a->seen);
    if (a->seen == 0 || record_order_compare(&q->order, a->base + i * size,
                                             a->base + a->least * size) < 0) {
      a->least = i;
    }
    a->seen = a->n;
  }
  return a->base + a->least * size;
}

void pqueue_area_heap(struct pems_pqueue *q) {
  struct pqueue_area *const a = &q->area;
  insertion_heap_grow(&q->order, a->base, a->heap, a->n);
  a->heap = a->seen = a->n;
  a->least = 0;
}

void pqueue_area_pop(struct pems_pqueue *q) {
  struct pqueue_area *const a = &q->area;
  insertion_heap_pop(&q->order, a->base, a->n);
  a->heap = a->seen = --a->n;
  a->least = 0;
}
