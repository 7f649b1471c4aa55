#define _GNU_SOURCE
#include "em/sort/run_builder.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "base/failure.h"
#include "base/limit.h"
#include "em/sort/replacement_selection.h"
#include "em/sort/sorted_buffer.h"
#include "os/clock.h"
#include "os/lock.h"
#include "os/native.h"
#include "os/thread.h"

enum state {
  FREE, /* with the caller or for it; writes may be under way */
  FULL, /* given */
  SORTING,
  SORTED, /* to be written */
};

struct slot {
  struct run_builder_buffer buffer; /* first: a buffer is its slot */
  enum state state;
  struct sorted_buffer sorted; /* slots share its work where kernels sort in
                                  place */
};

struct run_builder {
  struct sort *s;
  struct slot slot[2];
  char *buffers; /* of all slots, beside each other: what takes their place may
                    be larger than one */
  int held;      /* buffers that are not given back yet */
  size_t buffer_bytes;    /* of each, as taken */
  size_t request_bytes;   /* of each list of requests */
  size_t given;           /* buffers so far */
  size_t sorted, written; /* of them */
  int more, finished, keep, ending;
  int reading, readying; /* what the caller waits for */
  int failed;
  struct pems_error error;         /* the first */
  struct replacement *replacement; /* or NULL: a buffer is a run */
  struct sorted_blocks blocks;
  struct lock lock;
  pthread_cond_t changed;
  pthread_t sorter, emitter;
  int sorter_runs, emitter_runs;
  _Atomic uint64_t cpu_ns;
};

static struct slot *slot_of(struct run_builder_buffer *b) {
  return (struct slot *)b;
}

/* --- failures --- */

static int note(struct run_builder *f, const struct pems_error *error) {
  lock_take(&f->lock);
  if (!f->failed) {
    f->error = *error;
    f->failed = error->code;
  }
  pthread_cond_broadcast(&f->changed);
  lock_give(&f->lock);
  return error->code;
}

static int report(struct run_builder *f, struct pems_error *error) {
  lock_take(&f->lock);
  const int failed = f->failed;
  if (failed && error) {
    *error = f->error;
  }
  lock_give(&f->lock);
  return failed;
}

/* Waits for the first `count` requests of a slot. */
static int wait_requests(struct run_builder *f, struct slot *slot,
                         size_t count) {
  struct pems_error error;
  return sorted_buffer_wait(&slot->sorted, f->s, count, &error)
             ? note(f, &error)
             : 0;
}

/* --- the threads --- */

static uint64_t *stall(struct run_builder *f, int write) {
  struct pems_disk_counts *const io = &f->s->counts.form.io;
  return write ? &io->write_wait_ns : &io->read_wait_ns;
}

/* With the lock: waits until the slot is in that state. False: it will not be.
 */
static bool wait_state_locked(struct run_builder *f, const struct slot *slot,
                              enum state state) {
  while (slot->state != state && !f->failed && !f->ending &&
         !(state == FULL && f->finished && f->sorted == f->given) &&
         !(state == SORTED && f->finished && f->written == f->given)) {
    lock_wait(&f->changed, &f->lock);
  }
  return slot->state == state && !f->failed && !f->ending;
}

static void set_state(struct run_builder *f, struct slot *slot,
                      enum state state) {
  lock_take(&f->lock);
  slot->state = state;
  pthread_cond_broadcast(&f->changed);
  lock_give(&f->lock);
}

/* Waits for the next full buffer, and counts the time if it is the disks'. */
static struct slot *next_full(struct run_builder *f) {
  struct slot *const slot =
      &f->slot[f->sorted % (size_t)f->s->plan.run_buffers];
  lock_take(&f->lock);
  const int write = f->readying, io = f->readying || f->reading;
  const uint64_t begin = clock_ns();
  const bool there = wait_state_locked(f, slot, FULL);
  if (io && f->sorted > 0) {
    *stall(f, write) += clock_ns() - begin;
  }
  if (there) {
    slot->state = SORTING;
  }
  lock_give(&f->lock);
  return there ? slot : NULL;
}

/* Whether the only run so far is to be written. */
static bool wait_whether_written(struct run_builder *f) {
  lock_take(&f->lock);
  while (!f->more && !f->finished && !f->failed && !f->ending) {
    lock_wait(&f->changed, &f->lock);
  }
  const bool kept = f->finished && f->keep && f->given == 1;
  lock_give(&f->lock);
  return !kept;
}

static void write_and_free(struct run_builder *f, struct slot *slot) {
  struct pems_error error;
  if (sorted_buffer_write(&slot->sorted, f->s, &f->blocks, &error)) {
    note(f, &error);
    return;
  }
  lock_take(&f->lock);
  f->written++;
  slot->state = FREE;
  pthread_cond_broadcast(&f->changed);
  lock_give(&f->lock);
}

/* Whether there are no more buffers because they are at their end. */
static bool all_given(struct run_builder *f) {
  lock_take(&f->lock);
  const bool all = f->finished && !f->failed && !f->ending;
  lock_give(&f->lock);
  return all;
}

static void copy_sorted(void *arg, size_t first, size_t n, void *out) {
  struct run_builder *const f = arg;
  const struct slot *const slot =
      &f->slot[f->sorted % (size_t)f->s->plan.run_buffers];
  sorted_buffer_copy(&slot->sorted, f->s, first, n, out);
}

static void sort_slot(const struct sort *s, const struct slot *slot) {
  const struct sorted_buffer *const b = &slot->sorted;
  s->kernel->sort(&s->o.record, s->team, b->first, b->n, b->work);
}

/* Every buffer is a chunk that goes through the queues. */
static void *sort_chunks(void *arg) {
  struct run_builder *const f = arg;
  struct sort *const s = f->s;
  struct pems_error error;
  for (struct slot *slot; (slot = next_full(f));) {
    sort_slot(s, slot);
    if (replacement_add(f->replacement, slot->sorted.n, copy_sorted, f,
                        &error)) {
      note(f, &error);
      return NULL;
    }
    f->sorted++;
    set_state(f, slot, FREE);
  }
  if (all_given(f) && replacement_finish(f->replacement, &error)) {
    note(f, &error);
  }
  return NULL;
}

static void *sort_buffers(void *arg) {
  struct run_builder *const f = arg;
  struct sort *const s = f->s;
  for (struct slot *slot; (slot = next_full(f));) {
    sort_slot(s, slot);
    f->sorted++;
    if (f->sorted == 1 && !wait_whether_written(f)) {
      set_state(f, slot, SORTED);
      break;
    }
    if (f->s->plan.in_place) {
      write_and_free(f, slot);
    } else {
      set_state(f, slot, SORTED);
    }
  }
  return NULL;
}

static void *emit_buffers(void *arg) {
  struct run_builder *const f = arg;
  const uint64_t begin = clock_thread_ns();
  for (;;) {
    struct slot *const slot =
        &f->slot[f->written % (size_t)f->s->plan.run_buffers];
    lock_take(&f->lock);
    const bool there = wait_state_locked(f, slot, SORTED);
    lock_give(&f->lock);
    if (!there || !wait_whether_written(f)) {
      break;
    }
    write_and_free(f, slot);
  }
  f->cpu_ns += clock_thread_ns() - begin;
  return NULL;
}

static int start_threads(struct run_builder *f) {
  int error =
      thread_start(&f->sorter, f->replacement ? sort_chunks : sort_buffers, f,
                   &(struct thread_options){.name = "pems-sort"});
  f->sorter_runs = !error;
  if (!error && f->s->plan.emit_buffers) {
    error = thread_start(&f->emitter, emit_buffers, f,
                         &(struct thread_options){.name = "pems-emit"});
    f->emitter_runs = !error;
  }
  return error;
}

static void join_threads(struct run_builder *f) {
  if (f->sorter_runs) {
    pthread_join(f->sorter, NULL);
  }
  if (f->emitter_runs) {
    pthread_join(f->emitter, NULL);
  }
  f->sorter_runs = f->emitter_runs = 0;
}

/* --- memory --- */

static int take_slot(struct run_builder *f, struct slot *slot, void *work) {
  struct memory *const m = &f->s->memory;
  slot->buffer = (struct run_builder_buffer){
      .base = f->buffers + (size_t)(slot - f->slot) * f->buffer_bytes,
      .bytes = f->buffer_bytes,
      .records = f->s->plan.per_run,
  };
  slot->sorted.request = memory_get(m, f->request_bytes);
  slot->sorted.work = work ? work : memory_get(m, f->s->plan.sort_work);
  return slot->sorted.request && slot->sorted.work ? 0 : ENOMEM;
}

static void free_slot(struct run_builder *f, struct slot *slot,
                      bool with_work) {
  struct memory *const m = &f->s->memory;
  memory_put(m, slot->sorted.request, f->request_bytes);
  if (with_work) {
    memory_put(m, slot->sorted.work, f->s->plan.sort_work);
  }
  *slot = (struct slot){0};
}

static int take_buffers(struct run_builder *f) {
  const size_t n = (size_t)f->s->plan.run_buffers * f->buffer_bytes;
  f->buffers = memory_get(&f->s->memory, n);
  f->held = f->buffers ? f->s->plan.run_buffers : 0;
  return f->buffers ? 0 : ENOMEM;
}

/* All but the first `keep`. */
static void free_buffers(struct run_builder *f, int keep) {
  if (f->held > keep) {
    memory_put(&f->s->memory, f->buffers + (size_t)keep * f->buffer_bytes,
               (size_t)(f->held - keep) * f->buffer_bytes);
    f->held = keep;
  }
}

/* Kernels that emit need the work until that is done: emitting one buffer and
   sorting another go on at the same time. */
static bool own_work(const struct run_builder *f, int i) {
  return i == 0 || (f->s->kernel->emit && !f->s->plan.long_bytes);
}

/* All but, where `kept`, the buffer with records. */
static void free_memory(struct run_builder *f, const struct slot *kept) {
  replacement_free(f->replacement);
  f->replacement = NULL;
  for (int i = f->s->plan.run_buffers; i-- > 0;) {
    struct slot *const slot = &f->slot[i];
    wait_requests(f, slot, slot->sorted.requests);
    if (slot != kept) {
      free_slot(f, slot, own_work(f, i));
    }
  }
  free_buffers(f, kept ? 1 : 0);
  struct pems_error error;
  if (sorted_blocks_wait(&f->blocks, f->s, &error)) {
    note(f, &error);
  }
  sorted_blocks_free(&f->blocks, f->s);
}

static int take_memory(struct run_builder *f) {
  const struct sort *const s = f->s;
  const size_t blocks =
      (f->s->plan.per_run + s->runs.per_block - 1) / s->runs.per_block;
  f->buffer_bytes =
      s->kernel->emit
          ? run_bytes(&s->runs, f->s->plan.per_run) + 2 * PEMS_DISK_UNIT
          : blocks * s->plan.block +
                (f->s->plan.in_place ? 0 : 2 * PEMS_DISK_UNIT);
  f->request_bytes = blocks * sizeof(struct pems_request);
  int error = take_buffers(f);
  for (int i = 0; i < f->s->plan.run_buffers && !error; i++) {
    error = take_slot(f, &f->slot[i],
                      own_work(f, i) ? NULL : f->slot[0].sorted.work);
  }
  return error ? error : sorted_blocks_new(&f->blocks, f->s);
}

/* --- the caller's side --- */

int run_builder_new(struct run_builder **f, struct sort *s,
                    struct pems_error *error) {
  struct run_builder *const new = native_zalloc(1, sizeof(*new));
  if (!new) {
    return failure(error, ENOMEM, "memory: a sorter: free some");
  }
  new->s = s;
  lock_init(&new->lock, LOCK_RUN_BUILDER);
  pthread_cond_init(&new->changed, NULL);
  int failed = take_memory(new);
  if (!failed && s->plan.long_bytes) {
    failed = replacement_new(&new->replacement, s, s->plan.long_bytes,
                             s->plan.per_run, NULL);
  }
  if (!failed) {
    failed = start_threads(new);
  }
  if (failed) {
    run_builder_free(new);
    char advice[LIMIT_TEXT];
    const bool memory = failed == ENOMEM;
    return failure(error, failed, "sorter: buffers and threads: no %s: %s",
                   memory ? "memory for them" : "more threads",
                   limit_advice(advice, LIMIT_THREAD, failed, 0,
                                memory ? "use less" : "use fewer"));
  }
  *f = new;
  return 0;
}

void run_builder_free(struct run_builder *f) {
  if (!f) {
    return;
  }
  lock_take(&f->lock);
  f->ending = 1;
  pthread_cond_broadcast(&f->changed);
  lock_give(&f->lock);
  join_threads(f);
  free_memory(f, NULL);
  lock_destroy(&f->lock);
  pthread_cond_destroy(&f->changed);
  native_free(f);
}

int run_builder_take(struct run_builder *f, struct run_builder_buffer **buffer,
                     struct pems_error *error) {
  struct slot *const slot = &f->slot[f->given % (size_t)f->s->plan.run_buffers];
  lock_take(&f->lock);
  f->readying = 1;
  while (slot->state != FREE && !f->failed) {
    lock_wait(&f->changed, &f->lock);
  }
  f->readying = 0;
  lock_give(&f->lock);
  *buffer = &slot->buffer;
  return report(f, error);
}

int run_builder_ready(struct run_builder *f, struct run_builder_buffer *buffer,
                      size_t n, struct pems_error *error) {
  struct slot *const slot = slot_of(buffer);
  const size_t block = f->s->plan.block;
  if (slot->sorted.requests) {
    lock_take(&f->lock);
    f->readying = 1;
    lock_give(&f->lock);
    wait_requests(f, slot, (n + block - 1) / block);
    lock_take(&f->lock);
    f->readying = 0;
    lock_give(&f->lock);
  }
  return report(f, error);
}

int run_builder_give(struct run_builder *f, struct run_builder_buffer *buffer,
                     void *first, size_t n, struct pems_error *error) {
  struct slot *const slot = slot_of(buffer);
  wait_requests(f, slot, slot->sorted.requests);
  lock_take(&f->lock);
  slot->sorted.first = first;
  slot->sorted.n = n;
  slot->state = FULL;
  f->given++;
  f->more |= f->given > 1;
  pthread_cond_broadcast(&f->changed);
  lock_give(&f->lock);
  return report(f, error);
}

void run_builder_reading(struct run_builder *f, int reading) {
  lock_take(&f->lock);
  f->reading = reading;
  lock_give(&f->lock);
}

void run_builder_more(struct run_builder *f) {
  lock_take(&f->lock);
  f->more = 1;
  pthread_cond_broadcast(&f->changed);
  lock_give(&f->lock);
}

/* --- what stays in memory --- */

/* Records that one task decodes. */
#define DECODE_BYTES ((size_t)256 << 10)

static size_t decode_records(const struct run_builder *f) {
  return DECODE_BYTES / f->s->o.record.size + 1;
}

static void decode_part(void *arg, int task, int member) {
  struct run_builder *const f = arg;
  const struct slot *const slot = &f->slot[0];
  const size_t step = decode_records(f), first = (size_t)task * step;
  const size_t left = slot->sorted.n - first, size = f->s->o.record.size;
  (void)member;
  f->s->kernel->decode(&f->s->o.record, slot->sorted.first + first * size,
                       left < step ? left : step);
}

int run_builder_finish(struct run_builder *f, int keep,
                       struct pems_error *error) {
  lock_take(&f->lock);
  f->finished = 1;
  f->keep = keep;
  pthread_cond_broadcast(&f->changed);
  lock_give(&f->lock);
  join_threads(f);
  const size_t kept = run_builder_kept(f);
  free_memory(f, kept ? &f->slot[0] : NULL);
  const int failed = report(f, error);
  if (kept && !failed && !f->s->kernel->emit && f->s->kernel->decode) {
    team_run(f->s->team, (int)((kept - 1) / decode_records(f)) + 1, decode_part,
             f);
  }
  return failed;
}

size_t run_builder_kept(const struct run_builder *f) {
  return f->slot[0].state == SORTED ? f->slot[0].sorted.n : 0;
}

size_t run_builder_kept_bytes(const struct run_builder *f) {
  return f->buffer_bytes + f->request_bytes + f->s->plan.sort_work;
}

void *run_builder_kept_records(struct run_builder *f, size_t first, size_t n,
                               void *out) {
  const struct slot *const slot = &f->slot[0];
  const struct kernel *const kernel = f->s->kernel;
  const struct pems_record *const r = &f->s->o.record;
  if (!kernel->emit) {
    char *const at = slot->sorted.first + first * r->size;
    return out ? memcpy(out, at, n * r->size) : at;
  }
  sorted_buffer_copy(&slot->sorted, f->s, first, n, out);
  if (kernel->decode) {
    kernel->decode(r, out, n);
  }
  return out;
}

uint64_t run_builder_cpu_ns(const struct run_builder *f) {
  return f->cpu_ns;
}
