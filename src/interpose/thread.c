/* Threads of a VP's program: pthread_create and thrd_create, interposed. */
#define _GNU_SOURCE
#include "base/self.h"
#include "interpose/dlfcn.h"
#include "interpose/keys.h"
#include "os/native.h"
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
  keys_begin_thread(h.vp);
  helpers_begin(h.vp);
  self = (struct self){.vp = h.vp, .helper = true};
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

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                          void *(*run)(void *), void *arg) {
  static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                     void *);
  if (!real) {
    real = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                    void *))dlsym(RTLD_NEXT, "pthread_create");
  }
  if (self_native()) {
    return real(thread, attr, run, arg);
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
