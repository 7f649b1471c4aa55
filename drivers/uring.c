/* Direct I/O through io_uring. One thread, that which reaps, does all with the
   ring: requests that a thread submitted itself would be cancelled at its end,
   and while it lives their completions would interrupt its system calls. */
#define _GNU_SOURCE
#include "drivers/scratch.h"
#include "drivers/scratch_lazy.h"

#include <errno.h>
#include <liburing.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/lock.h"
#include "os/native.h"

extern const struct driver driver_uring;

struct driver_queue {
  struct scratch *s;
  struct io_uring ring; /* of the reaping thread */
  bool enabled;         /* it has made the ring its own */
  bool listening;       /* a read of `wake` is under way */
  int wake;             /* an eventfd: ends a wait for completions */
  uint64_t heard;       /* what was read from it */
  struct lock lock;     /* for what follows */
  struct driver_request *inbox, **last;
  bool asleep; /* the reaping thread has to be woken */
  int interrupted;
};

/* Entries for `depth` requests and the read of the eventfd. */
static int setup(struct io_uring *ring, unsigned depth) {
  int error = -io_uring_queue_init(depth + 1, ring,
                                   IORING_SETUP_SINGLE_ISSUER |
                                       IORING_SETUP_DEFER_TASKRUN |
                                       IORING_SETUP_R_DISABLED);
  if (error == EINVAL) { /* Linux before 6.1 */
    error = -io_uring_queue_init(depth + 1, ring, IORING_SETUP_R_DISABLED);
  }
  /* EPERM: kernel.io_uring_disabled or a seccomp filter. EINVAL: before 5.10.
     ENOMEM: before 5.12 rings count as locked memory. */
  return error == EPERM || error == EACCES || error == EINVAL || error == ENOMEM
             ? ENOSYS
             : error;
}

/* Whether the system offers it: 0 or an errno value. */
static int try_setup(void) {
  struct io_uring probe;
  const int error = setup(&probe, 1);
  if (!error) {
    io_uring_queue_exit(&probe);
  }
  return error;
}

static int uring_open(struct driver_file **file, const char *dir, uint64_t size,
                      int reserve, const char *args) {
  const int error = args ? EINVAL : try_setup();
  return error ? error
               : scratch_open(file, &driver_uring, dir, size, 1, reserve);
}

static int uring_attach(struct driver_file **file, int fd, uint64_t size,
                        const char *args) {
  const int error = args ? EINVAL : try_setup();
  return error ? error : scratch_attach(file, &driver_uring, fd, size, 1);
}

static int uring_queue_open(struct driver_queue **q, struct driver_file *file,
                            unsigned depth) {
  struct driver_queue *const u = native_zalloc(1, sizeof(*u));
  if (!u) {
    return ENOMEM;
  }
  u->s = (struct scratch *)file;
  u->last = &u->inbox;
  u->wake = eventfd(0, EFD_CLOEXEC);
  int error = u->wake < 0 ? errno : setup(&u->ring, depth);
  if (!error) {
    error = -io_uring_ring_dontfork(&u->ring);
    if (error) {
      io_uring_queue_exit(&u->ring);
    }
  }
  if (error) {
    if (u->wake >= 0) {
      close(u->wake);
    }
    native_free(u);
    return error;
  }
  lock_init(&u->lock, LOCK_URING);
  *q = u;
  return 0;
}

static void kick(const struct driver_queue *q) {
  const uint64_t one = 1;
  while (write(q->wake, &one, sizeof(one)) < 0 && errno == EINTR)
    ;
}

static void uring_submit(struct driver_queue *q, struct driver_request *list) {
  lock_take(&q->lock);
  *q->last = list;
  while (*q->last) {
    q->last = &(*q->last)->next;
  }
  const int wake = q->asleep;
  q->asleep = false;
  lock_give(&q->lock);
  if (wake) {
    kick(q);
  }
}

static void uring_interrupt(struct driver_queue *q) {
  lock_take(&q->lock);
  q->interrupted = 1;
  const int wake = q->asleep;
  q->asleep = false;
  lock_give(&q->lock);
  if (wake) {
    kick(q);
  }
}

/* Puts what is left of a request into the ring. The file is not registered with
   it: the system ends rings at its leisure, and until then a registered file
   would stay locked, and its device in use. */
static void ask(struct driver_queue *q, struct driver_request *r) {
  struct io_uring_sqe *const sqe = io_uring_get_sqe(&q->ring);
  char *const at = (char *)r->buf + r->moved;
  /* The ring's lengths have 32 bits. */
  const size_t left = r->n - r->moved, most = (size_t)1 << 30;
  const unsigned n = (unsigned)scratch_ask(left < most ? left : most);
  if (r->write) {
    io_uring_prep_write(sqe, q->s->fd, at, n, r->offset + r->moved);
  } else {
    io_uring_prep_read(sqe, q->s->fd, at, n, r->offset + r->moved);
  }
  io_uring_sqe_set_data(sqe, r);
}

static void listen_again(struct driver_queue *q) {
  if (q->listening) {
    return;
  }
  struct io_uring_sqe *const sqe = io_uring_get_sqe(&q->ring);
  io_uring_prep_read(sqe, q->wake, &q->heard, sizeof(q->heard), 0);
  io_uring_sqe_set_data(sqe, NULL);
  q->listening = true;
}

/* Moves the inbox into the ring; what cannot be done goes to *list. */
static void start(struct driver_queue *q, struct driver_request *inbox,
                  struct driver_request **list) {
  while (inbox) {
    struct driver_request *const r = inbox;
    inbox = r->next;
    r->moved = 0;
    r->error = scratch_check(q->s, r->buf, r->n, r->offset);
    if (r->error || r->n == 0) {
      r->next = *list;
      *list = r;
    } else {
      ask(q, r);
    }
  }
}

/* Takes completions; those of requests go to *list. */
static void collect(struct driver_queue *q, struct driver_request **list) {
  struct io_uring_cqe *cqe;
  while (io_uring_peek_cqe(&q->ring, &cqe) == 0) {
    struct driver_request *const r = io_uring_cqe_get_data(cqe);
    const int result = cqe->res;
    io_uring_cqe_seen(&q->ring, cqe);
    if (!r) {
      q->listening = false;
    } else if (scratch_advance(q->s, r, result)) {
      ask(q, r);
    } else {
      r->next = *list;
      *list = r;
    }
  }
}

/* liburing 2.3 declares io_uring_enable_rings, but does not export it. */
static void enable(struct driver_queue *q) {
  if (!q->enabled) {
    syscall(SYS_io_uring_register, q->ring.ring_fd,
            IORING_REGISTER_ENABLE_RINGS, NULL, 0);
  }
  q->enabled = true;
}

/* Takes the inbox. Returns true if it is empty and reaping was interrupted;
   else who submits from now on has to wake the caller. */
static int look(struct driver_queue *q, struct driver_request **inbox) {
  lock_take(&q->lock);
  *inbox = q->inbox;
  q->inbox = NULL;
  q->last = &q->inbox;
  const bool interrupted = !*inbox && q->interrupted;
  if (interrupted) {
    q->interrupted = 0;
  }
  q->asleep = !interrupted;
  lock_give(&q->lock);
  return interrupted;
}

static struct driver_request *uring_reap(struct driver_queue *q) {
  struct driver_request *list = NULL, *inbox;
  enable(q);
  while (!list) {
    if (look(q, &inbox)) {
      return NULL;
    }
    start(q, inbox, &list);
    listen_again(q);
    /* An error (a signal, no memory just now) leaves all as it is: again. */
    (void)io_uring_submit_and_wait(&q->ring, list ? 0 : 1);
    collect(q, &list);
  }
  /* Awake now: what the caller submits before the next call needs no kick. */
  lock_take(&q->lock);
  q->asleep = false;
  lock_give(&q->lock);
  return list;
}

static void uring_queue_close(struct driver_queue *q) {
  io_uring_queue_exit(&q->ring);
  close(q->wake);
  lock_destroy(&q->lock);
  native_free(q);
}

const struct driver driver_uring = {
    .name = "uring",
    .help = "direct I/O with io_uring",
    .open = uring_open,
    .attach = uring_attach,
    .read = scratch_read,
    .write = scratch_write,
    .flush = scratch_flush,
    .grant = scratch_grant,
    .release = scratch_release,
    .close = scratch_close,
    .queue_open = uring_queue_open,
    .queue_submit = uring_submit,
    .queue_reap = uring_reap,
    .queue_interrupt = uring_interrupt,
    .queue_close = uring_queue_close,
    .map_lazy = scratch_lazy_map,
    .forget = scratch_lazy_forget,
};
