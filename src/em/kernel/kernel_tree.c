/* The kernel "tree": any records, by comparisons.

   Every member of the team sorts a part by merging, stably: small records are
   moved, of others an index is sorted. The parts are merged by a tree of losers
   while they are emitted. The stored form is the user's. */
#include "em/kernel/kernels.h"
#include "em/kernel/losers.h"
#include "em/kernel/parts.h"
#include "em/kernel/permute.h"

#include <stdbool.h>

enum {
  SMALL = 32, /* bytes; larger records are not moved */
  RUN = 8,    /* records sorted by insertion */
  AHEAD = 4   /* records to be fetched early */
};

static bool moves(const struct pems_record *r) {
  return r->size <= SMALL;
}

static size_t step_of(const struct pems_record *r) {
  return moves(r) ? r->size : sizeof(uint32_t);
}

/* --- sorting of one part --- */

struct part {
  const struct record_order *o;
  const char *base; /* its records */
  char *list;       /* what is sorted: the records or the index */
  char *room;       /* for half of it */
  size_t n;
};

/* What is sorted: records of `size` bytes, or where that is 0 an index. */
RECORD_INLINE const char *record_of(const struct part *p, size_t size,
                                    const char *at) {
  return size ? at : p->base + *(const uint32_t *)at * p->o->size;
}

RECORD_INLINE bool ahead(const struct part *p, enum record_kind kind,
                         size_t size, const char *a, const char *b) {
  return record_before(p->o, kind, record_of(p, size, a),
                       record_of(p, size, b));
}

RECORD_INLINE void insertion(const struct part *p, enum record_kind kind,
                             size_t size, size_t begin, size_t end) {
  const size_t step = size ? size : sizeof(uint32_t);
  _Alignas(16) char item[SMALL];
  for (size_t i = begin + 1; i < end; i++) {
    char *to = p->list + i * step;
    char *const first = p->list + begin * step;
    record_copy(item, to, step);
    for (; to > first && ahead(p, kind, size, item, to - step); to -= step) {
      record_copy(to, to - step, step);
    }
    record_copy(to, item, step);
  }
}

/* Asks for the record of a number that comes soon. */
RECORD_INLINE void fetch(const struct part *p, const char *at,
                         const char *end) {
  at += AHEAD * sizeof(uint32_t);
  if (at < end) {
    __builtin_prefetch(p->base + *(const uint32_t *)at * p->o->size +
                       p->o->offset);
  }
}

/* Merges [begin, middle) and [middle, end), in order each. */
RECORD_INLINE void merge(const struct part *p, enum record_kind kind,
                         size_t size, size_t begin, size_t middle, size_t end) {
  const size_t step = size ? size : sizeof(uint32_t);
  char *out = p->list + begin * step;
  const char *b = p->list + middle * step;
  const char *const b_end = p->list + end * step;
  if (!ahead(p, kind, size, b, b - step)) {
    return;
  }
  memcpy(p->room, out, (middle - begin) * step);
  const char *a = p->room, *const a_end = a + (middle - begin) * step;
  while (a < a_end && b < b_end) {
    const bool take = ahead(p, kind, size, b, a);
    if (size == 0) {
      /* A branch: what is guessed is fetched early. */
      record_copy(out, take ? b : a, step);
      if (take) {
        b += step;
      } else {
        a += step;
      }
      fetch(p, a, a_end);
      fetch(p, b, b_end);
    } else {
      /* No branch, for nobody could guess it; `?:` may become one. */
      const uintptr_t mask = -(uintptr_t)take;
      const uintptr_t turn = ((uintptr_t)a ^ (uintptr_t)b) & mask;
      record_copy(out, (const char *)((uintptr_t)a ^ turn), step);
      a += step & ~mask;
      b += step & mask;
    }
    out += step;
  }
  memcpy(out, a, (size_t)(a_end - a));
}

/* Where run i of 1 << levels begins. */
RECORD_INLINE size_t run_begin(size_t n, int levels, size_t i) {
  return (size_t)((unsigned __int128)n * i >> levels);
}

/* Merges two runs of equal length as soon as they lie beside each other, so
   that most merges are of what is still in a cache. The number of runs is a
   power of two: then no left half is longer than its right one. */
RECORD_INLINE void sort_list(const struct part *p, enum record_kind kind,
                             size_t size) {
  int levels = 0;
  while (p->n >> levels > RUN) {
    levels++;
  }
  for (size_t i = 0; i < (size_t)1 << levels; i++) {
    const size_t end = run_begin(p->n, levels, i + 1);
    insertion(p, kind, size, run_begin(p->n, levels, i), end);
    size_t half = 1;
    for (size_t j = i + 1; half <= i && j % 2 == 0; j /= 2, half *= 2) {
      merge(p, kind, size, run_begin(p->n, levels, i + 1 - 2 * half),
            run_begin(p->n, levels, i + 1 - half), end);
    }
  }
}

RECORD_INLINE void sort_kind(const struct record_order *o,
                             enum record_kind kind, const struct part *p,
                             bool move) {
  if (!move) {
    sort_list(p, kind, 0);
  } else if (kind == RECORD_8 && o->size == 8) {
    sort_list(p, kind, 8);
  } else if (kind == RECORD_8 && o->size == 16) {
    sort_list(p, kind, 16);
  } else {
    sort_list(p, kind, o->size);
  }
}

static void sort_any(const struct record_order *o, const struct part *p,
                     bool move) {
  RECORD_DISPATCH(o, sort_kind, p, move);
}

/* Sorts its records, or makes and sorts their index. */
static void sort_part(const struct record_order *o, const struct part *p,
                      bool move) {
  if (!move) {
    for (size_t i = 0; i < p->n; i++) {
      ((uint32_t *)p->list)[i] = (uint32_t)i;
    }
  }
  sort_any(o, p, move);
}

/* --- sorting --- */

/* Work memory, behind its head: an index of n numbers, unless records are
   moved, then room for half of all that is sorted. */
static uint32_t *index_of(const void *work) {
  return (uint32_t *)((char *)work + PARTS_HEAD);
}

static void sort_task(void *arg, int task, int member) {
  (void)member;
  const struct parts_job *const job = arg;
  const size_t begin = part_begin(job->n, job->parts, task);
  const size_t end = part_begin(job->n, job->parts, task + 1);
  const size_t step = step_of(job->r);
  const bool move = moves(job->r);
  struct record_order o;
  record_order(job->r, &o);
  char *const base = job->records + begin * o.size;
  const struct part p = {
      .o = &o,
      .base = base,
      .list = move ? base : (char *)(index_of(job->work) + begin),
      .room = job->work + PARTS_HEAD + (move ? 0 : job->n * step) +
              begin / 2 * step,
      .n = end - begin,
  };
  sort_part(&o, &p, move);
}

static bool tree_fits(const struct pems_record *r) {
  return pems_record_check(r, NULL) == 0;
}

static size_t tree_sort_work(const struct pems_record *r, size_t n,
                             int threads) {
  (void)threads;
  return PARTS_HEAD + (moves(r) ? 0 : n * step_of(r)) + n / 2 * step_of(r);
}

static void tree_sort(const struct pems_record *r, struct team *team,
                      void *records, size_t n, void *work) {
  parts_sort(r, team, records, n, work, sort_task);
}

static void tree_emit(const struct pems_record *r, const void *records,
                      size_t n, const void *work, size_t first, size_t count,
                      void *out) {
  const int parts = parts_of(work);
  const enum losers_form form = moves(r) ? LOSERS_RECORDS : LOSERS_INDEX;
  const char *const list = moves(r) ? records : (const char *)work + PARTS_HEAD;
  struct losers_leaf leaf[PARTS_MOST];
  unsigned __int128 room[PARTS_MOST];
  struct record_order o;
  record_order(r, &o);
  for (int i = 0; i < parts; i++) {
    const size_t begin = part_begin(n, parts, i);
    leaf[i].base = (const char *)records + begin * r->size;
    leaf[i].at = list + begin * step_of(r);
    leaf[i].end = list + part_begin(n, parts, i + 1) * step_of(r);
  }
  losers_skip(&o, form, leaf, parts, first);
  losers_merge(&o, form, leaf, parts, count, out, room);
}

/* --- arrays --- */

/* Room for half of what is sorted; an index before, and later records that are
   laid aside behind it. */
static size_t tree_array_work(const struct pems_record *r, size_t n) {
  const size_t room = n / 2 * step_of(r), aside = permute_work(r->size);
  if (moves(r)) {
    return room;
  }
  if (n > UINT32_MAX) {
    return SIZE_MAX;
  }
  return n * step_of(r) + (room > aside ? room : aside);
}

static void tree_array(const struct pems_record *r, void *records, size_t n,
                       void *work) {
  const bool move = moves(r);
  char *const behind = (char *)work + (move ? 0 : n * step_of(r));
  struct record_order o;
  const struct part p = {
      .o = &o,
      .base = records,
      .list = move ? records : work,
      .room = behind,
      .n = n,
  };
  record_order(r, &o);
  sort_part(&o, &p, move);
  if (!move) {
    permute(records, r->size, n, work, step_of(r), behind);
  }
}

const struct kernel kernel_tree = {
    .name = "tree",
    .help = "merges records or an index of them: any record, any order",
    .fits = tree_fits,
    .sort_work = tree_sort_work,
    .sort = tree_sort,
    .emit = tree_emit,
    .array_work = tree_array_work,
    .array = tree_array,
    .compare = record_compare,
    .rank = record_rank,
    .merge_work = losers_pieces_work,
    .merge = losers_pieces,
};
