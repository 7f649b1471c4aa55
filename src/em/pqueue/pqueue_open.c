/* Making and freeing a priority queue. */
#include "base/extensible.h"
#include "config/size.h"
#include "em/pqueue/pqueue.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/failure.h"
#include "base/forked.h"
#include "config/options.h"
#include "em/core/bisect.h"
#include "em/core/defaults.h"
#include "os/lock.h"
#include "os/native.h"

/* Less than this is not tried, more than this there is not. */
#define LEAST_MEMORY ((uint64_t)16 << 10)
#define MOST_MEMORY ((uint64_t)1 << 46)
enum { MOST_THREADS = 1024 };

/* --- options --- */

static int check_sizes(const struct pems_pqueue_options *o,
                       struct pems_error *error) {
  if (o->block % PEMS_DISK_UNIT || (o->block && o->block < o->record.size)) {
    return failure(error, EINVAL,
                   "block size: %zu bytes: give a multiple of %d that holds a "
                   "record",
                   o->block, PEMS_DISK_UNIT);
  }
  if (o->arrays < 0 || o->arrays == 1 || o->external_arrays < 0 ||
      o->external_arrays == 1 || o->arrays > 1 << 16) {
    return failure(error, EINVAL,
                   "arrays of a level: %d in memory, %d on disk: give 2 to "
                   "65536",
                   o->arrays, o->external_arrays);
  }
  if ((uintptr_t)o->room % 64) {
    return failure(error, EINVAL,
                   "room for records: %p: give memory aligned to 64 bytes",
                   o->room);
  }
  if (o->room && !o->memory) {
    return failure(error, EINVAL,
                   "room for records: its size is 0: say it in memory");
  }
  return 0;
}

static int check_options(const struct pems_pqueue_options *o,
                         struct pems_error *error) {
  const int failed = pems_record_check(&o->record, error);
  if (failed) {
    return failed;
  }
  if (o->record.stable) {
    return failure(error, EINVAL,
                   "stable: a priority queue has no order of equal records: "
                   "make it part of the key");
  }
  if (o->threads < 0 || o->threads > MOST_THREADS) {
    return failure(error, EINVAL, "threads: %d: give 1 to %d", o->threads,
                   MOST_THREADS);
  }
  if ((unsigned)o->deal > PEMS_DEAL_RANDOM) {
    return failure(error, EINVAL, "deal: %d: no such value: see pems/disk.h",
                   (int)o->deal);
  }
  return check_sizes(o, error);
}

/* With what pems chooses where the user does not. */
static struct pems_pqueue_options
chosen(const struct pems_pqueue_options *given) {
  struct pems_pqueue_options o = *given;
  if (!o.memory) {
    o.memory = defaults_memory();
  }
  if (!o.threads) {
    o.threads = defaults_threads();
  }
  return o;
}

static bool works_in(const void *options, uint64_t memory) {
  struct pems_pqueue_options o = *(const struct pems_pqueue_options *)options;
  struct pqueue_plan plan;
  o.memory = memory;
  return pqueue_plan(&plan, &o, kernel_find(&o.record, o.kernel)) == 0;
}

static int copy_options(struct pems_pqueue_options *o,
                        const struct pems_pqueue_options *given,
                        struct pems_error *error) {
  return extensible_copy(o, sizeof(*o), given, sizeof(*o),
                         "priority queue options", error);
}

uint64_t pems_pqueue_least_memory(const struct pems_pqueue_options *options) {
  struct pems_pqueue_options o;
  if (copy_options(&o, options, NULL) || check_options(&o, NULL)) {
    return 0;
  }
  o = chosen(&o);
  if (!kernel_find(&o.record, o.kernel)) {
    return 0;
  }
  return bisect_least(works_in, &o, LEAST_MEMORY, MOST_MEMORY);
}

static int too_small(const struct pems_pqueue_options *o,
                     struct pems_error *error) {
  char given[16];
  size_format(o->memory, given, sizeof(given));
  return failure(
      error, ENOMEM,
      "memory of a priority queue: %s: give %lluK or more (fewer threads or a "
      "smaller block need less)",
      given, (unsigned long long)(pems_pqueue_least_memory(o) + 1023) / 1024);
}

/* --- beginning and end --- */

/* What the parts that it shares with sorting look at. */
static int set_sort(struct pems_pqueue *q, struct pems_error *error) {
  struct sort *const s = &q->s;
  s->o = (struct pems_sort_options){
      .record = q->o.record,
      .memory = q->o.memory,
      .threads = q->o.threads,
      .merge_threads = q->o.threads,
      .disks = q->o.disks,
      .scratch = q->o.scratch,
      .block = q->plan.block,
      .deal = q->o.deal,
      .seed = q->o.seed,
  };
  s->plan.block = q->plan.block;
  s->plan.in_place = !s->kernel->emit && q->plan.block % q->o.record.size == 0;
  int failed = sort_open_disks(s, error);
  if (!failed) {
    failed = sort_team(s, q->o.threads, error);
  }
  if (failed) {
    return failed;
  }
  s->counts.disks = pems_disks_count(s->disks);
  runs_init(&s->runs, &s->memory, s->disks, q->plan.block, q->o.record.size);
  pems_disks_counts(s->disks, &q->io_before);
  return 0;
}

static size_t lanes_bytes(const struct pems_pqueue *q) {
  return q->plan.lane_records * pq_size(q) * (size_t)q->o.threads;
}

static size_t work_bytes(const struct pems_pqueue *q) {
  return q->plan.work_each * (size_t)q->o.threads;
}

/* Its own memory, or the caller's room, from the first whole page on; from now
   on buffers come from there. */
static int take_arena(struct pems_pqueue *q) {
  const size_t skip = -(uintptr_t)q->o.room & (MEMORY_PAGE - 1);
  char *base = q->o.room ? (char *)q->o.room + skip : NULL;
  if (base) {
    memory_note(&q->s.memory, (int64_t)q->plan.room_bytes);
  } else {
    base = q->own_room = memory_get(&q->s.memory, q->plan.room_bytes);
  }
  const int failed =
      base ? arena_init(&q->arena, base, q->plan.room_bytes, q->plan.unit)
           : ENOMEM;
  q->s.memory.arena = failed ? NULL : &q->arena;
  q->s.memory.own = q->own_room != NULL;
  return failed;
}

static int take_lists(struct pems_pqueue *q) {
  const struct pqueue_plan *const p = &q->plan;
  const size_t size = pq_size(q);
  q->lanes = memory_get(&q->s.memory, lanes_bytes(q));
  q->work = memory_get(&q->s.memory, work_bytes(q));
  q->lane = native_aligned(64, (size_t)q->o.threads * sizeof(*q->lane));
  q->piece = native_alloc(p->pieces * sizeof(*q->piece));
  q->piece_slot = native_alloc(p->pieces * sizeof(*q->piece_slot));
  q->piece_end = native_alloc(p->pieces * sizeof(*q->piece_end));
  q->requests =
      native_zalloc(p->room_bytes / p->block + 1, sizeof(*q->requests));
  q->few = native_zalloc(RECORDS, size);
  if (!q->lanes || !q->work || !q->lane || !q->piece || !q->piece_slot ||
      !q->piece_end || !q->requests || !q->few) {
    return ENOMEM;
  }
  q->noted =
      (size_t)q->o.threads * sizeof(*q->lane) +
      p->pieces *
          (sizeof(*q->piece) + sizeof(*q->piece_slot) + sizeof(*q->piece_end)) +
      (p->room_bytes / p->block + 1) * sizeof(*q->requests) + RECORDS * size;
  memory_note(&q->s.memory, (int64_t)q->noted);
  q->head = q->few;
  q->held = q->few + size;
  q->limit = q->few + 2 * size;
  q->limit_stored = q->few + 3 * size;
  q->least_stored = q->few + 4 * size;
  return 0;
}

static int take_memory(struct pems_pqueue *q, struct pems_error *error) {
  int failed = take_arena(q);
  if (!failed) {
    failed = take_lists(q);
  }
  if (!failed) {
    failed = memory_arrays_init(&q->arrays, &q->s.o.record, q->s.kernel,
                                &q->arena, q->plan.most_arrays + ARRAYS_SPARE);
  }
  if (failed) {
    return failure(error, failed,
                   "memory of a priority queue: %llu bytes: give it less",
                   (unsigned long long)q->o.memory);
  }
  q->reserve_bytes = q->plan.reserve_blocks * q->plan.block;
  q->reserve = memory_get(&q->s.memory, q->reserve_bytes);
  return 0;
}

/* Shares of the memory come in whole units: where a little more than the least
   would be too little again, the least is used. */
static int plan_memory(struct pems_pqueue *q) {
  if (pqueue_plan(&q->plan, &q->o, q->s.kernel) == 0) {
    return 0;
  }
  const uint64_t least = pems_pqueue_least_memory(&q->o);
  if (!least || least > q->o.memory) {
    return ENOMEM;
  }
  q->o.memory = least;
  return pqueue_plan(&q->plan, &q->o, q->s.kernel);
}

static int prepare(struct pems_pqueue *q, struct pems_error *error) {
  if (plan_memory(q)) {
    return too_small(&q->o, error);
  }
  int failed = set_sort(q, error);
  if (!failed) {
    failed = take_memory(q, error);
  }
  if (failed) {
    return failed;
  }
  const struct disk_arrays_options x = {
      .record = &q->s.o.record,
      .kernel = q->s.kernel,
      .runs = &q->s.runs,
      .arena = &q->arena,
  };
  failed = disk_arrays_new(&q->external, &x, error);
  if (!failed) {
    disk_arrays_budget(q->external, q->plan.read_blocks);
  }
  pqueue_lists_settle(q);
  return failed;
}

int pems_pqueue_new(struct pems_pqueue **queue,
                    const struct pems_pqueue_options *options,
                    struct pems_error *error) {
  struct pems_error e;
  *queue = NULL;
  struct pems_pqueue_options o;
  int failed = copy_options(&o, options, error);
  failed = failed ? failed : check_options(&o, error);
  if (failed) {
    return failed;
  }
  struct pems_pqueue *const q = native_zalloc(1, sizeof(*q));
  if (!q) {
    return failure(error, ENOMEM, "memory: a priority queue: free some");
  }
  q->o = chosen(&o);
  q->born = forked_now();
  q->before_limit = SIZE_MAX;
  record_order(&q->o.record, &q->order);
  /* Of reals, what < does not tell apart is not before a limit. */
  q->order.ties = q->order.nans != 0;
  memory_init(&q->s.memory, q->o.memory);
  runs_init(&q->s.runs, &q->s.memory, NULL, MEMORY_PAGE, q->o.record.size);
  lock_init(&q->lock, LOCK_PQUEUE);
  pthread_cond_init(&q->copied, NULL);
  q->s.kernel = kernel_choose(&q->o.record, q->o.kernel, &e);
  failed = q->s.kernel ? prepare(q, &e) : EINVAL;
  if (failed) {
    pems_pqueue_free(q);
    if (error) {
      *error = e;
    }
    return failed;
  }
  *queue = q;
  return 0;
}

static void free_lists(struct pems_pqueue *q) {
  q->s.memory.arena = NULL;
  memory_note(&q->s.memory, -(int64_t)q->noted);
  memory_put(&q->s.memory, q->own_room, q->plan.room_bytes);
  native_free(q->lane);
  native_free(q->piece);
  native_free(q->piece_slot);
  native_free(q->piece_end);
  native_free(q->requests);
  native_free(q->few);
}

void pems_pqueue_free(struct pems_pqueue *queue) {
  struct pems_pqueue *const q = queue;
  /* A child cannot wait for what threads of its parent do. */
  if (!q || forked_since(q->born)) {
    return;
  }
  pqueue_flush_abandon(q);
  disk_arrays_free(q->external);
  memory_arrays_destroy(&q->arrays);
  arena_destroy(&q->arena);
  free_lists(q);
  sort_end(&q->s);
  lock_destroy(&q->lock);
  pthread_cond_destroy(&q->copied);
  native_free(q);
}
