#define _GNU_SOURCE
#include "disk/queue.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/counters.h"
#include "base/native.h"

/* Requests that a disk can have queued before those who start more wait. */
#define RECORDS 1024
/* The program's thread-local data comes on top where it is part of stacks. */
#define STACK_BYTES ((size_t)256 << 10)

struct record {
  struct driver_request r; /* first: a request is its record */
  struct disk_batch *batch;
};

struct disk_queue {
  struct driver_file *file;
  struct driver_queue *below; /* the driver's, or NULL: threads do the work */
  unsigned depth;
  int number;
  int direct;        /* no threads: who starts a request carries it out */
  unsigned born;     /* forks of the process before the queue was opened */
  unsigned threads;  /* that were started */
  pthread_t *thread; /* depth of them */
  _Atomic unsigned busy;
  pthread_mutex_t lock; /* for what follows */
  pthread_cond_t work;  /* for threads: there is a request, or `ending` */
  pthread_cond_t room;  /* for who starts requests: there is a free record */
  struct driver_request *free;
  struct driver_request *first, **last; /* waiting */
  unsigned under_way;                   /* with the driver's queue */
  unsigned starving;                    /* who wait for `room` */
  int ending;
  struct record record[RECORDS];
};

/* --- forks --- */

/* A child has the memory of a queue but not its threads. */
static _Atomic unsigned forks;

static void note_fork(void) {
  atomic_fetch_add(&forks, 1);
}

static void watch_forks(void) {
  pthread_atfork(NULL, NULL, note_fork);
}

static int in_child(const struct disk_queue *q) {
  return atomic_load_explicit(&forks, memory_order_relaxed) != q->born;
}

/* --- batches --- */

static void futex(_Atomic uint32_t *word, int op, uint32_t value) {
  syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

void disk_batch_note(struct disk_batch *b, int error) {
  int none = 0;
  if (error)
    atomic_compare_exchange_strong(&b->error, &none, error);
}

/* After this the batch may be gone; a wake-up too many does no harm. */
static void batch_done(struct disk_batch *b) {
  if (atomic_fetch_sub(&b->pending, 1) == 1)
    futex(&b->pending, FUTEX_WAKE, INT32_MAX);
}

int disk_batch_wait(struct disk_batch *b) {
  uint32_t pending = atomic_load(&b->pending);
  if (pending) {
    const uint64_t begin = clock_ns();
    do {
      futex(&b->pending, FUTEX_WAIT, pending);
      pending = atomic_load(&b->pending);
    } while (pending);
    counter_add(io_wait, clock_ns() - begin);
  }
  return atomic_exchange(&b->error, 0);
}

/* --- requests --- */

static void count(int write, size_t n, int error) {
  if (write) {
    counter_add(writes, 1);
    counter_add(bytes_written, error ? 0 : n);
  } else {
    counter_add(reads, 1);
    counter_add(bytes_read, error ? 0 : n);
  }
}

static int transfer(struct driver_file *file, int write, void *buf, size_t n,
                    uint64_t offset) {
  const int error = write ? file->driver->write(file, buf, n, offset)
                          : file->driver->read(file, buf, n, offset);
  count(write, n, error);
  return error;
}

int disk_queue_now(struct disk_queue *q, int write, void *buf, size_t n,
                   uint64_t offset) {
  atomic_fetch_add(&q->busy, 1);
  const uint64_t begin = clock_ns();
  const int error = transfer(q->file, write, buf, n, offset);
  counter_add(io_wait, clock_ns() - begin);
  atomic_fetch_sub(&q->busy, 1);
  return error;
}

static struct driver_request *take_first(struct disk_queue *q) {
  struct driver_request *const r = q->first;
  if (r) {
    q->first = r->next;
    if (!q->first)
      q->last = &q->first;
    r->next = NULL;
  }
  return r;
}

static void append(struct disk_queue *q, struct driver_request *r) {
  r->next = NULL;
  *q->last = r;
  q->last = &r->next;
}

/* With the lock. */
static void give_record(struct disk_queue *q, struct driver_request *r) {
  r->next = q->free;
  q->free = r;
  if (q->starving)
    pthread_cond_signal(&q->room);
}

/* With the lock, which it may let go meanwhile. */
static struct driver_request *take_record(struct disk_queue *q) {
  while (!q->free) {
    q->starving++;
    pthread_cond_wait(&q->room, &q->lock);
    q->starving--;
  }
  struct driver_request *const r = q->free;
  q->free = r->next;
  return r;
}

void disk_queue_start(struct disk_queue *q, struct disk_batch *b, int write,
                      void *buf, size_t n, uint64_t offset) {
  if (q->direct || in_child(q)) {
    disk_batch_note(b, disk_queue_now(q, write, buf, n, offset));
    return;
  }
  atomic_fetch_add(&b->pending, 1);
  atomic_fetch_add(&q->busy, 1);
  pthread_mutex_lock(&q->lock);
  struct record *const new = (struct record *)take_record(q);
  *new = (struct record){
      .r = {.write = write, .buf = buf, .n = n, .offset = offset},
      .batch = b,
  };
  const int at_once = q->below && !q->first && q->under_way < q->depth;
  if (at_once)
    q->under_way++;
  else
    append(q, &new->r);
  pthread_mutex_unlock(&q->lock);
  if (at_once)
    q->file->driver->queue_submit(q->below, &new->r);
  else if (!q->below)
    pthread_cond_signal(&q->work);
}

unsigned disk_queue_busy(const struct disk_queue *q) {
  return atomic_load_explicit(&q->busy, memory_order_relaxed);
}

/* The request is done, but keeps its record. */
static void tell(struct disk_queue *q, const struct driver_request *r) {
  struct disk_batch *const b = ((const struct record *)r)->batch;
  disk_batch_note(b, r->error);
  atomic_fetch_sub(&q->busy, 1);
  batch_done(b);
}

/* --- the threads --- */

static void *work(void *arg) {
  struct disk_queue *const q = arg;
  pthread_mutex_lock(&q->lock);
  for (;;) {
    struct driver_request *const r = take_first(q);
    if (!r && q->ending)
      break;
    if (!r) {
      pthread_cond_wait(&q->work, &q->lock);
      continue;
    }
    pthread_mutex_unlock(&q->lock);
    r->error = transfer(q->file, r->write, r->buf, r->n, r->offset);
    tell(q, r);
    pthread_mutex_lock(&q->lock);
    give_record(q, r);
  }
  pthread_mutex_unlock(&q->lock);
  return NULL;
}

/* Those that take the places of `ended` requests in the driver's queue. */
static struct driver_request *take_next(struct disk_queue *q, unsigned ended) {
  struct driver_request *list = NULL, **last = &list;
  pthread_mutex_lock(&q->lock);
  q->under_way -= ended;
  while (q->first && q->under_way < q->depth) {
    *last = take_first(q);
    last = &(*last)->next;
    q->under_way++;
  }
  pthread_mutex_unlock(&q->lock);
  return list;
}

/* First of all the disk gets new work, then those who wait are told. */
static void refill(struct disk_queue *q, struct driver_request *done) {
  unsigned ended = 0;
  for (const struct driver_request *r = done; r; r = r->next)
    ended++;
  struct driver_request *const next = take_next(q, ended);
  if (next)
    q->file->driver->queue_submit(q->below, next);
  for (const struct driver_request *r = done; r; r = r->next) {
    count(r->write, r->n, r->error);
    tell(q, r);
  }
  pthread_mutex_lock(&q->lock);
  while (done) {
    struct driver_request *const r = done;
    done = r->next;
    give_record(q, r);
  }
  pthread_mutex_unlock(&q->lock);
}

static void *reap(void *arg) {
  struct disk_queue *const q = arg;
  struct driver_request *done;
  while ((done = q->file->driver->queue_reap(q->below)))
    refill(q, done);
  return NULL;
}

/* Threads block all signals: handlers are for the program's. */
static int start_thread(struct disk_queue *q, void *run(void *)) {
  pthread_attr_t attr;
  sigset_t all, before;
  pthread_t *const thread = &q->thread[q->threads];
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, STACK_BYTES);
  int error = pthread_create(thread, &attr, run, q);
  if (error == EINVAL) /* much thread-local data */
    error = pthread_create(thread, NULL, run, q);
  pthread_attr_destroy(&attr);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!error) {
    char name[16];
    snprintf(name, sizeof name, "pems-disk%d", q->number % 10000);
    pthread_setname_np(*thread, name);
    q->threads++;
  }
  return error;
}

static int start_threads(struct disk_queue *q) {
  if (q->below)
    return start_thread(q, reap);
  int error = 0;
  for (unsigned i = 0; i < q->depth && !error; i++)
    error = start_thread(q, work);
  return q->threads ? 0 : error;
}

static void join_threads(struct disk_queue *q) {
  pthread_mutex_lock(&q->lock);
  q->ending = 1;
  pthread_cond_broadcast(&q->work);
  pthread_mutex_unlock(&q->lock);
  if (q->below)
    q->file->driver->queue_interrupt(q->below);
  for (unsigned i = 0; i < q->threads; i++)
    pthread_join(q->thread[i], NULL);
}

/* --- opening --- */

static struct disk_queue *queue_new(struct driver_file *file, unsigned depth,
                                    int number) {
  struct disk_queue *const q = native_zalloc(1, sizeof *q);
  pthread_t *const thread = native_zalloc(depth, sizeof *thread);
  if (!q || !thread) {
    native_free(q);
    native_free(thread);
    return NULL;
  }
  q->file = file;
  q->depth = depth;
  q->number = number;
  q->direct = file->driver->in_memory;
  q->born = atomic_load(&forks);
  q->thread = thread;
  q->last = &q->first;
  pthread_mutex_init(&q->lock, NULL);
  pthread_cond_init(&q->work, NULL);
  pthread_cond_init(&q->room, NULL);
  for (int i = RECORDS; i-- > 0;)
    give_record(q, &q->record[i].r);
  return q;
}

static void queue_free(struct disk_queue *q) {
  if (q->below)
    q->file->driver->queue_close(q->below);
  pthread_mutex_destroy(&q->lock);
  pthread_cond_destroy(&q->work);
  pthread_cond_destroy(&q->room);
  native_free(q->thread);
  native_free(q);
}

int disk_queue_open(struct disk_queue **q, struct driver_file *file,
                    unsigned depth, int number) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_forks);
  depth = depth < RECORDS ? depth : RECORDS;
  struct disk_queue *const new = queue_new(file, depth, number);
  if (!new)
    return ENOMEM;
  int error = 0;
  if (file->driver->queue_open)
    error = file->driver->queue_open(&new->below, file, depth);
  if (!error && !new->direct)
    error = start_threads(new);
  if (error) {
    queue_free(new);
    return error;
  }
  *q = new;
  return 0;
}

void disk_queue_close(struct disk_queue *q) {
  if (!q || in_child(q))
    return;
  join_threads(q);
  queue_free(q);
}
