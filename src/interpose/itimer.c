/* setitimer, alarm and their kin, interposed: a process has one timer of each
   kind, but here every rank has, and its signal goes to that rank. What a rank
   makes by timer_create tells that rank, too. */
#define _GNU_SOURCE
#include "interpose/itimer.h"

#include "base/failure.h"
#include "base/message.h"
#include "base/self.h"
#include "checkpoint/blocks.h"
#include "interpose/handler.h"
#include "os/native.h"
#include "vp/vp.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { KINDS = 3 }; /* ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF: 0, 1, 2 */

/* Of the VP whose main thread this is; but a thread that its program started
   has its own, which end with it. */
static __thread struct {
  timer_t timer;
  bool exists;
} itimer[KINDS];
/* Of timer_create, by the same thread, that exist. */
static __thread int others;

/* setitimer in a process that the program forked is that process's. */
static bool is_ranks(void) {
  return !self_native() && !self.helper && vp_in_job();
}

static int real_timer_create(clockid_t clock, struct sigevent *event,
                             timer_t *timer) {
  static int (*real)(clockid_t, struct sigevent *, timer_t *);
  if (!real) {
    real = (int (*)(clockid_t, struct sigevent *, timer_t *))dlsym(
        RTLD_NEXT, "timer_create");
  }
  return real(clock, event, timer);
}

/* The two that count the time of a process on a processor count that of the
   rank's main thread. */
static bool create(int kind) {
  static const int number[KINDS] = {SIGALRM, SIGVTALRM, SIGPROF};
  struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
                           .sigev_signo = number[kind],
                           .sigev_value.sival_ptr = &handlers_itimer};
  event._sigev_un._tid = handlers_thread();
  if (!itimer[kind].exists) {
    itimer[kind].exists =
        real_timer_create(kind == ITIMER_REAL ? CLOCK_MONOTONIC
                                              : CLOCK_THREAD_CPUTIME_ID,
                          &event, &itimer[kind].timer) == 0;
  }
  return itimer[kind].exists;
}

static struct itimerval to_val(const struct itimerspec *s) {
  return (struct itimerval){
      {s->it_interval.tv_sec, s->it_interval.tv_nsec / 1000},
      {s->it_value.tv_sec, (s->it_value.tv_nsec + 999) / 1000}};
}

static struct itimerspec to_spec(const struct itimerval *v) {
  return (struct itimerspec){
      {v->it_interval.tv_sec, v->it_interval.tv_usec * 1000},
      {v->it_value.tv_sec, v->it_value.tv_usec * 1000}};
}

static int set_itimer(int kind, const struct itimerval *value,
                      struct itimerval *old) {
  struct itimerspec was = {0};
  const struct itimerspec spec = to_spec(value);
  if (!create(kind) || timer_settime(itimer[kind].timer, 0, &spec, &was) != 0) {
    return -1;
  }
  if (old) {
    *old = to_val(&was);
  }
  return 0;
}

EXPORT int setitimer(__itimer_which_t which, const struct itimerval *value,
                     struct itimerval *old) {
  static int (*real)(__itimer_which_t, const struct itimerval *,
                     struct itimerval *);
  if (!real) {
    real = (int (*)(__itimer_which_t, const struct itimerval *,
                    struct itimerval *))dlsym(RTLD_NEXT, "setitimer");
  }
  if (!is_ranks() || (unsigned)which >= KINDS || !value) {
    return real(which, value, old);
  }
  return set_itimer((int)which, value, old);
}

EXPORT int getitimer(__itimer_which_t which, struct itimerval *value) {
  static int (*real)(__itimer_which_t, struct itimerval *);
  struct itimerspec now = {0};
  if (!real) {
    real = (int (*)(__itimer_which_t, struct itimerval *))dlsym(RTLD_NEXT,
                                                                "getitimer");
  }
  if (!is_ranks() || (unsigned)which >= KINDS) {
    return real(which, value);
  }
  if (itimer[which].exists && timer_gettime(itimer[which].timer, &now) != 0) {
    return -1;
  }
  *value = to_val(&now);
  return 0;
}

/* As in glibc: whole seconds, rounded, but never 0 while it runs. */
EXPORT unsigned alarm(unsigned seconds) {
  static unsigned (*real)(unsigned);
  struct itimerval old, new = {{0, 0}, {(time_t)seconds, 0}};
  if (!real) {
    real = (unsigned (*)(unsigned))dlsym(RTLD_NEXT, "alarm");
  }
  if (!is_ranks()) {
    return real(seconds);
  }
  if (set_itimer(ITIMER_REAL, &new, &old) != 0) {
    return 0;
  }
  const bool up = old.it_value.tv_usec >= 500000 ||
                  (!old.it_value.tv_sec && old.it_value.tv_usec);
  return (unsigned)old.it_value.tv_sec + up;
}

EXPORT useconds_t ualarm(useconds_t value, useconds_t interval) {
  static useconds_t (*real)(useconds_t, useconds_t);
  struct itimerval old, new = {{interval / 1000000, interval % 1000000},
                               {value / 1000000, value % 1000000}};
  if (!real) {
    real = (useconds_t(*)(useconds_t, useconds_t))dlsym(RTLD_NEXT, "ualarm");
  }
  if (!is_ranks()) {
    return real(value, interval);
  }
  if (set_itimer(ITIMER_REAL, &new, &old) != 0) {
    return (useconds_t)-1;
  }
  return (useconds_t)(old.it_value.tv_sec * 1000000 + old.it_value.tv_usec);
}

/* A function that the C library calls in a thread of its own would run while
   the rank's memory is on disk. */
EXPORT int timer_create(clockid_t clock, struct sigevent *event,
                        timer_t *timer) {
  if (self_native() || !vp_in_job()) {
    return real_timer_create(clock, event, timer);
  }
  struct sigevent own = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
  if (event) {
    own = *event;
  }
  if (own.sigev_notify == SIGEV_THREAD) {
    msg_fail(MSG_FAILED,
             "timer_create: rank %d: SIGEV_THREAD: not supported: use "
             "SIGEV_SIGNAL",
             self.vp->rank);
  }
  if (own.sigev_notify == SIGEV_SIGNAL) {
    own.sigev_notify = SIGEV_THREAD_ID;
    own._sigev_un._tid = handlers_thread();
  }
  const int result = real_timer_create(clock, &own, timer);
  others += result == 0;
  return result;
}

EXPORT int timer_delete(timer_t timer) {
  static int (*real)(timer_t);
  if (!real) {
    real = (int (*)(timer_t))dlsym(RTLD_NEXT, "timer_delete");
  }
  const int result = real(timer);
  others -= result == 0 && is_ranks() && others > 0;
  return result;
}

bool itimers_has_others(void) {
  return others > 0;
}

void itimers_end(void) {
  for (int i = 0; i < KINDS; i++) {
    if (itimer[i].exists) {
      timer_delete(itimer[i].timer);
      itimer[i].exists = false;
    }
  }
}

int itimers_save(struct checkpoint_out *o, struct pems_error *error) {
  struct itimerspec left[KINDS];
  memset(left, 0, sizeof(left));
  for (int i = 0; i < KINDS; i++) {
    if (itimer[i].exists && timer_gettime(itimer[i].timer, &left[i]) != 0) {
      return failure(error, errno, "its interval timer: %s", strerror(errno));
    }
  }
  return checkpoint_put(o, CHECKPOINT_TIMERS, 0, left, sizeof(left), error);
}

static bool runs(const struct itimerspec *s) {
  return s->it_value.tv_sec || s->it_value.tv_nsec;
}

int itimers_load(struct checkpoint_in *in, struct pems_error *error) {
  struct itimerspec left[KINDS];
  void *bytes;
  size_t n;
  int code = checkpoint_take(in, CHECKPOINT_TIMERS, &bytes, &n, error);
  if (code) {
    return code;
  }
  const bool good = n == sizeof(left);
  memcpy(left, bytes, good ? n : 0);
  native_free(bytes);
  for (int i = 0; good && i < KINDS; i++) {
    if (runs(&left[i]) && (!create(i) || timer_settime(itimer[i].timer, 0,
                                                       &left[i], NULL) != 0)) {
      return failure(error, errno, "restart: an interval timer: %s",
                     strerror(errno));
    }
  }
  return good ? 0
              : failure(error, EILSEQ, "checkpoint: %s: timers: %zu bytes",
                        in->path, n);
}
