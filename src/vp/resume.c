#define _GNU_SOURCE
#include "vp/resume.h"

#include "base/failure.h"
#include "base/self.h"
#include "context/image/thread_data.h"
#include "os/native.h"
#include "vp/exits.h"
#include "vp/stack.h"
#include "vp/stack_growth.h"

#include <errno.h>
#include <string.h>

/* Where the machine is one of those of os/fixed.h. */
static uint64_t stack_pointer(const ucontext_t *at) {
#if defined(__x86_64__)
  return (uint64_t)at->uc_mcontext.gregs[REG_RSP];
#else
  return (uint64_t)(uintptr_t)at;
#endif
}

/* In another process nothing that was in a register is of use but `self`. */
__attribute__((noinline)) bool resume_stop(struct resume *at,
                                           void (*stopped)(void)) {
  getcontext(&at->at);
  if (self.vp->resumes) {
    self.vp->resumes = false;
    return true;
  }
  stopped();
  return false;
}

/* --- saving --- */

static int save_thread_data(const struct context *c, struct checkpoint_out *o,
                            struct pems_error *error) {
  const struct image_file *const f = c->image.file;
  int code = 0;
  for (int i = 0; i < thread_data_count(f) && !code; i++) {
    const struct image_part part = thread_data_block(f, i);
    code = checkpoint_put(o, CHECKPOINT_STACK, (uintptr_t)part.data, part.data,
                          part.len, error);
  }
  return code;
}

static void note(const struct vp *vp, struct resume *at) {
  const struct context *const c = vp->context;
  at->begin = (uintptr_t)vp->stack_begin;
  memcpy(&at->leave, &vp->leave, sizeof(at->leave));
  at->waits = vp->steps;
  at->superstep = vp->superstep;
  at->calls = self.calls;
  at->program_break[0] = c->program_break.start;
  at->program_break[1] = c->program_break.now;
  at->program_break[2] = c->program_break.end;
  at->initialized = vp->initialized;
  at->thread_level = vp->thread_level;
}

int resume_save(struct vp *vp, struct resume *at, struct checkpoint_out *o,
                struct pems_error *error) {
  const uint64_t sp = stack_pointer(&at->at);
  const uint64_t begin = (uintptr_t)vp->stack_begin;
  const struct context_stack *const s = &vp->context->stack;
  if (sp < (uintptr_t)vp->stack || sp >= begin) {
    return failure(error, ENOTSUP, "it runs on a stack of its program's own");
  }
  if (s->low && s->from != (char *)at->from) {
    return failure(error, ENOTSUP, "it calls MPI from a callback");
  }
  note(vp, at);
  int code = context_save_homes(vp->context, &at->homes, error);
  code = code ? code
              : checkpoint_put(o, CHECKPOINT_RANK, 0, at, sizeof(*at), error);
  code = code ? code : exits_save(vp, o, error);
  code = code ? code : context_save(vp->context, o, error);
  code = code ? code : save_thread_data(vp->context, o, error);
  return code ? code
              : checkpoint_put(o, CHECKPOINT_STACK, sp, (const void *)sp,
                               begin - sp, error);
}

/* --- loading --- */

static int strange(const struct checkpoint_in *in, struct pems_error *error,
                   const char *what) {
  return failure(error, EILSEQ,
                 "checkpoint: %s: %s: restart from the one before", in->path,
                 what);
}

/* Blocks of CHECKPOINT_HEAP, as one; *b is the first, and then the one behind
   them. */
static int load_heap(struct vp *vp, struct checkpoint_in *in,
                     struct checkpoint_block *b, struct pems_error *error) {
  char *state = NULL;
  size_t n = 0;
  int code = 0;
  while (!code && b->kind == CHECKPOINT_HEAP) {
    char *const more = native_realloc(state, n + b->n);
    if (!more) {
      code =
          failure(error, ENOMEM, "restart: rank %d: out of memory", vp->rank);
      break;
    }
    state = more;
    code = checkpoint_get(in, b, state + n, error);
    n += b->n;
    code = code ? code : checkpoint_next(in, b, error);
  }
  code = code ? code : context_load(vp->context, state, n, error);
  native_free(state);
  return code;
}

static int load_memory(struct vp *vp, struct checkpoint_in *in,
                       struct checkpoint_block *b, struct pems_error *error) {
  int code = 0;
  while (!code && b->kind == CHECKPOINT_MEMORY) {
    const char *const p = (const char *)b->at;
    if (!context_covers(vp->context, p) ||
        !context_covers(vp->context, p + b->n - 1)) {
      return strange(in, error, "its program lies elsewhere here");
    }
    code = checkpoint_get(in, b, (void *)b->at, error);
    code = code ? code : checkpoint_next(in, b, error);
  }
  return code;
}

static bool is_thread_data(const struct context *c, uint64_t at, size_t n) {
  const struct image_file *const f = c->image.file;
  bool found = false;
  for (int i = 0; i < thread_data_count(f); i++) {
    const struct image_part part = thread_data_block(f, i);
    const uint64_t in = at - (uintptr_t)part.data;
    found |= in < part.len && n <= part.len - in;
  }
  return found;
}

static bool is_in(uint64_t at, size_t n, const void *from, const void *to) {
  return at >= (uintptr_t)from && at + n <= (uintptr_t)to;
}

bool resume_covers(const struct vp *vp, uint64_t at, size_t n) {
  return is_in(at, n, vp->stack, vp->stack_begin) ||
         is_thread_data(vp->context, at, n) ||
         (n && context_covers(vp->context, (const char *)at) &&
          context_covers(vp->context, (const char *)at + n - 1));
}

static int load_stack(struct vp *vp, const struct resume *at,
                      struct checkpoint_in *in, struct checkpoint_block *b,
                      struct pems_error *error) {
  const uint64_t sp = stack_pointer(&at->at);
  int code = 0;
  if (at->begin != (uintptr_t)vp->stack_begin || sp < (uintptr_t)vp->stack ||
      sp >= at->begin) {
    return strange(in, error, "stacks lie elsewhere here");
  }
  if (!stack_growth_reach(vp, (const void *)sp)) {
    return failure(error, ENOMEM, "restart: rank %d: no memory for its stack",
                   vp->rank);
  }
  while (!code && b->kind == CHECKPOINT_STACK) {
    const bool of_stack = b->at >= sp && b->at + b->n <= at->begin;
    if (!of_stack && !is_thread_data(vp->context, b->at, b->n)) {
      return strange(in, error, "thread-local data lie elsewhere here");
    }
    code = checkpoint_get(in, b, (void *)b->at, error);
    code = code ? code : checkpoint_next(in, b, error);
  }
  return code;
}

int resume_load(struct vp *vp, struct resume *at, struct checkpoint_in *in,
                struct checkpoint_block *b, struct pems_error *error) {
  int code = checkpoint_next(in, b, error);
  if (!code && (b->kind != CHECKPOINT_RANK || b->n != sizeof(*at))) {
    return strange(in, error, "it is not a rank's");
  }
  code = code ? code : checkpoint_get(in, b, at, error);
  code = code ? code : checkpoint_next(in, b, error);
  code = code ? code : exits_load(in, b, error);
  return code ? code : load_heap(vp, in, b, error);
}

int resume_load_memory(struct vp *vp, const struct resume *at,
                       struct checkpoint_in *in, struct checkpoint_block *b,
                       struct pems_error *error) {
  const int code = load_memory(vp, in, b, error);
  if (code) {
    return code;
  }
  context_load_homes(vp->context, &at->homes);
  vp_begin_data(vp);
  return load_stack(vp, at, in, b, error);
}

_Noreturn void resume_go(struct vp *vp, struct resume *at) {
  struct context *const c = vp->context;
  c->stack.from = c->stack.low ? (char *)at->from : NULL;
  memcpy(&vp->leave, &at->leave, sizeof(vp->leave));
  vp->waits = vp->steps = at->waits;
  vp->superstep = at->superstep;
  vp->initialized = at->initialized;
  vp->thread_level = at->thread_level;
  c->program_break.start = at->program_break[0];
  c->program_break.now = at->program_break[1];
  c->program_break.end = at->program_break[2];
  self.inside = 1;
  self.calls = at->calls;
  vp->resumes = true;
  vp->destruct = true;
#if defined(__x86_64__)
  at->at.uc_mcontext.fpregs = &at->at.__fpregs_mem;
#endif
  setcontext(&at->at);
  __builtin_trap();
}
