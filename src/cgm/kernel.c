#include "cgm/kernel.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cgm/fault.h"
#include "cgm/memory.h"
#include "em/kernel/losers.h"
#include "em/kernel/multiselect.h"
#include "em/kernel/record.h"
#include "pems/sort.h"

/* Where libpems is there, its kernels sort. */
int pems_sort_array(void *records, size_t n, const struct pems_record *record,
                    void *work, struct pems_error *error) __attribute__((weak));
size_t pems_sort_array_work(size_t n, const struct pems_record *record)
    __attribute__((weak));

int pems_cgm_check_record(struct pems_cgm *machine,
                          const struct pems_cgm_list *list,
                          const struct pems_record *record,
                          const char *function) {
  struct pems_error error;
  if (record->size != list->size) {
    return pems_cgm_fail(machine, MPI_ERR_ARG,
                         "%s: records of %zu bytes in a list of %zu: give the "
                         "same size",
                         function, record->size, list->size);
  }
  if (pems_record_check(record, &error) != 0) {
    return pems_cgm_fail(machine, MPI_ERR_ARG, "%s: %s", function, error.text);
  }
  return MPI_SUCCESS;
}

/* --- without libpems: stable sorts, from one array to another --- */

/* Two arrays, whose roles change with every pass. */
struct passes {
  const struct record_order *o;
  char *from, *to;
  size_t n;
};

static void turn(struct passes *p) {
  char *const from = p->from;
  p->from = p->to;
  p->to = from;
}

enum { DIGITS = 8, RADIX = 256 }; /* at most; of a digit */

RECORD_INLINE void count_digits(const struct record_order *o,
                                enum record_kind kind, const struct passes *p,
                                size_t (*count)[RADIX]) {
  for (size_t i = 0; i < p->n; i++) {
    const uint64_t key = record_number(o, kind, p->from + i * o->size);
    for (size_t d = 0; d < o->bytes; d++) {
      count[d][key >> 8 * d & 255]++;
    }
  }
}

static void count_any(const struct passes *p, size_t (*count)[RADIX]) {
  RECORD_DISPATCH(p->o, count_digits, p, count);
}

RECORD_INLINE void distribute(const struct record_order *o,
                              enum record_kind kind, const struct passes *p,
                              size_t *count, size_t d) {
  size_t at = 0;
  for (int i = 0; i < RADIX; i++) {
    const size_t n = count[i];
    count[i] = at;
    at += n;
  }
  for (size_t i = 0; i < p->n; i++) {
    const char *const record = p->from + i * o->size;
    const uint64_t key = record_number(o, kind, record);
    record_copy(p->to + count[key >> 8 * d & 255]++ * o->size, record, o->size);
  }
}

static void distribute_any(const struct passes *p, size_t *count, size_t d) {
  RECORD_DISPATCH(p->o, distribute, p, count, d);
}

/* From the lowest byte of the key on; bytes that all keys share are passed
   over. */
static void radix_sort(struct passes *p) {
  size_t count[DIGITS][RADIX] = {0};
  count_any(p, count);
  for (size_t d = 0; d < p->o->bytes; d++) {
    bool shared = false;
    for (int i = 0; i < RADIX; i++) {
      shared |= count[d][i] == p->n;
    }
    if (shared) {
      continue;
    }
    distribute_any(p, count[d], d);
    turn(p);
  }
}

static bool in_order(const struct record_order *o, const char *a,
                     const char *b) {
  return record_order_compare(o, a, b) <= 0;
}

/* Runs [from, middle) and [middle, end). */
static void merge_two(const struct record_order *o, const char *from,
                      const char *middle, const char *end, char *to) {
  const char *a = from, *b = middle;
  /* Often, if the records were in order before. */
  if (b < end && in_order(o, b - o->size, b)) {
    a = middle;
  }
  if (a == middle) {
    memcpy(to, from, (size_t)(end - from));
    return;
  }
  while (a < middle && b < end) {
    const char **const next = in_order(o, a, b) ? &a : &b;
    record_copy(to, *next, o->size);
    *next += o->size;
    to += o->size;
  }
  memcpy(to, a, (size_t)(middle - a));
  memcpy(to + (middle - a), b, (size_t)(end - b));
}

static void merge_sort(struct passes *p) {
  const size_t size = p->o->size;
  for (size_t run = 1; run < p->n; run *= 2) {
    for (size_t i = 0; i < p->n; i += 2 * run) {
      const size_t middle = run < p->n - i ? i + run : p->n;
      const size_t end = run < p->n - middle ? middle + run : p->n;
      merge_two(p->o, p->from + i * size, p->from + middle * size,
                p->from + end * size, p->to + i * size);
    }
    turn(p);
  }
}

static int sort_alone(struct pems_cgm *m, struct pems_cgm_list *list,
                      const struct pems_record *record) {
  struct pems_cgm_list other = {.size = list->size};
  struct record_order o;
  record_order(record, &o);
  if (record_in_order(&o, list->at, list->n, false)) {
    return 0;
  }
  if (pems_cgm_allocate(m, &other, list->n) != 0) {
    return -1;
  }
  struct passes p = {&o, list->at, other.at, list->n};
  if (record_prefix_decides(record) && list->n >= RADIX) {
    radix_sort(&p);
  } else {
    merge_sort(&p);
  }
  free(p.to);
  list->at = p.from;
  return 0;
}

/* --- with libpems --- */

static int sort_with_libpems(struct pems_cgm *m, struct pems_cgm_list *list,
                             const struct pems_record *record) {
  struct pems_cgm_list work = {.size = 1};
  struct pems_error error;
  if (pems_cgm_allocate(m, &work, pems_sort_array_work(list->n, record)) != 0) {
    return -1;
  }
  const int failed =
      pems_sort_array(list->at, list->n, record, work.at, &error);
  pems_cgm_list_free(&work);
  if (failed == 0) {
    return 0;
  }
  pems_cgm_found(m, MPI_ERR_ARG, "%s", error.text);
  return -1;
}

/* An array that libpems refuses, of 2^32 records that a function compares, we
   sort. */
static bool libpems_sorts(size_t n, const struct pems_record *record) {
  return pems_sort_array != NULL && pems_sort_array_work != NULL &&
         pems_sort_array_work(n, record) != SIZE_MAX;
}

int pems_cgm_sort_here(struct pems_cgm *machine, struct pems_cgm_list *list,
                       const struct pems_record *record) {
  if (list->n < 2) {
    return 0;
  }
  return libpems_sorts(list->n, record)
             ? sort_with_libpems(machine, list, record)
             : sort_alone(machine, list, record);
}

/* --- merging --- */

enum { MERGED_MOST = 64 }; /* bytes of a record, see better_sorted */

/* What multiselect needs of a kernel. */
static const struct kernel user_form = {.rank = record_rank};

/* Work memory of a merge, and the pieces. */
struct merge {
  struct kernel_piece *piece;
  size_t *cut;
  char *work;
};

static void merge_free(struct merge *g) {
  free(g->piece);
  free(g->cut);
  free(g->work);
}

static int merge_make(struct pems_cgm *m, const struct pems_record *record,
                      struct merge *g) {
  const size_t v = (size_t)m->size;
  g->piece = calloc(v, sizeof(*g->piece));
  g->cut = calloc(v, sizeof(*g->cut));
  g->work = malloc(losers_pieces_work(record, m->size));
  if (g->piece && g->cut && g->work) {
    return 0;
  }
  merge_free(g);
  pems_cgm_found(m, MPI_ERR_NO_MEM,
                 "rank %d has no memory to merge %d pieces: use more ranks",
                 m->rank, m->size);
  return -1;
}

/* The pieces without their parts of the first `skip` and last elements. */
static void cut_pieces(const struct pems_cgm *m, const struct merge *g,
                       const struct pems_record *record, uint64_t skip,
                       uint64_t keep) {
  uint64_t n = 0;
  for (int r = 0; r < m->size; r++) {
    n += g->piece[r].n;
  }
  if (skip + keep < n) {
    multiselect(record, &user_form, g->piece, m->size, skip + keep, g->cut);
    for (int r = 0; r < m->size; r++) {
      g->piece[r].n = g->cut[r];
    }
  }
  if (skip == 0) {
    return;
  }
  multiselect(record, &user_form, g->piece, m->size, skip, g->cut);
  for (int r = 0; r < m->size; r++) {
    g->piece[r].at += g->cut[r] * record->size;
    g->piece[r].n -= g->cut[r];
  }
}

static int merge_pieces(struct pems_cgm *m, struct pems_cgm_list *list,
                        const struct pems_record *record, const struct merge *g,
                        uint64_t keep) {
  struct pems_cgm_list merged = {.size = list->size};
  if (pems_cgm_allocate(m, &merged, keep) != 0) {
    return -1;
  }
  losers_pieces(record, g->piece, m->size, merged.at, g->work, 1);
  pems_cgm_list_free(list);
  *list = merged;
  return 0;
}

/* The pieces close up and are sorted as one. */
static int sort_pieces(struct pems_cgm *m, struct pems_cgm_list *list,
                       const struct pems_record *record,
                       const struct merge *g) {
  uint64_t n = 0;
  for (int r = 0; r < m->size; r++) {
    char *const to = pems_cgm_at(list, n);
    if (to != g->piece[r].at) {
      memmove(to, g->piece[r].at, g->piece[r].n * list->size);
    }
    n += g->piece[r].n;
  }
  pems_cgm_shorten(list, n);
  return pems_cgm_sort_here(m, list, record);
}

/* libpems sorts what came faster than it can be merged, and with less memory:
   numbers by vectors, long records by pointers, others by finding that they are
   runs. Between are numbers that carry a little. */
static bool better_sorted(const struct pems_cgm_list *list,
                          const struct pems_record *record) {
  const bool merged = record_prefix_decides(record) && list->size > 8 &&
                      list->size <= MERGED_MOST;
  return !merged && libpems_sorts(list->n, record);
}

/* What is left out is cut off the pieces, for equal elements that two ranks
   have must be told apart by both alike, which an unstable sort does not. */
int pems_cgm_merge_here(struct pems_cgm *machine, struct pems_cgm_list *list,
                        const struct pems_record *record, const uint64_t *n,
                        uint64_t skip, uint64_t keep) {
  struct merge g;
  if (list->n == 0) {
    return 0;
  }
  if (merge_make(machine, record, &g) != 0) {
    return -1;
  }
  const char *at = list->at;
  for (int r = 0; r < machine->size; r++) {
    g.piece[r] = (struct kernel_piece){at, n[r]};
    at += n[r] * list->size;
  }
  cut_pieces(machine, &g, record, skip, keep);
  const int failed = better_sorted(list, record)
                         ? sort_pieces(machine, list, record, &g)
                         : merge_pieces(machine, list, record, &g, keep);
  merge_free(&g);
  return failed;
}

int pems_cgm_local_sort(struct pems_cgm *machine, struct pems_cgm_list *list,
                        const struct pems_record *record) {
  int error = pems_cgm_check(machine, list, "pems_cgm_local_sort");
  if (error == MPI_SUCCESS && machine->fault != MPI_SUCCESS) {
    return pems_cgm_fail_here(machine);
  }
  if (error == MPI_SUCCESS) {
    error = pems_cgm_check_record(machine, list, record, "pems_cgm_local_sort");
  }
  if (error != MPI_SUCCESS) {
    return error;
  }
  return pems_cgm_sort_here(machine, list, record) == 0
             ? MPI_SUCCESS
             : pems_cgm_fail_here(machine);
}
