#include "tasks/overflow.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "base/failure.h"
#include "os/lock.h"
#include "os/native.h"
#include "tasks/bags.h"
#include "tasks/kind.h"

/* Buffers of a block each: for writing, and for blocks that come next. */
#define WRITES 2
#define READS 2
#define BUFFERS (WRITES + READS)
/* Bytes of a block: a part of the memory, within these bounds. */
#define LEAST_BLOCK ((size_t)16 << 10)
#define MOST_BLOCK ((size_t)1 << 20)
#define SHARE 64
/* Memory without which there is no point: for each thread, and for all. */
#define LEAST_FOR_THREAD ((uint64_t)512 << 10)
#define LEAST_FOR_ALL ((uint64_t)512 << 10)

/* A block of tasks on disk, or on the way. */
struct packed {
  uint64_t first; /* end of the first bag that it has tasks of */
  struct pems_block block;
};

/* A block: this, and then `parts` times a part with its records. */
struct contents {
  uint64_t parts;
};
struct part {
  struct task_bag *bag;
  uint64_t n; /* records */
};

struct buffer {
  unsigned char *bytes;
  int used; /* a request is or was under way */
  struct packed packed;
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
  int turn;            /* of the buffers for writing */
  struct packed *heap; /* by `first` */
  size_t n, room;
  uint64_t spilled, fetched, waits;
};

uint64_t task_overflow_first(const struct task_overflow *o) {
  return atomic_load_explicit(&o->first, memory_order_relaxed);
}

bool task_overflow_empty(const struct task_overflow *o) {
  return !atomic_load_explicit(&o->blocks, memory_order_relaxed);
}

/* --- blocks by their first bag --- */

static int heap_room(struct task_overflow *o) {
  if (o->n < o->room) {
    return 0;
  }
  const size_t room = o->room ? 2 * o->room : 64;
  struct packed *heap = native_realloc(o->heap, room * sizeof(*heap));
  if (!heap) {
    return ENOMEM;
  }
  o->heap = heap;
  o->room = room;
  return 0;
}

/* There is room. */
static void heap_add(struct task_overflow *o, struct packed packed) {
  size_t i = o->n++;
  for (; i && packed.first < o->heap[(i - 1) / 2].first; i = (i - 1) / 2) {
    o->heap[i] = o->heap[(i - 1) / 2];
  }
  o->heap[i] = packed;
}

static struct packed heap_take(struct task_overflow *o) {
  const struct packed least = o->heap[0], last = o->heap[--o->n];
  size_t i = 0;
  for (size_t child; (child = 2 * i + 1) < o->n; i = child) {
    if (child + 1 < o->n && o->heap[child + 1].first < o->heap[child].first) {
      child++;
    }
    if (last.first <= o->heap[child].first) {
      break;
    }
    o->heap[i] = o->heap[child];
  }
  o->heap[i] = last;
  return least;
}

/* The buffer for reading whose block is first; NULL: the heap's is, or none. */
static struct buffer *first_buffer(struct task_overflow *o) {
  struct buffer *first = NULL;
  for (int i = 0; i < READS; i++) {
    struct buffer *const b = &o->read[i];
    if (b->used && (!first || b->packed.first < first->packed.first)) {
      first = b;
    }
  }
  if (first && o->n && o->heap[0].first < first->packed.first) {
    return NULL;
  }
  return first;
}

static void publish_first(struct task_overflow *o) {
  const struct buffer *const b = first_buffer(o);
  const uint64_t first = b      ? b->packed.first
                         : o->n ? o->heap[0].first
                                : UINT64_MAX;
  size_t blocks = o->n;
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
  for (int i = 0; i < READS && o->n; i++) {
    struct buffer *const b = &o->read[i];
    if (b->used) {
      continue;
    }
    b->packed = heap_take(o);
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
  unsigned char *at;
  size_t room;
  uint64_t parts, first;
  int chunks;
};

static void pack_chunk(struct packing *p, struct task_bag *bag,
                       struct task_chunk *chunk) {
  const size_t stride = p->overflow->stride;
  const struct part part = {bag, chunk->n - chunk->at};
  const size_t n = part.n * stride;
  memcpy(p->at, &part, sizeof(part));
  memcpy(p->at + sizeof(part),
         (const unsigned char *)chunk->record + chunk->at * stride, n);
  p->at += sizeof(part) + n;
  p->room -= sizeof(part) + n;
  p->overflow->spilled += part.n;
  p->parts++;
  p->chunks++;
  p->first = bag->end;
  task_chunk_free(p->worker->part, chunk);
}

/* Packs from the last bag on, but nothing of those that end up to *keep, and of
   the bag that the worker is at, and those before it, only if there is nothing
   else. */
static void pack(struct packing *p, const uint64_t *keep) {
  struct task_bags_worker *const w = p->worker;
  const struct task_overflow *const o = p->overflow;
  const size_t most = sizeof(struct part) + (size_t)o->chunk * o->stride;
  struct task_map_place at = task_map_behind(&w->map);
  for (struct task_bag *bag; (bag = task_map_previous(&w->map, &at));) {
    if ((keep && bag->end <= *keep) ||
        (p->parts && w->bag && bag->end <= w->bag->end)) {
      return;
    }
    while (p->room >= most) {
      struct task_chunk *chunk = o->bags->grab(w, bag);
      if (!chunk) {
        break;
      }
      pack_chunk(p, bag, chunk);
    }
    if (p->room < most) {
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
  if (o->bags->catch_up(w) || heap_room(o)) {
    task_fail(sched, ENOMEM, "scheduler: no memory: free some");
    return -1;
  }
  struct packing p = {o,
                      w,
                      b->bytes + sizeof(struct contents),
                      o->block - sizeof(struct contents),
                      0,
                      0,
                      0};
  pack(&p, keep);
  if (!p.parts) {
    return 0;
  }
  const struct contents contents = {p.parts};
  memcpy(b->bytes, &contents, sizeof(contents));
  memset(p.at, 0, p.room);
  struct pems_error error;
  b->packed.first = p.first;
  if (pems_block_new(o->disks, &o->dealer, o->block, &b->packed.block,
                     &error)) {
    task_fail(sched, error.code, "%s", error.text);
    return -1;
  }
  start(o, b, true);
  o->turn = (o->turn + 1) % WRITES;
  heap_add(o, b->packed);
  publish_first(o);
  return p.chunks;
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
  const unsigned char *at = b->bytes;
  struct contents contents;
  memcpy(&contents, at, sizeof(contents));
  at += sizeof(contents);
  for (uint64_t i = 0; i < contents.parts; i++) {
    struct part part;
    memcpy(&part, at, sizeof(part));
    at += sizeof(part);
    if (put_back_locked(o, w, b->packed.first, part.bag, at, part.n)) {
      return -1;
    }
    at += part.n * o->stride;
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
  if (!b && o->n) {
    /* One came later than those that were asked for, and is before them. */
    b = &o->read[0];
    if (b->used) {
      const struct packed late = b->packed;
      if ((*code = finish(o, sched, b)) || (*code = heap_room(o))) {
        return NULL;
      }
      b->packed = heap_take(o);
      heap_add(o, late);
    } else {
      b->packed = heap_take(o);
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

static size_t block_bytes(uint64_t memory, size_t chunk_bytes) {
  const size_t least =
      sizeof(struct contents) + sizeof(struct part) + chunk_bytes;
  size_t n = LEAST_BLOCK;
  while (n < least || (n < MOST_BLOCK && n < memory / SHARE)) {
    n *= 2;
  }
  return n;
}

/* The least memory that is enough with the blocks that it has itself. */
static uint64_t least_memory(size_t chunk_bytes, int threads) {
  const uint64_t fixed = LEAST_FOR_ALL + (uint64_t)threads * LEAST_FOR_THREAD;
  uint64_t least = fixed, needed;
  while ((needed = fixed + BUFFERS * block_bytes(least, chunk_bytes)) > least) {
    least = needed;
  }
  return least;
}

static int check_memory(const struct task_overflow *o, uint64_t memory,
                        int threads, struct pems_error *error) {
  const uint64_t least = least_memory((size_t)o->chunk * o->stride, threads);
  return memory >= least
             ? 0
             : failure(error, ENOMEM,
                       "scheduler: memory: %llu bytes: %llu are needed for %d "
                       "threads",
                       (unsigned long long)memory, (unsigned long long)least,
                       threads);
}

static int make_buffers(struct task_overflow *o, struct pems_error *error) {
  unsigned char *bytes = native_aligned(PEMS_DISK_UNIT, BUFFERS * o->block);
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
  o->block = block_bytes(options->memory, (size_t)o->chunk * o->stride);
  atomic_store_explicit(&o->first, UINT64_MAX, memory_order_relaxed);
  o->disks = options->disks;
  int code = check_memory(o, options->memory, s->threads, error);
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
  *limit = options->memory - BUFFERS * o->block - (size_t)s->threads * CPS_SLAB;
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
  for (size_t i = 0; i < o->n; i++) {
    pems_block_free(o->disks, o->heap[i].block, o->block);
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
  native_free(o->heap);
  lock_destroy(&o->lock);
  native_free(o);
}

void task_overflow_counts(const struct task_overflow *o,
                          struct pems_sched_counts *c) {
  c->memory += BUFFERS * o->block;
  c->memory_most += BUFFERS * o->block;
  c->spilled = o->spilled;
  c->fetched = o->fetched;
  c->waits = o->waits;
  pems_disks_counts(o->disks, &c->io);
}
