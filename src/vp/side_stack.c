#define _GNU_SOURCE
#include "vp/side_stack.h"

#include "base/need.h"
#include "base/self.h"
#include "context/context.h"
#include "os/pages.h"
#include "vp/vp.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <ucontext.h>

enum {
  BYTES = 256 << 10, /* pems's own frames, and a callback's: address space */
  /* Compilers may keep a place for arguments just above the stack pointer. */
  ABOVE = 512,
};

/* The sanitizers know no stacks that they are not told of. */
static bool can_switch(void) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return false;
#elif defined(__x86_64__) || defined(__aarch64__)
  return true;
#else
  return false;
#endif
}

static bool lies_in(const char *p, const void *low, size_t n) {
  return (size_t)(p - (const char *)low) < n;
}

static char *make(void) {
  char *const low = mmap(NULL, PAGE + BYTES, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (low == MAP_FAILED ||
      mprotect(low + PAGE, BYTES, PROT_READ | PROT_WRITE) != 0) {
    need_fail("a stack for calls of MPI from a program's own stack");
  }
  return low;
}

char *side_stack_for(struct vp *vp, const char *frame) {
  if (!can_switch() || !vp->context || self.helper ||
      lies_in(frame, vp->stack, vp->stack_size) ||
      !context_covers(vp->context, frame)) {
    return NULL;
  }
  if (!vp->side_stack) {
    vp->side_stack = make();
  }
  return vp->side_stack + PAGE + BYTES - ABOVE;
}

_Noreturn void side_stack_run(struct vp *vp, void (*run)(void)) {
  ucontext_t there;
  if (!vp->side_stack) {
    vp->side_stack = make();
  }
  getcontext(&there);
  there.uc_stack.ss_sp = vp->side_stack + PAGE;
  there.uc_stack.ss_size = BYTES;
  there.uc_link = NULL;
  makecontext(&there, run, 0);
  setcontext(&there);
  __builtin_trap();
}

void side_stack_free(struct vp *vp) {
  if (vp->side_stack) {
    munmap(vp->side_stack, PAGE + BYTES);
    vp->side_stack = NULL;
  }
}
