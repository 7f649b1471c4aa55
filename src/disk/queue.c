#define _GNU_SOURCE
#include "disk/queue.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/forked.h"
#include "os/clock.h"
#include "os/lock.h"
#include "os/native.h"
#include "os/thread.h"

#define MOST_DEPTH 1024
/* The program's thread-local data comes on top where it is part of stacks. */
#define STACK_BYTES ((size_t)256 << 10)

/* Requests that are moved as one. */
struct transfer {
  struct driver_request r; /* first: a request of the driver is its transfer */
  uint64_t begin;          /* ns: handed to the disk */
  struct pems_request *parts; /* in order, by next_ */
};

/* Waiting requests of one direction, first come first. */
struct lane {
  struct pems_request *first, **last;
};

struct disk_queue {
  struct driver_file *file;
  struct driver_queue *below; /* the driver's, or NULL: threads do the work */
  unsigned depth;
  int number;
  size_t merge;
  struct disk_tally *tally;
  int in_memory;     /* no threads: who starts a request carries it out */
  unsigned born;     /* forks of the process before the queue was opened */
  unsigned threads;  /* that were started */
  pthread_t *thread; /* depth of them */
  _Atomic unsigned busy;
  _Atomic uint64_t served_until; /* ns: the last request ended */
  struct lock lock;              /* for what follows */
  pthread_cond_t work; /* for threads: there is a request, or `ending` */
  struct lane lane[2]; /* reads, writes */
  uint64_t turn;       /* requests that came so far */
  enum pems_favour favour;
  struct driver_request *free; /* transfers that are not under way */
  int ending;
  struct transfer transfer[]; /* depth of them */
};

/* --- forks --- */

/* A child has the memory of a queue but not its threads. */
static bool in_child(const struct disk_queue *q) {
  return forked_since(q->born);
}

bool disk_queue_direct(const struct disk_queue *q) {
  return q->in_memory || in_child(q);
}

/* --- who waits, and what goes first --- */

static void append_locked(struct disk_queue *q, struct pems_request *list) {
  while (list) {
    struct pems_request *const r = list;
    struct lane *const lane = &q->lane[r->write != 0];
    list = r->next_;
    r->next_ = NULL;
    r->turn_ = q->turn++;
    *lane->last = r;
    lane->last = &r->next_;
  }
}

static struct lane *pick_lane(struct disk_queue *q) {
  const struct pems_request *const read = q->lane[0].first;
  const struct pems_request *const write = q->lane[1].first;
  if (!read || !write) {
    return &q->lane[!read];
  }
  if (q->favour != PEMS_FAVOUR_NONE) {
    return &q->lane[q->favour == PEMS_FAVOUR_WRITES];
  }
  return &q->lane[write->turn_ < read->turn_];
}

static struct pems_request *take_first(struct lane *lane) {
  struct pems_request *const r = lane->first;
  lane->first = r->next_;
  if (!lane->first) {
    lane->last = &lane->first;
  }
  r->next_ = NULL;
  return r;
}

/* True if the next of the lane goes on where t ends, and is the next to go. */
static bool continues(struct disk_queue *q, const struct lane *lane,
                      const struct driver_request *t) {
  const struct pems_request *const r = lane->first;
  return r && pick_lane(q) == lane && t->n < q->merge &&
         r->n <= q->merge - t->n && r->block.at == t->offset + t->n &&
         (char *)r->buf == (char *)t->buf + t->n;
}

/* With the lock: fills in *t with the next requests that can be one transfer.
   False if none waits. */
static bool take_next_locked(struct disk_queue *q, struct transfer *t) {
  struct lane *const lane = pick_lane(q);
  if (!lane->first) {
    return false;
  }
  struct pems_request *last = t->parts = take_first(lane);
  t->begin = clock_ns();
  t->r = (struct driver_request){
      .write = last->write != 0,
      .buf = last->buf,
      .n = last->n,
      .offset = last->block.at,
  };
  while (continues(q, lane, &t->r)) {
    last = last->next_ = take_first(lane);
    t->r.n += last->n;
    if (q->tally) {
      atomic_fetch_add_explicit(&q->tally->merged, 1, memory_order_relaxed);
    }
  }
  return true;
}

/* --- requests that are done --- */

static void end_one(struct disk_queue *q, struct pems_request *r, int error) {
  disk_tally_add(q->tally, r->write, r->n, error);
  atomic_fetch_sub(&q->busy, 1);
  disk_request_end(r, error);
}

static void end_parts(struct disk_queue *q, struct pems_request *list) {
  while (list) {
    struct pems_request *const r = list;
    list = r->next_;
    end_one(q, r, r->error);
  }
}

/* ns that the disk took for what has ended now. It serves one request after the
   other: what those before it took is not its own. */
static uint64_t served_since(struct disk_queue *q, uint64_t begin) {
  const uint64_t now = clock_ns();
  const uint64_t before = atomic_exchange(&q->served_until, now);
  const uint64_t from = before > begin ? before : begin;
  return now > from ? now - from : 0;
}

/* Notes in all parts how it ended and what it took; the last of them. */
static struct pems_request *note_end(struct disk_queue *q,
                                     const struct transfer *t) {
  const double each =
      (double)served_since(q, t->begin) / (double)(t->r.n ? t->r.n : 1);
  struct pems_request *r = t->parts;
  for (;; r = r->next_) {
    r->error = t->r.error;
    r->served_ns_ = (uint64_t)(each * (double)r->n);
    if (!r->next_) {
      return r;
    }
  }
}

static int move(struct driver_file *file, int write, void *buf, size_t n,
                uint64_t offset) {
  return write ? file->driver->write(file, buf, n, offset)
               : file->driver->read(file, buf, n, offset);
}

int disk_queue_now(struct disk_queue *q, int write, void *buf, size_t n,
                   uint64_t offset, uint64_t *served_ns) {
  atomic_fetch_add(&q->busy, 1);
  const uint64_t begin = clock_ns();
  const int error = move(q->file, write, buf, n, offset);
  *served_ns += served_since(q, begin);
  atomic_fetch_sub(&q->busy, 1);
  return error;
}

/* --- starting --- */

/* What `done` functions of requests that this thread carries out itself have
   started: it comes after them, else they would call each other ever deeper. */
static _Thread_local struct {
  int inside;
  struct pems_request *first, **last;
} later;

static void carry_out(struct disk_queue *q, struct pems_request *list) {
  if (later.inside) {
    *later.last = list;
    while (*later.last) {
      later.last = &(*later.last)->next_;
    }
    return;
  }
  later.inside = 1;
  later.first = list;
  for (later.last = &later.first; *later.last;) {
    later.last = &(*later.last)->next_;
  }
  while (later.first) {
    struct pems_request *const r = later.first;
    later.first = r->next_;
    if (!later.first) {
      later.last = &later.first;
    }
    q = r->owner_;
    end_one(q, r, move(q->file, r->write, r->buf, r->n, r->block.at));
  }
  later.inside = 0;
}

/* With the lock: what the driver's queue has room for. */
static struct driver_request *take_list_locked(struct disk_queue *q) {
  struct driver_request *list = NULL, **last = &list;
  while (q->free) {
    struct driver_request *const free = q->free->next;
    if (!take_next_locked(q, (struct transfer *)q->free)) {
      break;
    }
    *last = q->free;
    last = &q->free->next;
    q->free = free;
  }
  return list;
}

void disk_queue_start(struct disk_queue *q, struct pems_request *list) {
  unsigned n = 0;
  for (struct pems_request *r = list; r; r = r->next_, n++) {
    r->owner_ = q;
  }
  atomic_fetch_add(&q->busy, n);
  if (disk_queue_direct(q)) {
    carry_out(q, list);
    return;
  }
  lock_take(&q->lock);
  append_locked(q, list);
  struct driver_request *const now = q->below ? take_list_locked(q) : NULL;
  lock_give(&q->lock);
  if (now) {
    q->file->driver->queue_submit(q->below, now);
  } else if (!q->below && n > 1) {
    pthread_cond_broadcast(&q->work);
  } else if (!q->below) {
    pthread_cond_signal(&q->work);
  }
}

static bool remove_from_locked(struct lane *lane, struct pems_request *r) {
  struct pems_request **at = &lane->first;
  while (*at && *at != r) {
    at = &(*at)->next_;
  }
  if (!*at) {
    return false;
  }
  *at = r->next_;
  if (!*at) {
    lane->last = at;
  }
  r->next_ = NULL;
  return true;
}

int disk_queue_cancel(struct disk_queue *q, struct pems_request *r) {
  if (disk_queue_direct(q) || disk_request_test(r)) {
    return 0;
  }
  lock_take(&q->lock);
  const bool removed = remove_from_locked(&q->lane[r->write != 0], r);
  lock_give(&q->lock);
  if (removed) {
    atomic_fetch_sub(&q->busy, 1);
  }
  return removed;
}

void disk_queue_favour(struct disk_queue *q, enum pems_favour favour) {
  lock_take(&q->lock);
  q->favour = favour;
  lock_give(&q->lock);
}

unsigned disk_queue_busy(const struct disk_queue *q) {
  return atomic_load_explicit(&q->busy, memory_order_relaxed);
}

bool disk_queue_full(const struct disk_queue *q) {
  return disk_queue_busy(q) >= q->depth;
}

/* --- the threads --- */

static void *work(void *arg) {
  struct disk_queue *const q = arg;
  struct transfer t;
  lock_take(&q->lock);
  for (;;) {
    const bool taken = take_next_locked(q, &t);
    if (!taken && q->ending) {
      break;
    }
    if (!taken) {
      lock_wait(&q->work, &q->lock);
      continue;
    }
    lock_give(&q->lock);
    t.r.error = move(q->file, t.r.write, t.r.buf, t.r.n, t.r.offset);
    note_end(q, &t);
    end_parts(q, t.parts);
    lock_take(&q->lock);
  }
  lock_give(&q->lock);
  return NULL;
}

/* First of all the disk gets new work, then those who wait are told. */
static void refill(struct disk_queue *q, struct driver_request *done) {
  struct pems_request *parts = NULL, **last = &parts;
  lock_take(&q->lock);
  while (done) {
    struct driver_request *const r = done;
    const struct transfer *const t = (const struct transfer *)r;
    done = r->next;
    *last = t->parts;
    last = &note_end(q, t)->next_;
    r->next = q->free;
    q->free = r;
  }
  struct driver_request *const next = take_list_locked(q);
  lock_give(&q->lock);
  if (next) {
    q->file->driver->queue_submit(q->below, next);
  }
  end_parts(q, parts);
}

static void *reap(void *arg) {
  struct disk_queue *const q = arg;
  struct driver_request *done;
  while ((done = q->file->driver->queue_reap(q->below))) {
    refill(q, done);
  }
  return NULL;
}

static int start_thread(struct disk_queue *q, void *run(void *)) {
  char name[16];
  snprintf(name, sizeof(name), "pems-disk%d", q->number % 10000);
  const int error = thread_start(
      &q->thread[q->threads], run, q,
      &(struct thread_options){.name = name, .stack = STACK_BYTES});
  if (!error) {
    q->threads++;
  }
  return error;
}

static int start_threads(struct disk_queue *q) {
  if (q->below) {
    return start_thread(q, reap);
  }
  int error = 0;
  for (unsigned i = 0; i < q->depth && !error; i++) {
    error = start_thread(q, work);
  }
  return q->threads ? 0 : error;
}

static void join_threads(struct disk_queue *q) {
  lock_take(&q->lock);
  q->ending = 1;
  pthread_cond_broadcast(&q->work);
  lock_give(&q->lock);
  if (q->below) {
    q->file->driver->queue_interrupt(q->below);
  }
  for (unsigned i = 0; i < q->threads; i++) {
    pthread_join(q->thread[i], NULL);
  }
}

/* --- opening --- */

static struct disk_queue *queue_new(struct driver_file *file,
                                    const struct disk_queue_options *o) {
  const unsigned depth = o->depth < MOST_DEPTH ? o->depth : MOST_DEPTH;
  struct disk_queue *const q =
      native_zalloc(1, sizeof(*q) + depth * sizeof(struct transfer));
  pthread_t *const thread = native_zalloc(depth, sizeof(*thread));
  if (!q || !thread) {
    native_free(q);
    native_free(thread);
    return NULL;
  }
  q->file = file;
  q->depth = depth;
  q->number = o->number;
  q->merge = o->merge;
  q->tally = o->tally;
  q->in_memory = file->driver->in_memory;
  q->born = forked_now();
  q->thread = thread;
  for (int i = 0; i < 2; i++) {
    q->lane[i].last = &q->lane[i].first;
  }
  lock_init(&q->lock, LOCK_DISK_QUEUE);
  pthread_cond_init(&q->work, NULL);
  for (unsigned i = depth; i-- > 0;) {
    q->transfer[i].r.next = q->free;
    q->free = &q->transfer[i].r;
  }
  return q;
}

static void queue_free(struct disk_queue *q) {
  if (q->below) {
    q->file->driver->queue_close(q->below);
  }
  lock_destroy(&q->lock);
  pthread_cond_destroy(&q->work);
  native_free(q->thread);
  native_free(q);
}

int disk_queue_open(struct disk_queue **q, struct driver_file *file,
                    const struct disk_queue_options *options) {
  struct disk_queue *const new = queue_new(file, options);
  if (!new) {
    return ENOMEM;
  }
  int error = 0;
  if (file->driver->queue_open) {
    error = file->driver->queue_open(&new->below, file, new->depth);
  }
  if (!error && !new->in_memory) {
    error = start_threads(new);
  }
  if (error) {
    queue_free(new);
    return error;
  }
  *q = new;
  return 0;
}

void disk_queue_close(struct disk_queue *q) {
  if (!q || in_child(q)) {
    return;
  }
  join_threads(q);
  queue_free(q);
}
