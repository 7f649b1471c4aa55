/* exit and its kin, interposed: they end one VP, not the process. */
#define _GNU_SOURCE
#include "interpose/exit.h"
#include "base/failure.h"
#include "base/message.h"
#include "base/need.h"
#include "base/self.h"
#include "checkpoint/blocks.h"
#include "interpose/real.h"
#include "os/native.h"
#include "vp/vp.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* Only the program's own call on its rank's thread; not one from MPI, from a
   thread the program started, or in a process it forked. */
static bool ends_vp(void) {
  return !self_native() && !self.helper && vp_in_job();
}

static void refuse_helper(int status) {
  if (self.helper && !self.inside && vp_in_job()) {
    msg_fail(status & 0xff ? status & 0xff : MSG_FAILED,
             "exit: called by a thread that rank %d started: end ranks from "
             "their main threads",
             self.vp->rank);
  }
}

EXPORT _Noreturn void exit(int status) {
  refuse_helper(status);
  if (ends_vp()) {
    vp_exit(status, true);
  }
  if (!self_native() && !vp_in_job()) {
    vp_end_child(status);
  }
  void (*real)(int) = (void (*)(int))dlsym(RTLD_NEXT, "exit");
  real(status);
  __builtin_unreachable();
}

EXPORT _Noreturn void _exit(int status) {
  refuse_helper(status);
  if (ends_vp()) {
    vp_exit(status, false);
  }
  self_enter(); /* so the call below is not the program's */
  for (;;) {
    syscall(SYS_exit_group, status);
  }
}

EXPORT _Noreturn void _Exit(int status) {
  _exit(status);
}

/* By its number, too. The arguments that a call has not are not looked at. */
EXPORT long syscall(long number, ...) {
  INTERPOSE_REAL(syscall)
  enum { MOST = 6 };
  long argument[MOST];
  va_list args;
  va_start(args, number);
  for (int i = 0; i < MOST; i++) {
    argument[i] = va_arg(args, long);
  }
  va_end(args);
  if (number == SYS_exit_group && !self_native() && vp_in_job()) {
    _exit((int)argument[0]);
  }
  return real(number, argument[0], argument[1], argument[2], argument[3],
              argument[4], argument[5]);
}

/* Destructors of thread_local objects: run while the VP's context is still
   there, before those of static objects, as at the end of a process. */
struct exit_handler {
  struct exit_handler *next;
  void (*run)(void *object);
  void *object;
};

static __thread struct exit_handler *last;

void exit_run_thread_destructors(void) {
  while (last) {
    const struct exit_handler h = *last;
    native_free(last);
    last = h.next; /* the destructor may register more */
    h.run(h.object);
  }
}

/* In a checkpoint, the last one first. */
struct exit_saved {
  uint64_t n;
  struct exit_object {
    void (*run)(void *object);
    void *object;
  } item[];
};

int exit_save(struct checkpoint_out *o, struct pems_error *error) {
  enum { MOST = CHECKPOINT_LARGEST / sizeof(struct exit_object) - 1 };
  uint64_t n = 0;
  for (const struct exit_handler *h = last; h; h = h->next) {
    n++;
  }
  if (n > MOST) {
    return failure(error, ENOTSUP, "it has more than %d thread_local objects",
                   (int)MOST);
  }
  struct exit_saved *const s =
      native_alloc(sizeof(*s) + n * sizeof(s->item[0]));
  if (!s) {
    return failure(error, ENOMEM, "checkpoint: out of memory");
  }
  s->n = 0;
  for (const struct exit_handler *h = last; h; h = h->next) {
    s->item[s->n++] = (struct exit_object){h->run, h->object};
  }
  const int code = checkpoint_put(o, CHECKPOINT_THREAD_OBJECTS, 0, s,
                                  sizeof(*s) + n * sizeof(s->item[0]), error);
  native_free(s);
  return code;
}

static void push(void (*run)(void *), void *object) {
  struct exit_handler *const h = need_alloc(sizeof(*h), "thread_local object");
  *h = (struct exit_handler){last, run, object};
  last = h;
}

int exit_load(struct checkpoint_in *in, struct pems_error *error) {
  void *bytes;
  size_t n;
  int code = checkpoint_take(in, CHECKPOINT_THREAD_OBJECTS, &bytes, &n, error);
  if (code) {
    return code;
  }
  const struct exit_saved *const s = bytes;
  if (n >= sizeof(*s) && s->n == (n - sizeof(*s)) / sizeof(s->item[0])) {
    for (uint64_t i = s->n; i > 0; i--) {
      push(s->item[i - 1].run, s->item[i - 1].object);
    }
  } else {
    code =
        failure(error, EILSEQ,
                "checkpoint: %s: thread_local objects: %zu bytes", in->path, n);
  }
  native_free(bytes);
  return code;
}

/* What C++ compilers' runtimes register such destructors with. */
EXPORT int __cxa_thread_atexit_impl(void (*run)(void *), void *object,
                                    void *dso) {
  if (self.vp && !self.helper) {
    push(run, object);
    return 0;
  }
  int (*real)(void (*)(void *), void *, void *) =
      (int (*)(void (*)(void *), void *, void *))dlsym(
          RTLD_NEXT, "__cxa_thread_atexit_impl");
  return real(run, object, dso);
}
