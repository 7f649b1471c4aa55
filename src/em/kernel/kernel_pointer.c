/* The kernel "pointer": sorts pairs of a prefix and a number instead of
   records, which move only when they are emitted.

   Every member of the team makes and sorts the pairs of a part; the parts are
   merged by a tree of losers while they are emitted. The stored form is the
   user's. */
#include "em/kernel/kernels.h"
#include "em/kernel/losers.h"
#include "em/kernel/pairs.h"
#include "em/kernel/parts.h"
#include "em/kernel/permute.h"

#include <stdbool.h>

enum {
  LEAST = 12, /* bytes; of smaller records, the tree moves more a second */
};

/* Pairs are in the work memory, behind its head. */
static void sort_task(void *arg, int task, int member) {
  (void)member;
  const struct parts_job *const job = arg;
  const size_t begin = part_begin(job->n, job->parts, task);
  const size_t end = part_begin(job->n, job->parts, task + 1);
  struct losers_pair *const pair = (void *)(job->work + PARTS_HEAD);
  struct record_order o;
  record_order(job->r, &o);
  pairs_of_records(&o, job->records, begin, end - begin, pair + begin);
}

static bool pointer_fits(const struct pems_record *r) {
  return !r->compare && r->size >= LEAST && pems_record_check(r, NULL) == 0;
}

static size_t pointer_sort_work(const struct pems_record *r, size_t n,
                                int threads) {
  (void)r;
  (void)threads;
  return PARTS_HEAD + n * sizeof(struct losers_pair);
}

static void pointer_sort(const struct pems_record *r, struct team *team,
                         void *records, size_t n, void *work) {
  parts_sort(r, team, records, n, work, sort_task);
}

static void pointer_emit(const struct pems_record *r, const void *records,
                         size_t n, const void *work, size_t first, size_t count,
                         void *out) {
  const int parts = parts_of(work);
  const char *const pairs = (const char *)work + PARTS_HEAD;
  const size_t step = sizeof(struct losers_pair);
  struct losers_leaf leaf[PARTS_MOST];
  unsigned __int128 room[PARTS_MOST];
  struct record_order o;
  record_order(r, &o);
  for (int i = 0; i < parts; i++) {
    leaf[i] = (struct losers_leaf){
        .at = pairs + part_begin(n, parts, i) * step,
        .end = pairs + part_begin(n, parts, i + 1) * step,
        .base = records,
    };
  }
  losers_skip(&o, LOSERS_PAIRS, leaf, parts, first);
  losers_merge(&o, LOSERS_PAIRS, leaf, parts, count, out, room);
}

/* --- arrays --- */

/* Bytes of a number of a record. */
static size_t number_bytes(size_t n) {
  return n <= UINT32_MAX ? 4 : 8;
}

/* The pairs' numbers are all that is needed once they are sorted: in the same
   memory, with records that are laid aside behind them. */
static size_t pointer_array_work(const struct pems_record *r, size_t n) {
  const size_t pairs = n * sizeof(struct losers_pair);
  const size_t rest = n * number_bytes(n) + permute_work(r->size);
  return pairs > rest ? pairs : rest;
}

static void keep_numbers(const struct losers_pair *pair, size_t n, void *to) {
  for (size_t i = 0; i < n; i++) {
    const uint64_t index = pair[i].index;
    const uint32_t number = (uint32_t)index;
    if (number_bytes(n) == 4) {
      memcpy((char *)to + i * 4, &number, 4);
    } else {
      memcpy((char *)to + i * 8, &index, 8);
    }
  }
}

static void pointer_array(const struct pems_record *r, void *records, size_t n,
                          void *work) {
  const size_t bytes = number_bytes(n);
  struct record_order o;
  record_order(r, &o);
  pairs_of_records(&o, records, 0, n, work);
  keep_numbers(work, n, work);
  permute(records, r->size, n, work, bytes, (char *)work + n * bytes);
}

const struct kernel kernel_pointer = {
    .name = "pointer",
    .help = "sorts prefixes of keys with numbers of records, and moves records "
            "once",
    .fits = pointer_fits,
    .sort_work = pointer_sort_work,
    .sort = pointer_sort,
    .emit = pointer_emit,
    .array_work = pointer_array_work,
    .array = pointer_array,
    .compare = record_compare,
    .rank = record_rank,
    .merge_work = losers_pieces_work,
    .merge = losers_pieces,
};
