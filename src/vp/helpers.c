#define _GNU_SOURCE
#include "vp/helpers.h"

#include "base/native.h"
#include "vp/vp.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

struct helpers {
  pthread_mutex_t lock;
  pid_t *thread; /* all of the VP's, its main thread first */
  int n, room;
  int starting; /* that have not begun yet */
  pid_t waiting;
};

/* Under the lock. Once the main thread is there, only those that begin come,
   for whom helpers_starting has made room. */
static bool reserve(struct helpers *h, int n) {
  if (n <= h->room) {
    return true;
  }
  pid_t *more = native_realloc(h->thread, 2 * n * sizeof(*more));
  if (more) {
    h->thread = more;
    h->room = 2 * n;
  }
  return more;
}

static struct helpers *helpers_new(void) {
  struct helpers *h = native_zalloc(1, sizeof(*h));
  if (h) {
    pthread_mutex_init(&h->lock, NULL);
    if (reserve(h, 8)) {
      h->thread[h->n++] = gettid();
    }
  }
  return h;
}

bool helpers_starting(struct vp *vp) {
  if (!vp->helpers) { /* only its main thread is there */
    vp->helpers = helpers_new();
  }
  struct helpers *h = vp->helpers;
  if (!h) {
    return false;
  }
  pthread_mutex_lock(&h->lock);
  const bool room = reserve(h, h->n + h->starting + 1);
  h->starting += room;
  pthread_mutex_unlock(&h->lock);
  return room;
}

void helpers_not_started(struct vp *vp) {
  pthread_mutex_lock(&vp->helpers->lock);
  vp->helpers->starting--;
  pthread_mutex_unlock(&vp->helpers->lock);
}

/* The end of a thread is the last destructor of thread-specific data: those of
   the program still run its code. */
static pthread_key_t end_key;
static __thread int end_rounds;

static void on_end(void *arg) {
  struct helpers *h = arg;
  if (++end_rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
    pthread_setspecific(end_key, h);
    return;
  }
  const pid_t me = gettid();
  pthread_mutex_lock(&h->lock);
  for (int i = 0; i < h->n; i++) {
    if (h->thread[i] == me) {
      h->thread[i] = h->thread[--h->n];
      break;
    }
  }
  pthread_mutex_unlock(&h->lock);
}

static void make_key(void) {
  pthread_key_create(&end_key, on_end);
}

void helpers_begin(struct vp *vp) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  struct helpers *h = vp->helpers;
  pthread_once(&once, make_key);
  pthread_mutex_lock(&h->lock);
  h->starting--;
  h->thread[h->n++] = gettid();
  pthread_mutex_unlock(&h->lock);
  pthread_setspecific(end_key, h);
}

void helpers_wait(struct vp *vp) {
  if (vp->helpers) {
    pthread_mutex_lock(&vp->helpers->lock);
    vp->helpers->waiting = gettid();
    pthread_mutex_unlock(&vp->helpers->lock);
  }
}

/* What the kernel says of a thread: the number of the system call in which it
   is, and its arguments; or that it runs. */
static bool sleeps(pid_t thread) {
  char path[64], text[256];
  snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", (int)thread);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
  if (fd >= 0) {
    close(fd);
  }
  if (n <= 0) {
    return false;
  }
  text[n] = '\0';
  long number = -1;
  unsigned long operation = 0, timeout = 1;
  const int fields =
      sscanf(text, "%ld %*x %lx %*x %lx", &number, &operation, &timeout);
  operation &= FUTEX_CMD_MASK;
  return fields == 3 && number == SYS_futex && timeout == 0 &&
         (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET);
}

bool helpers_asleep(const struct vp *vp) {
  struct helpers *h = vp->helpers;
  if (!h) {
    return true;
  }
  pthread_mutex_lock(&h->lock);
  bool asleep = h->starting == 0;
  for (int i = 0; i < h->n && asleep; i++) {
    asleep = h->thread[i] == h->waiting || sleeps(h->thread[i]);
  }
  pthread_mutex_unlock(&h->lock);
  return asleep;
}
