#define _GNU_SOURCE
#include "disk/contexts/batch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/counters.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/lock.h"
#include "os/native.h"

/* Requests that a disk can have queued before those who start more wait. */
#define RECORDS 1024

struct record {
  struct pems_request r; /* first: a request is its record */
  struct disk_batch *batch;
  struct disk_records *home;
};

struct disk_records {
  struct lock lock;
  pthread_cond_t room; /* for who starts requests: there is a free record */
  unsigned starving;   /* who wait for it */
  struct pems_request *free;
  struct record record[RECORDS];
};

static void give_record(struct disk_records *s, struct pems_request *r) {
  lock_take(&s->lock);
  r->next_ = s->free;
  s->free = r;
  if (s->starving) {
    pthread_cond_signal(&s->room);
  }
  lock_give(&s->lock);
}

static struct record *take_record(struct disk_records *s) {
  lock_take(&s->lock);
  while (!s->free) {
    s->starving++;
    lock_wait(&s->room, &s->lock);
    s->starving--;
  }
  struct pems_request *const r = s->free;
  s->free = r->next_;
  lock_give(&s->lock);
  return (struct record *)r;
}

struct disk_records *disk_records_new(void) {
  struct disk_records *const s = native_zalloc(1, sizeof(*s));
  if (!s) {
    return NULL;
  }
  lock_init(&s->lock, LOCK_DISK_BATCH);
  pthread_cond_init(&s->room, NULL);
  for (int i = RECORDS; i-- > 0;) {
    give_record(s, &s->record[i].r);
  }
  return s;
}

void disk_records_free(struct disk_records *s) {
  if (!s) {
    return;
  }
  lock_destroy(&s->lock);
  pthread_cond_destroy(&s->room);
  native_free(s);
}

/* --- batches --- */

/* ns that disks took for what the thread has waited for. Handlers of signals
   read pages, and take no memory. */
static __thread uint64_t served_ns __attribute__((tls_model("initial-exec")));

uint64_t disks_served_ns(void) {
  return served_ns;
}

void disk_batch_note(struct disk_batch *b, int error) {
  int none = 0;
  if (error) {
    atomic_compare_exchange_strong(&b->error, &none, error);
  }
}

/* After this the batch may be gone; a wake-up too many does no harm. */
static void one_less(struct disk_batch *b) {
  if (atomic_fetch_sub(&b->pending, 1) == 1) {
    futex_wake_all(&b->pending);
  }
}

static void await(struct disk_batch *b) {
  uint32_t pending = atomic_load(&b->pending);
  if (pending) {
    const uint64_t begin = clock_ns();
    do {
      futex_wait(&b->pending, pending);
      pending = atomic_load(&b->pending);
    } while (pending);
    counter_add(io_wait, clock_ns() - begin);
  }
}

static void count(int write, size_t n, int error) {
  if (write) {
    counter_add(writes, 1);
    counter_add(bytes_written, error ? 0 : n);
  } else {
    counter_add(reads, 1);
    counter_add(bytes_read, error ? 0 : n);
  }
}

/* The record is given back first: once the batch is told, all may be gone. */
static void record_done(struct pems_request *r) {
  const struct record *const record = (const struct record *)r;
  struct disk_batch *const b = record->batch;
  count(r->write, r->n, r->error);
  disk_batch_note(b, r->error);
  atomic_fetch_add(&b->served_ns, r->served_ns_);
  give_record(record->home, r);
  one_less(b);
}

int disk_batch_now(struct disk_queue *q, int write, void *buf, size_t n,
                   uint64_t offset) {
  const uint64_t begin = clock_ns();
  const int error = disk_queue_now(q, write, buf, n, offset, &served_ns);
  count(write, n, error);
  counter_add(io_wait, clock_ns() - begin);
  return error;
}

static void enqueue(struct disk_records *s, struct disk_queue *q,
                    struct disk_batch *b, bool write, void *buf, size_t n,
                    uint64_t offset) {
  atomic_fetch_add(&b->pending, 1);
  struct record *const new = take_record(s);
  *new = (struct record){
      .r = {.block.at = offset,
            .buf = buf,
            .n = n,
            .write = write,
            .done = record_done},
      .batch = b,
      .home = s,
  };
  disk_request_begin(&new->r, q);
  disk_queue_start(q, &new->r);
}

static void enqueue_own(struct disk_batch *b) {
  if (b->own.queue) {
    enqueue(b->own.records, b->own.queue, b, b->own.write, b->own.buf, b->own.n,
            b->own.offset);
    b->own.queue = NULL;
  }
}

/* Not beside as many as the disk may have under way. */
static void carry_out_own(struct disk_batch *b) {
  if (b->own.queue && !disk_queue_full(b->own.queue)) {
    disk_batch_note(b, disk_batch_now(b->own.queue, b->own.write, b->own.buf,
                                      b->own.n, b->own.offset));
    b->own.queue = NULL;
  }
  enqueue_own(b);
}

void disk_batch_add(struct disk_records *s, struct disk_queue *q,
                    struct disk_batch *b, bool write, void *buf, size_t n,
                    uint64_t offset) {
  if (disk_queue_direct(q)) {
    disk_batch_note(b, disk_batch_now(q, write, buf, n, offset));
  } else if (b->helps) {
    enqueue_own(b);
    b->own.queue = q;
    b->own.records = s;
    b->own.write = write;
    b->own.buf = buf;
    b->own.n = n;
    b->own.offset = offset;
  } else {
    enqueue(s, q, b, write, buf, n, offset);
  }
}

int disk_batch_wait(struct disk_batch *b) {
  carry_out_own(b);
  await(b);
  served_ns += atomic_exchange(&b->served_ns, 0);
  return atomic_exchange(&b->error, 0);
}
