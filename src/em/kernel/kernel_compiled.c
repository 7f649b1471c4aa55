/* The kernel "compiled": loops that the program has compiled for its comparison
   (pems/kernel.h).

   Every member of the team lets them sort a part; the parts are merged while
   they are emitted. The stored form is the user's. */
#include "em/kernel/kernels.h"
#include "em/kernel/losers.h"
#include "em/kernel/parts.h"
#include "em/kernel/permute.h"
#include "os/bits.h"

enum { ALIGNED = 64 /* work memory of each part */ };

static const struct pems_kernel *loops_of(const struct pems_record *r) {
  return r->kernel;
}

static bool compiled_fits(const struct pems_record *r) {
  return r->compare && r->kernel && pems_record_check(r, NULL) == 0;
}

static size_t aligned(size_t n) {
  return bits_round_up(n, ALIGNED);
}

/* --- sorting --- */

/* Work memory: its head, the index of all records if there is one, then that of
   each part. */
static size_t index_bytes(const struct pems_record *r, size_t n) {
  return loops_of(r)->indexed ? aligned(n * sizeof(uint32_t)) : 0;
}

static uint32_t *index_in(const void *work) {
  return (uint32_t *)((char *)work + PARTS_HEAD);
}

static size_t part_work(const struct pems_record *r, size_t n, int parts) {
  const size_t most = n / (size_t)parts + 1;
  return aligned(loops_of(r)->sort_work(most, r->stable));
}

static size_t compiled_sort_work(const struct pems_record *r, size_t n,
                                 int threads) {
  const int parts = parts_count(n, threads);
  return PARTS_HEAD + index_bytes(r, n) +
         (size_t)parts * part_work(r, n, parts);
}

static void sort_task(void *arg, int task, int member) {
  (void)member;
  const struct parts_job *const job = arg;
  const struct pems_record *const r = job->r;
  const struct pems_kernel *const loops = loops_of(r);
  const size_t begin = part_begin(job->n, job->parts, task);
  const size_t end = part_begin(job->n, job->parts, task + 1);
  char *const work = job->work + PARTS_HEAD + index_bytes(r, job->n) +
                     (size_t)task * part_work(r, job->n, job->parts);
  loops->sort(job->records + begin * r->size,
              loops->indexed ? index_in(job->work) + begin : NULL, end - begin,
              r->stable, work, r->context);
}

static void compiled_sort(const struct pems_record *r, struct team *team,
                          void *records, size_t n, void *work) {
  parts_sort(r, team, records, n, work, sort_task);
}

/* The sorted parts, without those records that are the first ones of all. */
static void skip(const struct pems_record *r, struct losers_leaf *leaf,
                 int parts, size_t first) {
  struct record_order o;
  record_order(r, &o);
  losers_skip(&o, loops_of(r)->indexed ? LOSERS_INDEX : LOSERS_RECORDS, leaf,
              parts, first);
}

static void compiled_emit(const struct pems_record *r, const void *records,
                          size_t n, const void *work, size_t first,
                          size_t count, void *out) {
  const struct pems_kernel *const loops = loops_of(r);
  const int parts = parts_of(work);
  const size_t step = loops->indexed ? sizeof(uint32_t) : r->size;
  const char *const list =
      loops->indexed ? (const char *)index_in(work) : records;
  struct losers_leaf leaf[PARTS_MOST];
  struct pems_kernel_piece piece[PARTS_MOST];
  _Alignas(16) char room[PARTS_MOST * PEMS_KERNEL_MERGE_WORK];
  for (int i = 0; i < parts; i++) {
    const size_t begin = part_begin(n, parts, i);
    leaf[i].base = (const char *)records + begin * r->size;
    leaf[i].at = list + begin * step;
    leaf[i].end = list + part_begin(n, parts, i + 1) * step;
  }
  skip(r, leaf, parts, first);
  for (int i = 0; i < parts; i++) {
    piece[i].at = leaf[i].at;
    piece[i].n = (size_t)(leaf[i].end - leaf[i].at) / step;
    piece[i].base = loops->indexed ? leaf[i].base : NULL;
  }
  loops->merge(piece, parts, count, r->stable, out, room, r->context);
}

/* --- arrays --- */

/* The index, then room for sorting it, and later for records that are laid
   aside. */
static size_t compiled_array_work(const struct pems_record *r, size_t n) {
  const size_t room = loops_of(r)->sort_work(n, r->stable) + ALIGNED;
  const size_t aside = permute_work(r->size);
  if (n > UINT32_MAX) {
    return SIZE_MAX;
  }
  return loops_of(r)->indexed
             ? index_bytes(r, n) + (room > aside ? room : aside)
             : room;
}

static void compiled_array(const struct pems_record *r, void *records, size_t n,
                           void *work) {
  const struct pems_kernel *const loops = loops_of(r);
  char *const behind = (char *)work + index_bytes(r, n);
  char *const room = behind + (aligned((uintptr_t)behind) - (uintptr_t)behind);
  loops->sort(records, loops->indexed ? work : NULL, n, r->stable, room,
              r->context);
  if (loops->indexed) {
    permute(records, r->size, n, work, sizeof(uint32_t), behind);
  }
}

/* --- merging --- */

static size_t compiled_merge_work(const struct pems_record *r, int pieces) {
  (void)r;
  return (size_t)pieces *
         (PEMS_KERNEL_MERGE_WORK + sizeof(struct pems_kernel_piece));
}

static void compiled_merge(const struct pems_record *r,
                           const struct kernel_piece *piece, int pieces,
                           void *out, void *work, int last) {
  (void)last;
  struct pems_kernel_piece *const list =
      (void *)((char *)work + (size_t)pieces * PEMS_KERNEL_MERGE_WORK);
  size_t count = 0;
  for (int i = 0; i < pieces; i++) {
    list[i] = (struct pems_kernel_piece){piece[i].at, piece[i].n, NULL};
    count += piece[i].n;
  }
  loops_of(r)->merge(list, pieces, count, r->stable, out, work, r->context);
}

const struct kernel kernel_compiled = {
    .name = "compiled",
    .help = "a comparison with loops of the program's own",
    .fits = compiled_fits,
    .sort_work = compiled_sort_work,
    .sort = compiled_sort,
    .emit = compiled_emit,
    .array_work = compiled_array_work,
    .array = compiled_array,
    .compare = record_compare,
    .rank = record_rank,
    .merge_work = compiled_merge_work,
    .merge = compiled_merge,
};
