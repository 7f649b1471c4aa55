/* Threads of a VP's program: pthread_create and thrd_create, interposed. */
#define _GNU_SOURCE
#include "base/self.h"
#include "context/image/thread_data.h"
#include "interpose/dlfcn.h"
#include "interpose/keys.h"
#include "os/native.h"
#include "os/thread_zeros.h"
#include "vp/helpers.h"
#include "vp/vp.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <threads.h>

#define EXPORT __attribute__((visibility("default")))

/* What a thread that a program starts has to run. Such a helper allocates from
   its VP's context, and calls MPI if its program has asked for that. */
struct helper {
  struct vp *vp;
  void *(*run)(void *);
  int (*run_c11)(void *);
  void *arg;
};

static struct helper become_helper(void *arg) {
  const struct helper h = *(struct helper *)arg;
  native_free(arg);
  thread_zeros_give_back();
  keys_begin_thread(h.vp);
  helpers_begin(h.vp);
  self = (struct self){.vp = h.vp, .helper = true};
  thread_data_begin(&h.vp->context->image);
  dlfcn_begin_thread(h.vp);
  return h;
}

static void *helper_thread(void *arg) {
  const struct helper h = become_helper(arg);
  return h.run(h.arg);
}

static int helper_thread_c11(void *arg) {
  const struct helper h = become_helper(arg);
  return h.run_c11(h.arg);
}

static struct helper *helper_new(struct helper h) {
  struct helper *p = native_alloc(sizeof(*p));
  struct vp *const busy = vp_busy(self.vp);
  const bool room = p && helpers_starting(self.vp);
  vp_not_busy(busy);
  if (room) {
    *p = h;
    p->vp = self.vp;
    return p;
  }
  native_free(p);
  return NULL;
}

static void helper_not_started(struct helper *h) {
  if (h) {
    helpers_not_started(h->vp);
    native_free(h);
  }
}

/* What a thread of pems or MPI has to run. */
struct own_thread {
  void *(*run)(void *);
  void *arg;
};

static void *run_own(void *arg) {
  const struct own_thread t = *(struct own_thread *)arg;
  native_free(arg);
  thread_zeros_give_back();
  return t.run(t.arg);
}

typedef int create_thread(pthread_t *thread, const pthread_attr_t *attr,
                          void *(*run)(void *), void *arg);

static int start_own(create_thread *real, pthread_t *thread,
                     const pthread_attr_t *attr, struct own_thread t) {
  struct own_thread *const p =
      thread_zeros_bytes() ? native_alloc(sizeof(*p)) : NULL;
  if (!p) {
    return real(thread, attr, t.run, t.arg);
  }
  *p = t;
  const int error = real(thread, attr, run_own, p);
  if (error) {
    native_free(p);
  }
  return error;
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                          void *(*run)(void *), void *arg) {
  static create_thread *real;
  if (!real) {
    real = (create_thread *)dlsym(RTLD_NEXT, "pthread_create");
  }
  if (self_native()) {
    return start_own(real, thread, attr, (struct own_thread){run, arg});
  }
  struct helper *h = helper_new((struct helper){.run = run, .arg = arg});
  const int error = h ? real(thread, attr, helper_thread, h) : EAGAIN;
  if (error) {
    helper_not_started(h);
  }
  return error;
}

EXPORT int thrd_create(thrd_t *thread, thrd_start_t run, void *arg) {
  static int (*real)(thrd_t *, thrd_start_t, void *);
  if (!real) {
    real = (int (*)(thrd_t *, thrd_start_t, void *))dlsym(RTLD_NEXT,
                                                          "thrd_create");
  }
  if (self_native()) {
    return real(thread, run, arg);
  }
  struct helper *h = helper_new((struct helper){.run_c11 = run, .arg = arg});
  const int result = h ? real(thread, helper_thread_c11, h) : thrd_nomem;
  if (result != thrd_success) {
    helper_not_started(h);
  }
  return result;
}
