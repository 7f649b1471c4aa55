/* A stack of pems for calls of MPI from a stack of the program's own
   (makecontext, coroutines) that lies in its context: this leaves memory while
   the call waits, but frames of pems, which others look at, must not. */
#ifndef PEMS_VP_SIDE_STACK_H
#define PEMS_VP_SIDE_STACK_H

struct vp;

/* On the VP's thread, which has a frame at `frame`: where the stack pointer is
   to be for a call into pems, or NULL if it may stay. Such a stack is made when
   it is first wanted, its pages are there as they are used; a shortage ends the
   job. Only one call at a time may be on it. */
char *side_stack_for(struct vp *vp, const char *frame);
/* On the VP's thread: calls run() on that stack. It must not return. */
_Noreturn void side_stack_run(struct vp *vp, void (*run)(void));
/* When the VP has ended. */
void side_stack_free(struct vp *vp);

/* Sets the stack pointer and returns what it was. The function that this is
   inlined in must find its own frame by another register, which compilers see
   to where it has memory from alloca: give that as `with`. */
static inline __attribute__((always_inline)) void *
side_stack_switch(void *to, const void *with) {
  void *before;
#if defined(__x86_64__)
  __asm__ volatile("mov %%rsp, %0\n\tmov %1, %%rsp"
                   : "=&r"(before)
                   : "r"(to), "r"(with)
                   : "memory");
#elif defined(__aarch64__)
  __asm__ volatile("mov %0, sp\n\tmov sp, %1"
                   : "=&r"(before)
                   : "r"(to), "r"(with)
                   : "memory");
#else
  (void)with;
  before = to; /* side_stack_for returns NULL */
#endif
  return before;
}

#endif
