/* A priority queue's way to the disks: external arrays are written, and levels
   of arrays merged, in memory and on disk (Bingmann, Keh and Sanders 2015,
   section 3). */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/failure.h"
#include "em/core/request_list.h"
#include "em/pqueue/pqueue.h"
#include "em/sort/merge_pass.h"
#include "em/sort/parallel_merge.h"
#include "os/native.h"

static int no_memory(struct pems_error *error, size_t n) {
  return failure(error, ENOMEM,
                 "memory of a priority queue: %zu bytes for a list: free some",
                 n);
}

/* Every stream is dealt in its own way. */
static void next_stream(struct pems_pqueue *q) {
  q->s.o.seed += 0x9e3779b97f4a7c15u;
}

/* --- the lists of blocks on disk --- */

/* Of one block: where it is, and its first record. */
static size_t listed_bytes(const struct pems_pqueue *q) {
  return sizeof(struct pems_block) + pq_size(q);
}

void pqueue_lists_settle(struct pems_pqueue *q) {
  const size_t room = q->plan.room_bytes;
  const size_t wanted = (room / q->s.plan.block + 2) * listed_bytes(q);
  memory_settle(&q->s.memory, wanted < room / 4 ? wanted : room / 4);
}

/* Lists so many records more, of a run that is written now: within the budget,
   for which blocks in memory may be given up. */
static int list_run(struct pems_pqueue *q, struct run *run, uint64_t records,
                    struct pems_error *error) {
  const size_t blocks = (size_t)(records / q->s.runs.per_block) + 1;
  const uint64_t bytes = blocks * listed_bytes(q);
  if (!memory_fits(&q->s.memory, bytes)) {
    pqueue_lists_settle(q);
  }
  if (!memory_fits(&q->s.memory, bytes)) {
    disk_arrays_settle(q->external);
    disk_arrays_unload(q->external);
    pqueue_lists_settle(q);
  }
  if (!memory_fits(&q->s.memory, bytes)) {
    return failure(error, ENOMEM,
                   "memory of a priority queue: lists of the blocks on disk, "
                   "%zu bytes for each of %zu: give more, or larger blocks",
                   listed_bytes(q), q->s.plan.block);
  }
  return run_resize(&q->s.runs, run, blocks) ? no_memory(error, bytes) : 0;
}

/* --- what is written where it was sorted --- */

static int start_writes(struct pems_pqueue *q, struct pems_error *error) {
  struct runs *const runs = &q->s.runs;
  struct pqueue_pending *const p = &q->pending;
  struct request_list list = {.disks = q->s.disks};
  struct pems_dealer dealer;
  size_t left = q->area.n;
  char *at = q->area.base;
  next_stream(q);
  pems_dealer_begin(&dealer, q->s.o.deal, q->s.o.seed);
  int failed = list_run(q, &p->run, left, error);
  while (left > 0 && !failed) {
    const size_t n = left < runs->per_block ? left : runs->per_block;
    struct pems_block block;
    failed = run_add_block(runs, &p->run, &dealer, at, n, &block, error);
    if (failed) {
      break;
    }
    q->requests[p->requests] = (struct pems_request){
        .block = block, .buf = at, .n = run_bytes(runs, n), .write = 1};
    request_list_add(&list, &q->requests[p->requests++]);
    at += runs->block;
    left -= n;
  }
  request_list_start(&list);
  return failed;
}

/* What the records do not take can be used at once. */
static int write_in_place(struct pems_pqueue *q, struct pems_error *error) {
  struct pqueue_area *const a = &q->area;
  const size_t bytes = arena_rounded(&q->arena, a->n * pq_size(q));
  if (bytes < a->bytes) {
    arena_put(&q->arena, a->base + bytes, a->bytes - bytes);
  }
  q->pending.range = a->base;
  q->pending.bytes = bytes;
  q->counts.sorted_arrays++;
  const int failed = start_writes(q, error);
  *a = (struct pqueue_area){0};
  return failed;
}

static int wait_writes(struct pems_pqueue *q) {
  struct pqueue_pending *const p = &q->pending;
  int failed = 0;
  for (size_t i = 0; i < p->requests; i++) {
    const int error = pems_request_wait(q->s.disks, &q->requests[i]);
    failed = failed ? failed : error;
  }
  p->requests = 0;
  return failed;
}

void pqueue_flush_abandon(struct pems_pqueue *q) {
  wait_writes(q);
  runs_drop(&q->s.runs, &q->pending.run);
}

/* --- what is copied to blocks that are written --- */

/* The next n records to be written, to `out`. */
typedef void source_fn(struct pems_pqueue *q, void *state, size_t n, char *out);

static int write_records(struct pems_pqueue *q, uint64_t left, source_fn *next,
                         void *state, struct run *run,
                         struct pems_error *error) {
  const int blocks = (int)(q->reserve_bytes / q->s.plan.block);
  struct run_writer *w = NULL;
  next_stream(q);
  /* Before the reserve is free: it must not be what makes up for the list. */
  int failed = list_run(q, run, left, error);
  if (failed) {
    return failed;
  }
  memory_put(&q->s.memory, q->reserve, q->reserve_bytes);
  q->reserve = NULL;
  failed = run_writer_new(&w, &q->s, blocks, run, NULL, error);
  while (!failed && left > 0) {
    void *space;
    size_t room;
    failed = run_writer_space(w, &space, &room, error);
    if (failed) {
      break;
    }
    room = room < left ? room : (size_t)left;
    next(q, state, room, space);
    left -= room;
    failed = run_writer_filled(w, room, error);
  }
  if (!failed) {
    failed = run_writer_finish(w, error);
  }
  run_writer_free(w);
  q->reserve = memory_get(&q->s.memory, q->reserve_bytes);
  return failed;
}

static void emit_next(struct pems_pqueue *q, void *state, size_t n, char *out) {
  size_t *const done = state;
  pqueue_area_emit(q, *done, n, out);
  *done += n;
}

static int write_emitted(struct pems_pqueue *q, struct run *run,
                         struct pems_error *error) {
  size_t done = 0;
  pqueue_area_sort_records(q);
  q->counts.sorted_arrays++;
  const int failed = write_records(q, q->area.n, emit_next, &done, run, error);
  pqueue_area_forget(q);
  return failed;
}

static void merge_next(struct pems_pqueue *q, void *state, size_t n,
                       char *out) {
  struct memory_arrays *const all = &q->arrays;
  int pieces = 0;
  (void)state;
  for (int i = 0; i < all->end; i++) {
    if (all->array[i].n) {
      q->piece[pieces] =
          (struct kernel_piece){all->array[i].at, all->array[i].n};
      q->piece_slot[pieces++] = i;
    }
  }
  pqueue_merge_pieces(q, pieces, all->records, n, out, false);
  for (int i = 0; i < pieces; i++) {
    if (q->piece_end[i]) {
      memory_arrays_gone(all, q->piece_slot[i], q->piece_end[i]);
    }
  }
}

/* --- external arrays --- */

/* Bytes of the largest free range. */
static size_t largest_range(struct pems_pqueue *q) {
  size_t bytes = 0;
  char *const largest = arena_get_largest(&q->arena, 1, SIZE_MAX, &bytes);
  if (largest) {
    arena_put(&q->arena, largest, bytes);
  }
  return bytes;
}

static int merge_level(struct pems_pqueue *q, int level,
                       struct pems_error *error) {
  struct runs *const runs = &q->s.runs;
  const size_t count = disk_arrays_level_arrays(q->external, level);
  struct sort_merge_plan plan;
  struct run out = {0};
  for (size_t i = 0; i < count; i++) {
    if (!runs_add(runs)) {
      return no_memory(error, count * sizeof(*runs->run));
    }
  }
  disk_arrays_take(q->external, level, runs->run);
  pqueue_lists_settle(q);
  q->s.o.merge_memory = largest_range(q);
  /* Which its plan divides into buffers and lists. */
  memory_settle(&q->s.memory, 0);
  next_stream(q);
  int failed = merge_pass_reduce(&q->s, &plan, error);
  if (!failed) {
    failed = merge_pass_merge(&q->s, &plan, 0, runs->count, &out, error);
  }
  if (!failed) {
    failed = disk_arrays_add(q->external, &out, level + 1, error);
  }
  if (failed) {
    runs_drop(runs, &out);
  }
  for (size_t i = 0; i < runs->count; i++) {
    runs_drop(runs, &runs->run[i]);
  }
  runs->count = 0;
  pqueue_lists_settle(q);
  q->counts.external_merges++;
  return failed;
}

/* Bytes in one piece that merging so many arrays at once takes, about, where
   their blocks are few. */
static size_t merge_bytes(const struct pems_pqueue *q, size_t count) {
  return (count + 8) * q->s.plan.block + q->reserve_bytes +
         q->plan.work_each * (size_t)q->o.threads;
}

static bool has_range(struct pems_pqueue *q, size_t n) {
  size_t bytes;
  char *const range = arena_get_largest(&q->arena, n, n, &bytes);
  if (range) {
    arena_put(&q->arena, range, bytes);
  }
  return range != NULL;
}

/* Whether there is memory now to merge the arrays of a level at once, with the
   lists of their blocks (of all arrays, to be safe). */
static bool can_merge(struct pems_pqueue *q, int level) {
  const struct disk_arrays *const x = q->external;
  const size_t count = disk_arrays_level_arrays(x, level);
  const uint64_t blocks = disk_arrays_records(x) / q->s.runs.per_block +
                          2 * (uint64_t)disk_arrays_number(x);
  struct sort_merge_plan plan;
  pqueue_lists_settle(q);
  if (!has_range(q, merge_bytes(q, count))) {
    return false;
  }
  q->s.o.merge_memory = largest_range(q);
  return sort_merge_plan(&plan, &q->s.o, q->s.kernel, q->s.counts.disks,
                         q->s.plan.block, count, blocks) == 0 &&
         plan.runs >= count;
}

static int fullest_level(const struct disk_arrays *x) {
  int fullest = 0;
  for (int level = 1; level <= disk_arrays_levels(x); level++) {
    if (disk_arrays_level_arrays(x, level) >
        disk_arrays_level_arrays(x, fullest)) {
      fullest = level;
    }
  }
  return fullest;
}

static bool holds_records(const struct pems_pqueue *q) {
  return q->pending.range || q->area.n || q->arrays.records || q->buffer.n;
}

/* As in the plan, but for what lists have taken from the arena. */
static size_t most_external(const struct pems_pqueue *q) {
  const size_t blocks =
      arena_bytes(&q->arena) / arena_rounded(&q->arena, q->s.plan.block);
  const size_t most = pqueue_plan_external(blocks);
  return most < q->plan.most_external ? most : q->plan.most_external;
}

/* There are more arrays than blocks of each may be in memory: some are merged,
   and what else is in memory makes room for that, if it must. */
static int reduce_now(struct pems_pqueue *q, struct pems_error *error) {
  const int level = fullest_level(q->external);
  disk_arrays_settle(q->external);
  pqueue_area_trim(q);
  if (q->buffer.range && !q->buffer.n) {
    pqueue_buffer_drop(q);
  }
  if (!can_merge(q, level) && holds_records(q)) {
    return pqueue_flush_all(q, error);
  }
  if (!can_merge(q, level)) {
    disk_arrays_unload(q->external);
  }
  return merge_level(q, level, error);
}

/* Merges levels that have too many arrays, if there is memory for it. */
static int reduce_external(struct pems_pqueue *q, struct pems_error *error) {
  struct disk_arrays *const x = q->external;
  int failed = 0;
  for (int level = 0; level <= disk_arrays_levels(x) && !failed; level++) {
    const size_t n = disk_arrays_level_arrays(x, level);
    if (n > q->plan.external_arrays && can_merge(q, level)) {
      failed = merge_level(q, level, error);
    }
  }
  while (!failed && disk_arrays_number(x) > most_external(q)) {
    failed = reduce_now(q, error);
  }
  return failed;
}

static int add_external(struct pems_pqueue *q, struct run *run,
                        struct pems_error *error) {
  const int failed = disk_arrays_add(q->external, run, 0, error);
  if (failed) {
    runs_drop(&q->s.runs, run);
  }
  pqueue_lists_settle(q);
  q->counts.flushes++;
  return failed ? failed : reduce_external(q, error);
}

int pqueue_flush_finish(struct pems_pqueue *q, struct pems_error *error) {
  struct pqueue_pending *const p = &q->pending;
  if (!p->range) {
    return 0;
  }
  const int failed = wait_writes(q);
  arena_put(&q->arena, p->range, p->bytes);
  p->range = NULL;
  if (failed) {
    return sort_io_failure(error, failed, "writing an array");
  }
  return add_external(q, &p->run, error);
}

/* --- flushes --- */

/* The extract buffer stays only where it is before all that is written. */
static void check_buffer(struct pems_pqueue *q) {
  if (pqueue_buffer_overlaps_area(q)) {
    pqueue_buffer_give_up(q);
  }
}

int pqueue_flush_area(struct pems_pqueue *q, struct pems_error *error) {
  struct run run = {0};
  const bool whole = q->s.plan.block % pq_size(q) == 0;
  check_buffer(q);
  /* While the last one is still being written. */
  if (whole && !q->s.kernel->emit) {
    pqueue_area_sort_records(q);
  }
  int failed = pqueue_flush_finish(q, error);
  q->top = PQ_UNKNOWN;
  if (failed || q->area.n == 0) {
    return failed;
  }
  const bool ordered = q->area.sorted || pqueue_area_in_order(q);
  if (!whole || (q->s.kernel->emit && !ordered)) {
    failed = write_emitted(q, &run, error);
    if (failed) {
      runs_drop(&q->s.runs, &run);
    }
    return failed ? failed : add_external(q, &run, error);
  }
  if (!ordered) {
    pqueue_area_sort_records(q);
  }
  failed = write_in_place(q, error);
  /* More arrays than this must not be read at once: they are merged now, with
     all the memory that there is. */
  if (!failed && disk_arrays_number(q->external) >= most_external(q)) {
    failed = pqueue_flush_finish(q, error);
  }
  return failed;
}

int pqueue_flush_all(struct pems_pqueue *q, struct pems_error *error) {
  struct run run = {0};
  int failed = pqueue_flush_finish(q, error);
  if (failed) {
    return failed;
  }
  const bool left = q->area.n && !pqueue_area_to_array(q);
  pqueue_buffer_give_up(q);
  q->top = PQ_UNKNOWN;
  if (q->arrays.records == 0) {
    failed = left ? pqueue_flush_area(q, error) : 0;
    return failed ? failed : pqueue_flush_finish(q, error);
  }
  failed = write_records(q, q->arrays.records, merge_next, NULL, &run, error);
  if (failed) {
    runs_drop(&q->s.runs, &run);
  }
  return failed ? failed : add_external(q, &run, error);
}

/* --- room --- */

int pqueue_make_room(struct pems_pqueue *q, size_t n,
                     struct pems_error *error) {
  int failed = 0;
  if (!has_range(q, n)) {
    failed = pqueue_flush_finish(q, error);
  }
  if (!failed && !has_range(q, n)) {
    pqueue_area_trim(q);
  }
  if (!failed && !has_range(q, n) && q->buffer.range && !q->buffer.n) {
    pqueue_buffer_drop(q);
  }
  while (!failed && !has_range(q, n) && holds_records(q)) {
    failed = pqueue_flush_all(q, error);
  }
  pqueue_area_trim(q);
  /* What is left are blocks, scattered. */
  if (!failed && !has_range(q, n)) {
    disk_arrays_settle(q->external);
  }
  if (!failed && !has_range(q, n)) {
    disk_arrays_unload(q->external);
    pqueue_lists_settle(q);
  }
  if (!failed && !has_range(q, n)) {
    failed = failure(error, ENOMEM,
                     "memory of a priority queue: %zu bytes in one piece: "
                     "give more",
                     n);
  }
  return failed;
}

/* --- internal arrays --- */

static void merge_internal(struct pems_pqueue *q, int level, size_t records,
                           char *out, size_t bytes) {
  struct memory_arrays *const all = &q->arrays;
  int pieces = 0;
  for (int i = 0; i < all->end; i++) {
    if (all->array[i].n && all->array[i].level == level) {
      q->piece[pieces] =
          (struct kernel_piece){all->array[i].at, all->array[i].n};
      q->piece_slot[pieces++] = i;
    }
  }
  pqueue_merge_pieces(q, pieces, records, records, out, false);
  for (int i = 0; i < pieces; i++) {
    memory_arrays_gone(all, q->piece_slot[i], q->piece_end[i]);
  }
  memory_arrays_add(all, out, records, out, bytes, level + 1);
  q->counts.internal_merges++;
}

static bool reduce_internal(struct pems_pqueue *q, int level) {
  const struct memory_arrays *const all = &q->arrays;
  size_t records = 0;
  if (memory_arrays_of_level(all, level) < q->plan.arrays) {
    return false;
  }
  for (int i = 0; i < all->end; i++) {
    if (all->array[i].n && all->array[i].level == level) {
      records += all->array[i].n;
    }
  }
  const size_t bytes = arena_rounded(&q->arena, records * pq_size(q));
  char *const out = arena_get(&q->arena, bytes);
  if (out) {
    merge_internal(q, level, records, out, bytes);
  }
  return out != NULL;
}

int pqueue_make_slot(struct pems_pqueue *q, struct pems_error *error) {
  for (int level = 0; reduce_internal(q, level); level++) {
    q->top = PQ_UNKNOWN;
  }
  return q->arrays.count < q->plan.most_arrays ? 0 : pqueue_flush_all(q, error);
}
