/* pthread_create, interposed: threads that a VP's program starts allocate from
   its context. */
#define _GNU_SOURCE
#include "base/native.h"
#include "vp/self.h"
#include "vp/vp.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

struct helper {
  struct vp *vp;
  void *(*run)(void *);
  void *arg;
};

static void *helper_thread(void *arg) {
  const struct helper h = *(struct helper *)arg;
  native_free(arg);
  self = (struct self){.vp = h.vp, .helper = true};
  return h.run(h.arg);
}

__attribute__((visibility("default"))) int
pthread_create(pthread_t *thread, const pthread_attr_t *attr,
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
  struct helper *h = native_alloc(sizeof(*h));
  if (!h) {
    return EAGAIN;
  }
  *h = (struct helper){.vp = self.vp, .run = run, .arg = arg};
  const int error = real(thread, attr, helper_thread, h);
  if (error) {
    native_free(h);
  }
  return error;
}
