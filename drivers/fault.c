/* Another driver with failures at chosen requests, for tests. Numbers count
   from 1, over all files; errors are EIO, ENOSPC, EROFS or a number:
   read=N:ERRNO, write=N:ERRNO: the N-th read (write) fails, nothing is moved.
   torn=N: the N-th write fails with EIO after its first half was written.
   short=N: the system moves only half of the N-th read and of the N-th write at
   first, and the driver below has to go on with the rest.
   after=BYTES:ERRNO: writes beyond so many bytes in all fail.
   grant=N:ERRNO: the N-th time that space is allocated fails.
   room=BYTES: no more is allocated in all than that: ENOSPC.
   delay=US, every=M: each M-th request (default: each) takes so many
   microseconds longer; those of a queue do so at the same time.
   seek=US, rate=MB: a slow disk: each file serves one request after the other,
   each of which takes so many microseconds and the time for its bytes at so
   many 10^6 a second (default: none). */
#define _GNU_SOURCE

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "drivers/fault_plan.h"
#include "drivers/scratch.h"
#include "os/clock.h"
#include "os/lock.h"
#include "os/native.h"

extern const struct driver driver_fault;

struct fault_file {
  struct driver_file file;
  struct driver driver; /* what this file can do: as much as `inner` */
  struct driver_file *inner;
  struct fault_plan plan;
  _Atomic uint64_t served; /* when the disk has served all that came, ns */
};

/* Requests are counted over all files of the process; the first file opened
   after all were closed starts anew. */
static atomic_uint_fast64_t reads, writes, requests, written, grants, granted;
static struct lock lock = LOCK_INITIALIZER(LOCK_FAULT_FILES);
static int files; /* open now; under lock */

static const struct driver *parse_inner(const char **text) {
  char name[32];
  const char *args;
  const size_t n = strcspn(*text, ",");
  if (n >= sizeof(name)) {
    return NULL;
  }
  snprintf(name, sizeof(name), "%.*s", (int)n, *text);
  const struct driver *const inner = driver_find(name, &args);
  *text += n;
  return inner == &driver_fault || args ? NULL : inner;
}

static const struct driver *fault_below(const char *args) {
  return args ? parse_inner(&args) : NULL;
}

/* --- what becomes of a request --- */

struct verdict {
  int error;    /* 0: none. Nothing is moved, or only `part` */
  size_t part;  /* bytes that are moved all the same */
  uint64_t due; /* not done before this time, ns; 0: at once */
};

/* Counts n bytes to be written; 0, or the error if the plan has no room. */
static int use_space(const struct fault_plan *p, size_t n) {
  uint_fast64_t before = atomic_load(&written);
  if (!p->after_error) {
    return 0;
  }
  do {
    if (before + n > p->after) {
      return p->after_error;
    }
  } while (!atomic_compare_exchange_weak(&written, &before, before + n));
  return 0;
}

/* Lines up at the slow disk: when a request for n bytes has been served. */
static uint64_t serve(struct fault_file *f, size_t n) {
  const struct fault_plan *const p = &f->plan;
  const uint64_t takes =
      p->seek * 1000 + (p->rate ? (uint64_t)n * 1000 / p->rate : 0);
  const uint64_t now = clock_ns();
  uint64_t before = atomic_load(&f->served), due;
  if (takes == 0) {
    return 0;
  }
  do {
    due = (before > now ? before : now) + takes;
  } while (!atomic_compare_exchange_weak(&f->served, &before, due));
  return due;
}

static struct verdict judge(struct fault_file *f, int write, size_t n) {
  const struct fault_plan *const p = &f->plan;
  const uint64_t number = atomic_fetch_add(write ? &writes : &reads, 1) + 1;
  const uint64_t any = atomic_fetch_add(&requests, 1) + 1;
  struct verdict v = {.due = serve(f, n)};
  if (p->delay && any % p->every == 0) {
    v.due = (v.due ? v.due : clock_ns()) + p->delay * 1000;
  }
  if (number == (write ? p->write_at : p->read_at)) {
    v.error = write ? p->write_error : p->read_error;
  } else if (write && number == p->torn_at) {
    v.error = EIO;
    v.part = n / 2 - n / 2 % f->file.align;
  } else if (write) {
    v.error = use_space(p, n);
  }
  if (number == p->short_at) {
    scratch_shorten_next();
  }
  return v;
}

/* 0: not at all. */
static void sleep_until(uint64_t ns) {
  const struct timespec time = {
      .tv_sec = (time_t)(ns / 1000000000),
      .tv_nsec = (long)(ns % 1000000000),
  };
  while (ns &&
         clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
    ;
}

/* --- synchronous requests --- */

/* The data moves first: what is slow about a slow disk is only the rest. */
static int fault_read(struct driver_file *file, void *buf, size_t n,
                      uint64_t offset) {
  struct fault_file *const f = (struct fault_file *)file;
  const struct verdict v = judge(f, 0, n);
  const int error =
      v.error ? v.error : f->inner->driver->read(f->inner, buf, n, offset);
  sleep_until(v.due);
  return error;
}

static int fault_write(struct driver_file *file, const void *buf, size_t n,
                       uint64_t offset) {
  struct fault_file *const f = (struct fault_file *)file;
  const struct verdict v = judge(f, 1, n);
  int error = v.error;
  if (!v.error || v.part) {
    const size_t part = v.error ? v.part : n;
    const int own = f->inner->driver->write(f->inner, buf, part, offset);
    error = own ? own : v.error;
  }
  sleep_until(v.due);
  return error;
}

static int fault_flush(struct driver_file *file) {
  const struct fault_file *const f = (const struct fault_file *)file;
  return f->inner->driver->flush(f->inner);
}

/* --- space --- */

/* Counts n more bytes, unless they are too many. */
static int take_room(const struct fault_plan *p, uint64_t n) {
  uint_fast64_t before = atomic_load(&granted);
  do {
    if (p->room && before + n > p->room) {
      return ENOSPC;
    }
  } while (!atomic_compare_exchange_weak(&granted, &before, before + n));
  return 0;
}

static int fault_grant(struct driver_file *file, uint64_t n, uint64_t offset) {
  struct fault_file *const f = (struct fault_file *)file;
  const struct driver *const inner = f->inner->driver;
  if (atomic_fetch_add(&grants, 1) + 1 == f->plan.grant_at) {
    return f->plan.grant_error;
  }
  int error = take_room(&f->plan, n);
  if (error || !inner->grant) {
    return error;
  }
  error = inner->grant(f->inner, n, offset);
  if (error) {
    atomic_fetch_sub(&granted, n);
  }
  return error;
}

static void fault_release(struct driver_file *file, uint64_t n,
                          uint64_t offset) {
  const struct fault_file *const f = (const struct fault_file *)file;
  const struct driver *const inner = f->inner->driver;
  atomic_fetch_sub(&granted, n);
  if (inner->release) {
    inner->release(f->inner, n, offset);
  }
}

/* --- asynchronous requests --- */

/* What the inner queue gets in place of a request. */
struct wrapped {
  struct driver_request below; /* first: a request below is its wrapping */
  struct driver_request *above;
  int error;    /* what to say in the end, 0: what the inner queue says */
  uint64_t due; /* not given back before this time, ns; 0: at once */
};

struct driver_queue {
  struct fault_file *f;
  struct driver_queue *inner;
  struct lock lock;               /* for what follows */
  struct driver_request *free;    /* wrappings */
  struct driver_request *refused; /* that the inner queue never gets */
  int interrupted;
  struct driver_request *held; /* done but for their time, the next one first;
                                  of the thread that reaps */
  struct wrapped wrapped[];    /* depth of them */
};

static void push(struct driver_request **list, struct driver_request *r) {
  r->next = *list;
  *list = r;
}

static int fault_queue_open(struct driver_queue **q, struct driver_file *file,
                            unsigned depth) {
  struct fault_file *const f = (struct fault_file *)file;
  struct driver_queue *const new =
      native_zalloc(1, sizeof(*new) + depth * sizeof(struct wrapped));
  if (!new) {
    return ENOMEM;
  }
  const int error = f->inner->driver->queue_open(&new->inner, f->inner, depth);
  if (error) {
    native_free(new);
    return error;
  }
  new->f = f;
  lock_init(&new->lock, LOCK_FAULT_QUEUE);
  for (unsigned i = 0; i < depth; i++) {
    push(&new->free, &new->wrapped[i].below);
  }
  *q = new;
  return 0;
}

static struct wrapped *take_wrapped(struct driver_queue *q) {
  lock_take(&q->lock);
  struct wrapped *const w = (struct wrapped *)q->free;
  q->free = q->free->next;
  lock_give(&q->lock);
  return w;
}

static void start(struct driver_queue *q, struct driver_request *r) {
  const struct driver *const inner = q->f->inner->driver;
  const struct verdict v = judge(q->f, r->write, r->n);
  struct wrapped *const w = take_wrapped(q);
  *w = (struct wrapped){
      .below = *r,
      .above = r,
      .error = v.error,
      .due = v.due,
  };
  w->below.next = NULL;
  if (!v.error || v.part) {
    w->below.n = v.error ? v.part : r->n;
    inner->queue_submit(q->inner, &w->below);
    return;
  }
  lock_take(&q->lock);
  push(&q->refused, &w->below);
  lock_give(&q->lock);
  inner->queue_interrupt(q->inner);
}

static void fault_submit(struct driver_queue *q, struct driver_request *list) {
  while (list) {
    struct driver_request *const next = list->next;
    start(q, list);
    list = next;
  }
}

/* Puts a list among those that are held, by their times. */
static void hold(struct driver_queue *q, struct driver_request *list) {
  while (list) {
    struct wrapped *const w = (struct wrapped *)list;
    struct driver_request **at = &q->held;
    list = list->next;
    while (*at && ((struct wrapped *)*at)->due <= w->due) {
      at = &(*at)->next;
    }
    w->below.next = *at;
    *at = &w->below;
  }
}

/* The request above the first that is held, in its time. */
static struct driver_request *release(struct driver_queue *q) {
  struct wrapped *const w = (struct wrapped *)q->held;
  struct driver_request *const above = w->above;
  q->held = w->below.next;
  sleep_until(w->due);
  above->error = w->below.error ? w->below.error : w->error;
  above->next = NULL;
  lock_take(&q->lock);
  push(&q->free, &w->below);
  lock_give(&q->lock);
  return above;
}

/* What was refused since; else *interrupted says whether to end. */
static struct driver_request *take_refused(struct driver_queue *q,
                                           int *interrupted) {
  lock_take(&q->lock);
  struct driver_request *const list = q->refused;
  q->refused = NULL;
  *interrupted = !list && q->interrupted;
  if (*interrupted) {
    q->interrupted = 0;
  }
  lock_give(&q->lock);
  return list;
}

/* Requests are given back one by one: none has to wait for another's time. */
static struct driver_request *fault_reap(struct driver_queue *q) {
  for (;;) {
    int interrupted;
    hold(q, take_refused(q, &interrupted));
    if (interrupted) {
      return NULL;
    }
    if (q->held) {
      return release(q);
    }
    hold(q, q->f->inner->driver->queue_reap(q->inner));
  }
}

static void fault_interrupt(struct driver_queue *q) {
  lock_take(&q->lock);
  q->interrupted = 1;
  lock_give(&q->lock);
  q->f->inner->driver->queue_interrupt(q->inner);
}

static void fault_queue_close(struct driver_queue *q) {
  q->f->inner->driver->queue_close(q->inner);
  lock_destroy(&q->lock);
  native_free(q);
}

/* --- mappings --- */

static int fault_map(struct driver_file *file, void *address, size_t n,
                     uint64_t offset) {
  const struct fault_file *const f = (const struct fault_file *)file;
  return f->inner->driver->map(f->inner, address, n, offset);
}

static int fault_map_failed(struct driver_file *file) {
  const struct fault_file *const f = (const struct fault_file *)file;
  return f->inner->driver->map_failed(f->inner);
}

static int fault_map_rewrite(struct driver_file *file, const void *page,
                             uint64_t offset) {
  const struct fault_file *const f = (const struct fault_file *)file;
  return f->inner->driver->map_rewrite(f->inner, page, offset);
}

static int fault_map_lazy(struct driver_file *file, void *address, size_t n,
                          uint64_t offset, int sequential) {
  const struct fault_file *const f = (const struct fault_file *)file;
  return f->inner->driver->map_lazy(f->inner, address, n, offset, sequential);
}

static void fault_forget(struct driver_file *file, size_t n, uint64_t offset) {
  const struct fault_file *const f = (const struct fault_file *)file;
  f->inner->driver->forget(f->inner, n, offset);
}

/* --- opening --- */

/* The functions of a file above one that has those of `inner`. */
static struct driver variant(const struct driver *inner) {
  struct driver d = driver_fault;
  if (inner->map) {
    d.map = fault_map;
    d.map_failed = fault_map_failed;
    d.map_rewrite = fault_map_rewrite;
  }
  if (inner->map_lazy) {
    d.map_lazy = fault_map_lazy;
  }
  if (inner->forget) {
    d.forget = fault_forget;
  }
  if (inner->queue_open) {
    d.queue_open = fault_queue_open;
    d.queue_submit = fault_submit;
    d.queue_reap = fault_reap;
    d.queue_interrupt = fault_interrupt;
    d.queue_close = fault_queue_close;
  }
  return d;
}

static void count_file(void) {
  lock_take(&lock);
  if (files++ == 0) {
    atomic_store(&reads, 0);
    atomic_store(&writes, 0);
    atomic_store(&requests, 0);
    atomic_store(&written, 0);
    atomic_store(&grants, 0);
    atomic_store(&granted, 0);
  }
  lock_give(&lock);
}

/* The inner driver and the plan of `args`; NULL if they make no sense. */
static const struct driver *parse(const char *args, struct fault_plan *plan) {
  const struct driver *const inner = args ? parse_inner(&args) : NULL;
  return inner && fault_plan_parse(args, plan) == 0 ? inner : NULL;
}

/* A file above `below`, which it closes, at once if it fails. */
static int wrap(struct driver_file **file, struct driver_file *below,
                const struct fault_plan *plan) {
  struct fault_file *const f = native_alloc(sizeof(*f));
  if (!f) {
    below->driver->close(below);
    return ENOMEM;
  }
  *f = (struct fault_file){
      .file = {.driver = &f->driver, .align = below->align},
      .driver = variant(below->driver),
      .inner = below,
      .plan = *plan,
  };
  count_file();
  *file = &f->file;
  return 0;
}

static int fault_open(struct driver_file **file, const char *dir, uint64_t size,
                      int reserve, const char *args) {
  struct fault_plan plan = {0};
  struct driver_file *below;
  const struct driver *const inner = parse(args, &plan);
  if (!inner) {
    return EINVAL;
  }
  const int error = inner->open(&below, dir, size, reserve, NULL);
  return error ? error : wrap(file, below, &plan);
}

static int fault_attach(struct driver_file **file, int fd, uint64_t size,
                        const char *args) {
  struct fault_plan plan = {0};
  struct driver_file *below;
  const struct driver *const inner = parse(args, &plan);
  if (!inner) {
    return EINVAL;
  }
  const int error = inner->attach(&below, fd, size, NULL);
  return error ? error : wrap(file, below, &plan);
}

static void fault_close(struct driver_file *file) {
  struct fault_file *const f = (struct fault_file *)file;
  f->inner->driver->close(f->inner);
  native_free(f);
  lock_take(&lock);
  files--;
  lock_give(&lock);
}

const struct driver driver_fault = {
    .name = "fault",
    .help = "another driver that fails when told to, for tests",
    .args = "DRIVER[,read=N:ERRNO][,write=N:ERRNO][,torn=N][,short=N]"
            "[,after=BYTES:ERRNO][,grant=N:ERRNO][,room=BYTES]"
            "[,delay=MICROSECONDS][,every=N][,seek=MICROSECONDS][,rate=MB]",
    .below = fault_below,
    .open = fault_open,
    .attach = fault_attach,
    .read = fault_read,
    .write = fault_write,
    .flush = fault_flush,
    .grant = fault_grant,
    .release = fault_release,
    .close = fault_close,
};
