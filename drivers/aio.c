/* Direct I/O through the kernel's asynchronous I/O (libaio). */
#define _GNU_SOURCE
#include "drivers/scratch.h"
#include "drivers/scratch_lazy.h"

#include <errno.h>
#include <libaio.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "os/lock.h"
#include "os/native.h"

extern const struct driver driver_aio;

/* Events taken from the kernel in one call. */
#define EVENTS 64

struct slot {
  struct iocb cb;
  struct slot *next; /* in the free list */
};

struct driver_queue {
  struct scratch *s;
  io_context_t context;
  int wake;            /* an eventfd: ends a wait for events */
  struct iocb listen;  /* waits for `wake` */
  _Atomic int passing; /* see hand_over */
  _Atomic int interrupted;
  struct lock lock; /* for what follows */
  struct slot *free;
  struct driver_request *failed; /* not taken by the kernel */
  struct slot slot[];            /* depth of them */
};

/* io_setup: EAGAIN is the machine's limit of requests, fs.aio-max-nr. */
static int setup(unsigned depth, io_context_t *context) {
  *context = NULL;
  const int error = -io_setup((int)depth, context);
  return error == EAGAIN || error == EPERM ? ENOSYS : error;
}

/* Whether the system offers it: 0 or an errno value. */
static int try_setup(void) {
  io_context_t probe;
  const int error = setup(1, &probe);
  if (!error) {
    io_destroy(probe);
  }
  return error;
}

static int aio_open(struct driver_file **file, const char *dir, uint64_t size,
                    int reserve, const char *args) {
  const int error = args ? EINVAL : try_setup();
  return error ? error : scratch_open(file, &driver_aio, dir, size, 1, reserve);
}

static int aio_attach(struct driver_file **file, int fd, uint64_t size,
                      const char *args) {
  const int error = args ? EINVAL : try_setup();
  return error ? error : scratch_attach(file, &driver_aio, fd, size, 1);
}

/* What a thread wrote into a request is seen by the thread that reaps it: the
   kernel sees to that, but only this makes it known to C. */
static void hand_over(struct driver_queue *q) {
  atomic_fetch_add_explicit(&q->passing, 1, memory_order_acq_rel);
}

/* One request to the kernel; 0 or an errno value. */
static int submit(struct driver_queue *q, struct iocb *cb) {
  const struct timespec pause = {.tv_nsec = 100000};
  for (;;) {
    hand_over(q);
    const int taken = io_submit(q->context, 1, &cb);
    if (taken == 1) {
      return 0;
    }
    if (taken != -EINTR && taken != -EAGAIN) {
      return taken < 0 ? -taken : EIO;
    }
    /* The kernel is out of memory, for there is room for `depth`. */
    if (taken == -EAGAIN) {
      nanosleep(&pause, NULL);
    }
  }
}

static int listen_again(struct driver_queue *q) {
  io_prep_poll(&q->listen, q->wake, POLLIN);
  return submit(q, &q->listen);
}

static int aio_queue_open(struct driver_queue **q, struct driver_file *file,
                          unsigned depth) {
  struct driver_queue *const a =
      native_zalloc(1, sizeof(*a) + depth * sizeof(struct slot));
  if (!a) {
    return ENOMEM;
  }
  a->s = (struct scratch *)file;
  a->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  int error = a->wake < 0 ? errno : setup(depth + 1, &a->context);
  if (!error && (error = listen_again(a)) != 0) {
    /* Linux before 4.18. */
    error = error == EINVAL ? ENOSYS : error;
    io_destroy(a->context);
  }
  if (error) {
    if (a->wake >= 0) {
      close(a->wake);
    }
    native_free(a);
    return error;
  }
  lock_init(&a->lock, LOCK_AIO);
  for (unsigned i = 0; i < depth; i++) {
    a->slot[i].next = a->free;
    a->free = &a->slot[i];
  }
  *q = a;
  return 0;
}

static void kick(struct driver_queue *q) {
  const uint64_t one = 1;
  while (write(q->wake, &one, sizeof(one)) < 0 && errno == EINTR)
    ;
}

/* Asks for what is left of a request. */
static int ask(struct driver_queue *q, struct slot *slot,
               struct driver_request *r) {
  char *const at = (char *)r->buf + r->moved;
  const size_t n = scratch_ask(r->n - r->moved);
  const long long offset = (long long)(r->offset + r->moved);
  if (r->write) {
    io_prep_pwrite(&slot->cb, q->s->fd, at, n, offset);
  } else {
    io_prep_pread(&slot->cb, q->s->fd, at, n, offset);
  }
  slot->cb.data = r;
  return submit(q, &slot->cb);
}

static struct slot *take_slot(struct driver_queue *q) {
  lock_take(&q->lock);
  struct slot *const slot = q->free;
  if (slot) {
    q->free = slot->next;
  }
  lock_give(&q->lock);
  return slot;
}

static void give_slot(struct driver_queue *q, struct slot *slot) {
  lock_take(&q->lock);
  slot->next = q->free;
  q->free = slot;
  lock_give(&q->lock);
}

/* Has to be reaped although the kernel never saw it. */
static void fail(struct driver_queue *q, struct driver_request *r, int error) {
  r->error = error;
  lock_take(&q->lock);
  r->next = q->failed;
  q->failed = r;
  lock_give(&q->lock);
  kick(q);
}

static void start(struct driver_queue *q, struct driver_request *r) {
  r->moved = 0;
  r->error = scratch_check(q->s, r->buf, r->n, r->offset);
  if (r->error || r->n == 0) {
    fail(q, r, r->error);
    return;
  }
  struct slot *const slot = take_slot(q);
  const int error = slot ? ask(q, slot, r) : EAGAIN;
  if (error) {
    if (slot) {
      give_slot(q, slot);
    }
    fail(q, r, error);
  }
}

static void aio_submit(struct driver_queue *q, struct driver_request *list) {
  while (list) {
    struct driver_request *const next = list->next;
    start(q, list);
    list = next;
  }
}

/* The eventfd: whoever wrote to it left something behind. */
static void hear(struct driver_queue *q) {
  uint64_t count;
  while (read(q->wake, &count, sizeof(count)) < 0 && errno == EINTR)
    ;
  listen_again(q);
}

/* True if the request is done. */
static bool finish(struct driver_queue *q, const struct io_event *e) {
  struct driver_request *const r = e->data;
  struct slot *const slot = (struct slot *)e->obj;
  if (scratch_advance(q->s, r, (ssize_t)(long)e->res)) {
    r->error = ask(q, slot, r);
    if (!r->error) {
      return false;
    }
  }
  give_slot(q, slot);
  return true;
}

static struct driver_request *take_failed(struct driver_queue *q) {
  lock_take(&q->lock);
  struct driver_request *const list = q->failed;
  q->failed = NULL;
  lock_give(&q->lock);
  return list;
}

/* Waits for events; the list of requests that they end. */
static struct driver_request *take_events(struct driver_queue *q) {
  struct driver_request *list = NULL;
  struct io_event event[EVENTS];
  const int n = io_getevents(q->context, 1, EVENTS, event, NULL);
  hand_over(q);
  for (int i = 0; i < n; i++) {
    if (event[i].obj == &q->listen) {
      hear(q);
    } else if (finish(q, &event[i])) {
      struct driver_request *const r = event[i].data;
      r->next = list;
      list = r;
    }
  }
  return list;
}

static struct driver_request *aio_reap(struct driver_queue *q) {
  for (;;) {
    struct driver_request *list = take_failed(q);
    if (!list && atomic_exchange(&q->interrupted, 0)) {
      return NULL;
    }
    if (!list) {
      list = take_events(q);
    }
    if (list) {
      return list;
    }
  }
}

static void aio_interrupt(struct driver_queue *q) {
  atomic_store(&q->interrupted, 1);
  kick(q);
}

static void aio_queue_close(struct driver_queue *q) {
  io_destroy(q->context);
  close(q->wake);
  lock_destroy(&q->lock);
  native_free(q);
}

const struct driver driver_aio = {
    .name = "aio",
    .help = "direct I/O with the kernel's asynchronous I/O (libaio)",
    .open = aio_open,
    .attach = aio_attach,
    .read = scratch_read,
    .write = scratch_write,
    .flush = scratch_flush,
    .grant = scratch_grant,
    .release = scratch_release,
    .close = scratch_close,
    .queue_open = aio_queue_open,
    .queue_submit = aio_submit,
    .queue_reap = aio_reap,
    .queue_interrupt = aio_interrupt,
    .queue_close = aio_queue_close,
    .map_lazy = scratch_lazy_map,
    .forget = scratch_lazy_forget,
};
