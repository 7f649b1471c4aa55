#include "tasks/overflow.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "os/lock.h"
#include "os/native.h"
#include "tasks/bags.h"
#include "tasks/kind.h"
#include "tasks/packed_heap.h"
#include "tasks/spill_block.h"

/* Buffers for writing, and for blocks that come next. */
#define WRITES 2
#define READS 2
_Static_assert(WRITES + READS == TASK_SPILL_BUFFERS, "as many as are counted");

struct buffer {
  unsigned char *bytes;
  int used; /* a request is or was under way */
  struct task_packed packed;
  struct pems_request request;
};

struct task_overflow {
  const struct task_overflow_bags *bags;
  struct pems_disks *disks;
  int own_disks;
  struct pems_dealer dealer;
  size_t block; /* bytes */
  size_t stride;
  int chunk;
  _Atomic uint64_t first; /* of all that is packed */
  _Atomic size_t blocks;  /* packed: in the heap or in a buffer of `read` */
  struct lock lock;       /* for all that follows */
  struct buffer write[WRITES], read[READS];
  int turn; /* of the buffers for writing */
  struct task_packed_heap heap;
  uint64_t spilled, fetched, waits;
};

uint64_t task_overflow_first(const struct task_overflow *o) {
  return atomic_load_explicit(&o->first, memory_order_relaxed);
}

bool task_overflow_empty(const struct task_overflow *o) {
  return !atomic_load_explicit(&o->blocks, memory_order_relaxed);
}

/* --- which block is first --- */

/* The buffer for reading whose block is first; NULL: the heap's is, or none. */
static struct buffer *first_buffer(struct task_overflow *o) {
  struct buffer *first = NULL;
  for (int i = 0; i < READS; i++) {
    struct buffer *const b = &o->read[i];
    if (b->used && (!first || b->packed.first < first->packed.first)) {
      first = b;
    }
  }
  if (first && o->heap.n && o->heap.item[0].first < first->packed.first) {
    return NULL;
  }
  return first;
}

static void publish_first(struct task_overflow *o) {
  const struct buffer *const b = first_buffer(o);
  const uint64_t first = b           ? b->packed.first
                         : o->heap.n ? o->heap.item[0].first
                                     : UINT64_MAX;
  size_t blocks = o->heap.n;
  for (int i = 0; i < READS; i++) {
    blocks += o->read[i].used != 0;
  }
  atomic_store_explicit(&o->first, first, memory_order_relaxed);
  atomic_store_explicit(&o->blocks, blocks, memory_order_relaxed);
}

/* --- requests --- */

static void start(struct task_overflow *o, struct buffer *b, bool write) {
  b->request = (struct pems_request){
      .block = b->packed.block, .buf = b->bytes, .n = o->block, .write = write};
  b->used = 1;
  struct pems_request *const request = &b->request;
  pems_disks_start(o->disks, &request, 1);
}

/* Waits for a request, if there is one; the buffer stays used. */
static int finish(struct task_overflow *o, struct pems_sched *sched,
                  struct buffer *b) {
  if (!b->used) {
    return 0;
  }
  if (!pems_request_test(&b->request)) {
    o->waits++;
  }
  const int code = pems_request_wait(o->disks, &b->request);
  return code ? task_fail(sched, code, "scheduler: scratch disk: %s: %s: %s",
                          pems_disks_path(o->disks, b->packed.block.disk),
                          strerror(code),
                          code == ENOSPC ? "free some space, or name another"
                                         : "name another")
              : 0;
}

/* Reads wait for writes of what they read. */
static int settle(struct task_overflow *o, struct pems_sched *sched,
                  struct pems_block block) {
  for (int i = 0; i < WRITES; i++) {
    struct buffer *const b = &o->write[i];
    if (!b->used || b->packed.block.disk != block.disk ||
        b->packed.block.at != block.at) {
      continue;
    }
    const int code = finish(o, sched, b);
    b->used = 0;
    return code;
  }
  return 0;
}

/* Asks for the blocks that come first, as far as there are buffers. */
static int read_ahead(struct task_overflow *o, struct pems_sched *sched) {
  for (int i = 0; i < READS && o->heap.n; i++) {
    struct buffer *const b = &o->read[i];
    if (b->used) {
      continue;
    }
    b->packed = task_packed_take(&o->heap);
    const int code = settle(o, sched, b->packed.block);
    if (code) {
      return code;
    }
    start(o, b, false);
  }
  return 0;
}

/* --- packing --- */

struct packing {
  struct task_overflow *overflow;
  struct task_bags_worker *worker;
  struct task_spill spill;
  uint64_t first; /* end of the first bag */
};

static void pack_chunk(struct packing *p, struct task_bag *bag,
                       struct task_chunk *chunk) {
  const size_t stride = p->overflow->stride;
  const struct task_part part = {bag, chunk->n - chunk->at};
  task_spill_add(&p->spill, &part,
                 (const unsigned char *)chunk->record + chunk->at * stride,
                 stride);
  p->overflow->spilled += part.n;
  p->first = bag->end;
  task_chunk_free(p->worker->part, chunk);
}

/* Packs from the last bag on, but nothing of those that end up to *keep, and of
   the bag that the worker is at, and those before it, only if there is nothing
   else. */
static void pack(struct packing *p, const uint64_t *keep) {
  struct task_bags_worker *const w = p->worker;
  const struct task_overflow *const o = p->overflow;
  const size_t most = task_spill_needs((uint64_t)o->chunk, o->stride);
  struct task_map_place at = task_map_behind(&w->map);
  for (struct task_bag *bag; (bag = task_map_previous(&w->map, &at));) {
    if ((keep && bag->end <= *keep) ||
        (p->spill.parts && w->bag && bag->end <= w->bag->end)) {
      return;
    }
    while (p->spill.room >= most) {
      struct task_chunk *chunk = o->bags->grab(w, bag);
      if (!chunk) {
        break;
      }
      pack_chunk(p, bag, chunk);
    }
    if (p->spill.room < most) {
      return;
    }
  }
}

/* The chunks that are free now; -1 after a failure. Locked. */
static int spill_locked(struct task_overflow *o, struct task_bags_worker *w,
                        const uint64_t *keep) {
  struct pems_sched *const sched = w->bags->sched;
  struct buffer *const b = &o->write[o->turn];
  if (finish(o, sched, b)) {
    return -1;
  }
  b->used = 0;
  if (o->bags->catch_up(w) || task_packed_room(&o->heap)) {
    task_fail(sched, ENOMEM, "scheduler: no memory: free some");
    return -1;
  }
  struct packing p = {o, w, task_spill_begin(b->bytes, o->block), 0};
  pack(&p, keep);
  if (!p.spill.parts) {
    return 0;
  }
  task_spill_end(&p.spill);
  struct pems_error error;
  b->packed.first = p.first;
  if (pems_block_new(o->disks, &o->dealer, o->block, &b->packed.block,
                     &error)) {
    task_fail(sched, error.code, "%s", error.text);
    return -1;
  }
  start(o, b, true);
  o->turn = (o->turn + 1) % WRITES;
  task_packed_add(&o->heap, b->packed);
  publish_first(o);
  return (int)p.spill.parts; /* each of a chunk */
}

/* A chunk for the worker, after others have gone to disk if need be, of bags
   that end behind *keep; where nothing is found that may go, the limit gives
   way. NULL after a failure, or if there is no memory. Locked. */
static struct task_chunk *make_chunk_locked(struct task_overflow *o,
                                            struct task_bags_worker *w,
                                            const uint64_t *keep) {
  struct task_chunk *chunk;
  while (!(chunk = task_chunk_new(w->part, 1))) {
    const int freed = spill_locked(o, w, keep);
    if (freed < 0) {
      return NULL;
    }
    if (!freed) {
      return task_chunk_beyond(w->part);
    }
  }
  return chunk;
}

struct task_chunk *task_overflow_chunk(struct task_bags_worker *w) {
  struct task_overflow *const o = w->bags->overflow;
  lock_take(&o->lock);
  struct task_chunk *const chunk = make_chunk_locked(o, w, NULL);
  lock_give(&o->lock);
  return chunk;
}

/* --- unpacking --- */

/* Adds n records to a bag, in the chunk that the worker fills; only what is
   behind `first` may go to disk for it: parts may be of
   a few records each, and must not take a chunk each. */
static int put_back_locked(struct task_overflow *o, struct task_bags_worker *w,
                           uint64_t first, struct task_bag *bag,
                           const unsigned char *from, uint64_t n) {
  while (n) {
    struct task_chunk *chunk = bag->filling[w->thread];
    if (!chunk || chunk->n == chunk->most) {
      bag->filling[w->thread] = NULL;
      if (chunk) {
        o->bags->publish(w, bag, chunk);
      }
      if (!(chunk = make_chunk_locked(o, w, &first))) {
        return -1;
      }
      bag->filling[w->thread] = chunk;
    }
    const uint64_t room = chunk->most - chunk->n, m = n < room ? n : room;
    memcpy((unsigned char *)chunk->record + chunk->n * o->stride, from,
           m * o->stride);
    chunk->n += (uint32_t)m;
    from += m * o->stride;
    n -= m;
  }
  return o->bags->come_back(w, bag) ? -1 : 0;
}

static int unpack_locked(struct task_overflow *o, struct task_bags_worker *w,
                         const struct buffer *b) {
  struct task_unspill u = task_unspill_begin(b->bytes);
  const unsigned char *records;
  struct task_part part;
  while (task_unspill_next(&u, &part, &records, o->stride)) {
    if (put_back_locked(o, w, b->packed.first, part.bag, records, part.n)) {
      return -1;
    }
    o->fetched += part.n;
  }
  return 0;
}

static int no_chunk(struct task_bags_worker *w) {
  const int code = pems_sched_failure(w->bags->sched, NULL);
  return code ? code
              : task_fail(w->bags->sched, ENOMEM,
                          "scheduler: no memory: free some");
}

/* The first block, in a buffer; NULL: there is none, or a failure. Locked. */
static struct buffer *first_block_locked(struct task_overflow *o,
                                         struct pems_sched *sched, int *code) {
  struct buffer *b = first_buffer(o);
  *code = 0;
  if (!b && o->heap.n) {
    /* One came later than those that were asked for, and is before them. */
    b = &o->read[0];
    if (b->used) {
      const struct task_packed late = b->packed;
      if ((*code = finish(o, sched, b)) ||
          (*code = task_packed_room(&o->heap))) {
        return NULL;
      }
      b->packed = task_packed_take(&o->heap);
      task_packed_add(&o->heap, late);
    } else {
      b->packed = task_packed_take(&o->heap);
    }
    if ((*code = settle(o, sched, b->packed.block))) {
      return NULL;
    }
    start(o, b, false);
  }
  if (b && (*code = finish(o, sched, b))) {
    return NULL;
  }
  return b;
}

int task_overflow_fetch(struct task_bags_worker *w) {
  struct task_overflow *const o = w->bags->overflow;
  struct pems_sched *const sched = w->bags->sched;
  int code;
  lock_take(&o->lock);
  struct buffer *const b = first_block_locked(o, sched, &code);
  if (b) {
    b->used = 0; /* what it holds is no longer packed */
    if (unpack_locked(o, w, b)) {
      code = no_chunk(w);
    }
    pems_block_free(o->disks, b->packed.block, o->block);
    if (!code) {
      code = read_ahead(o, sched);
    }
  }
  publish_first(o);
  lock_give(&o->lock);
  return code;
}

/* --- making --- */

static int make_buffers(struct task_overflow *o, struct pems_error *error) {
  unsigned char *bytes =
      native_aligned(PEMS_DISK_UNIT, TASK_SPILL_BUFFERS * o->block);
  if (!bytes) {
    return task_no_memory(error);
  }
  for (int i = 0; i < WRITES; i++) {
    o->write[i].bytes = bytes + (size_t)i * o->block;
  }
  for (int i = 0; i < READS; i++) {
    o->read[i].bytes = bytes + (size_t)(WRITES + i) * o->block;
  }
  return 0;
}

int task_overflow_open(struct task_overflow **overflow,
                       const struct pems_sched *s,
                       const struct task_overflow_bags *bags, uint64_t *limit,
                       struct pems_error *error) {
  const struct pems_sched_options *const options = &s->options;
  *overflow = NULL;
  struct task_overflow *o = native_zalloc(1, sizeof(*o));
  if (!o) {
    return task_no_memory(error);
  }
  lock_init(&o->lock, LOCK_TASK_OVERFLOW);
  o->bags = bags;
  o->stride = s->stride;
  o->chunk = options->chunk;
  o->block = task_spill_bytes(options->memory, (size_t)o->chunk * o->stride);
  atomic_store_explicit(&o->first, UINT64_MAX, memory_order_relaxed);
  o->disks = options->disks;
  int code = task_spill_check(options->memory, (size_t)o->chunk * o->stride,
                              s->threads, error);
  if (!code) {
    code = make_buffers(o, error);
  }
  if (!code && !o->disks) {
    code = pems_disks_open(&o->disks, &options->scratch, error);
    o->own_disks = !code;
  }
  if (code) {
    task_overflow_close(o);
    return code;
  }
  pems_dealer_begin(&o->dealer, PEMS_DEAL_CYCLIC, options->seed);
  /* When chunks have taken all, each thread may still need a slab for bags. */
  *limit = options->memory - TASK_SPILL_BUFFERS * o->block -
           (size_t)s->threads * TASK_SLAB;
  *overflow = o;
  return 0;
}

/* Gives back what is on disk, where the disks go on. */
static void free_blocks(struct task_overflow *o) {
  for (int i = 0; i < READS; i++) {
    if (!o->read[i].used) {
      continue;
    }
    pems_request_wait(o->disks, &o->read[i].request);
    pems_block_free(o->disks, o->read[i].packed.block, o->block);
  }
  for (int i = 0; i < WRITES; i++) {
    if (o->write[i].used) {
      pems_request_wait(o->disks, &o->write[i].request);
    }
  }
  for (size_t i = 0; i < o->heap.n; i++) {
    pems_block_free(o->disks, o->heap.item[i].block, o->block);
  }
}

void task_overflow_close(struct task_overflow *o) {
  if (!o) {
    return;
  }
  if (o->disks) {
    free_blocks(o);
  }
  if (o->own_disks) {
    pems_disks_close(o->disks);
  }
  native_free(o->write[0].bytes);
  native_free(o->heap.item);
  lock_destroy(&o->lock);
  native_free(o);
}

void task_overflow_counts(const struct task_overflow *o,
                          struct pems_sched_counts *c) {
  c->memory += TASK_SPILL_BUFFERS * o->block;
  c->memory_most += TASK_SPILL_BUFFERS * o->block;
  c->spilled = o->spilled;
  c->fetched = o->fetched;
  c->waits = o->waits;
  pems_disks_counts(o->disks, &c->io);
}
