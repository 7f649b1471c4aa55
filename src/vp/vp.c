/* The threads of virtual processors, from first to last. */
#define _GNU_SOURCE
#include "vp/vp.h"

#include "base/limit.h"
#include "base/message.h"
#include "base/self.h"
#include "config/size.h"
#include "context/calls/allocate.h"
#include "context/calls/fork.h"
#include "context/calls/thread_parts.h"
#include "context/image/thread_data.h"
#include "context/residency/lazy.h"
#include "os/futex.h"
#include "os/native.h"
#include "os/traced.h"
#include "vp/dispatch.h"
#include "vp/dormant.h"
#include "vp/exits.h"
#include "vp/run_queue.h"
#include "vp/side_stack.h"
#include "vp/stack.h"

#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pid_t job_pid;
static pthread_key_t end_key;
static const struct vp_interposer *interposer;

bool vp_in_job(void) {
  return job_pid && getpid() == job_pid;
}

/* A rank that leaves MPI running would leave others waiting for it. */
static void check_end(const struct vp *vp) {
  char hint[CONTEXT_HINT];
  if (!vp->initialized || vp->finalized) {
    return;
  }
  if (vp->status) {
    msg_fail(
        vp->status,
        "rank %d: ended with status %d before MPI_Finalize: the job ends%s",
        vp->rank, vp->status, context_hint(vp->context, hint, sizeof(hint)));
  }
  msg_fail(MSG_FAILED,
           "rank %d: ended without MPI_Finalize: call it on every rank",
           vp->rank);
}

_Noreturn void vp_exit(int status, bool destruct) {
  struct vp *vp = self.vp;
  vp->status = status & 0xff;
  vp->destruct = destruct;
  self.inside = 1;
  self_leave(); /* signals that came in a call of MPI */
  siglongjmp(vp->leave, 1);
}

bool vps_left_threads(void) {
  bool left = false;
  for (int i = 0; vps.item && i < vps.n; i++) {
    left |= vps.item[i].left_threads;
  }
  return left;
}

/* libgfortran writes its units when the process ends, which is no rank's end;
   all ranks of the process share them. */
static void flush_fortran(void) {
  void (*flush_units)(const int *unit) =
      (void (*)(const int *))dlsym(RTLD_DEFAULT, "_gfortran_flush_i4");
  if (flush_units) {
    flush_units(NULL);
  }
}

static void destruct(struct vp *vp) {
  if (vp->destruct) {
    interposer->destruct();
    image_destruct(&vp->context->image);
    interposer->flush();
    flush_fortran();
  }
}

/* A process that the program forked: of all ranks' handlers only those of the
   rank it is a copy of are its own, and only its memory is there. */
_Noreturn void vp_end_child(int status) {
  self.inside = 0;
  interposer->destruct();
  image_destruct(&self.vp->context->image);
  interposer->flush();
  flush_fortran();
  self.inside = 1;
  fflush(NULL);
  msg_quit(status & 0xff);
}

/* A program may end in another process than the one in which it began: from
   there on only `self` tells which VP it is. */
static __attribute__((noinline)) void begin_program(void) {
  struct vp *vp = self.vp;
  vp->destruct = true;
  image_construct(&vp->context->image, vp->argc, vp->argv, vp->envp);
  const int status =
      image_main(&vp->context->image, vp->argc, vp->argv, vp->envp) & 0xff;
  self.vp->status = status;
}

/* A handler that calls exit comes back here, and the others still run; one that
   calls _exit ends that. */
static __attribute__((noinline)) void end_program(void) {
  struct vp *vp = self.vp;
  if (sigsetjmp(vp->leave, 0) == 0 || vp->destruct) {
    destruct(vp);
  }
}

static _Noreturn __attribute__((noinline)) void run_program(void) {
  if (sigsetjmp(self.vp->leave, 0) == 0) {
    begin_program();
  }
  end_program();
  siglongjmp(self.vp->outside, 1);
}

/* The program's frames begin in a page of their own, below those of who starts
   it. */
static __attribute__((noinline)) void run_apart(struct vp *vp) {
  char apart[CONTEXT_STACK_APART];
  context_stack_begin(vp->context, vp->stack, apart);
  vp->stack_begin = context_stack_boundary(apart);
  if (sigsetjmp(vp->outside, 0) == 0) {
    if (vp_restart) {
      side_stack_run(vp, vp_restart);
    }
    run_program();
  }
  context_stack_end(self.vp->context);
}

/* Thread-local data may be larger than a page's rest: frames of the program are
   to lie where its context has the stack. */
static __attribute__((noinline)) void run_below(struct vp *vp) {
  const struct image_part stack = vp->context->image.stack;
  const char *const frame = __builtin_frame_address(0);
  const char *const end = stack.data + stack.len;
  char *volatile skipped = NULL;
  if (stack.len && frame > end && frame <= end + stack_top()) {
    skipped = alloca((size_t)(frame - end));
  }
  run_apart(vp);
  (void)skipped;
}

/* All threads exist from the start, and the C library has cleared all their
   thread-local data: together that may be more than there is memory. So who
   starts one waits for it. */
static void drop_data(struct vp *vp) {
  if (stack_top()) {
    thread_data_drop(vp->context->image.file);
    futex_post(&vp->dropped);
  }
}

void vp_begin_data(const struct vp *vp) {
  char size[16];
  self_enter();
  struct vp *const busy = vp_busy(self.vp);
  const size_t lacking = thread_parts_add(vp->context);
  vp_not_busy(busy);
  if (lacking) {
    msg_fail(MSG_FAILED,
             "thread-local data of rank %d: %s: no room in its context: give "
             "%s",
             vp->rank, size_format(lacking, size, sizeof(size)), vps.plan.more);
  }
  thread_data_begin(&vp->context->image);
  self_leave();
}

static void *vp_thread(void *arg) {
  struct vp *vp = arg;
  drop_data(vp);
  /* Each rank has its own working directory and umask, as a process would. */
  (void)unshare(CLONE_FS);
  vp->signal_stack = interposer->stack_new();
  run_queue_enter(vp);
  self.vp = vp;
  if (vp->prepare) {
    self_enter();
    vp->prepare(vp);
    self_leave();
  }
  interposer->begin(vp);
  pthread_setspecific(end_key, vp);
  if (!vp_restart) {
    vp_begin_data(vp);
  }
  run_below(vp);
  if (!vp_in_job()) {
    vp_end_child(vp->status);
  }
  vp->program_ended = true;
  interposer->forget(vp);
  return NULL;
}

/* The end of a VP is the last destructor of thread-specific data: those of the
   program run before, when the context is still there, and so do destructors
   that the program's pthread_exit unwinds. */
static void vp_end(void *arg) {
  struct vp *vp = arg;
  context_stack_end(vp->context); /* it was left by pthread_exit */
  if (++vp->end_rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
    pthread_setspecific(end_key, vp);
    return;
  }
  if (!vp->program_ended) { /* pthread_exit: as a process would, status 0 */
    vp->destruct = true;
    if (sigsetjmp(vp->leave, 0) == 0 || vp->destruct) {
      destruct(vp);
    }
  }
  self.inside = 1;
  check_end(vp);
  interposer->end(vp);
  self = (struct self){0};
  run_queue_leave(vp);
  interposer->stack_free(vp->signal_stack);
  exits_free(vp);
  side_stack_free(vp);
}

static void start(struct vp *vp) {
  pthread_attr_t attr;
  int error = 0;
  char *range = NULL;
  if (vp->context) {
    (void)context_stack_range(vp->context, &range);
  }
  vp->stack = stack_make(vp->index, range);
  if (!vp->stack) {
    error = errno;
  } else {
    vp->stack_size = stack_size();
    pthread_attr_init(&attr);
    pthread_attr_setstack(&attr, vp->stack, vp->stack_size);
    error = pthread_create(&vp->thread, &attr, vp_thread, vp);
    pthread_attr_destroy(&attr);
  }
  if (!error && stack_top()) {
    futex_await(&vp->dropped);
  }
  if (error) {
    char advice[LIMIT_TEXT];
    msg_fail_here(MSG_FAILED, "starting a thread: rank %d: %s: %s", vp->rank,
                  strerror(error),
                  limit_advice(advice, LIMIT_THREAD, error, stack_size(),
                               "use fewer ranks"));
  }
}

/* MPI and pems fork only to start something else. */
static bool forks(void) {
  return self.vp && self.vp->context && !self.inside;
}

static void before_fork(void) {
  if (self.vp && self.vp->context && vp_in_job()) {
    lazy_settle(self.vp->context);
  }
  if (forks()) {
    stack_before_fork(self.vp->stack);
    fork_prepare(self.vp->context);
  }
}

static void in_child(void) {
  if (forks()) {
    fork_child(self.vp->context);
  }
}

static void end(struct vp *vp, int *status) {
  pthread_join(vp->thread, NULL);
  stack_free(vp->stack);
  if (!*status) {
    *status = vp->status;
  }
}

/* Those that MPI_Comm_spawn has started, in any order. */
static void end_started(int *status) {
  int first = 0;
  struct vp *vp;
  dormant_ended(vps.n - vps.dormant);
  while ((vp = dormant_next())) {
    end(vp, &first);
    dormant_ended(1);
  }
  *status = *status ? *status : first;
}

/* A debugger would stop at each signal by which a stack grows. */
static bool may_grow(void) {
  const struct context *const c = vps.n ? vps.item[0].context : NULL;
  return c && c->image.stack.len && !traced_is();
}

int vps_run(const char *dir, const struct vp_interposer *with) {
  const int own = vps.n - vps.dormant;
  int status = 0;
  interposer = with;
  pthread_atfork(before_fork, fork_parent, in_child);
  interposer->install();
  job_pid = getpid();
  pthread_key_create(&end_key, vp_end);
  dispatch_create(vps.item, vps.n, vps.plan.k, vps.policy);
  stacks_start(dir, vps.n, may_grow());
  dormant_begin(start);
  for (int i = 0; i < own; i++) {
    start(&vps.item[i]);
  }
  for (int i = 0; i < own; i++) {
    end(&vps.item[i], &status);
  }
  if (vps.universe) {
    end_started(&status);
  }
  stacks_end();
  dispatch_destroy();
  return status;
}
