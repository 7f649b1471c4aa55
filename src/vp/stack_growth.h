/* A VP's stack grows, as part of its context, when its program touches what is
   below: what it needs counts where memory is counted, and is swapped. */
#ifndef PEMS_VP_STACK_GROWTH_H
#define PEMS_VP_STACK_GROWTH_H

#include <stdbool.h>

struct vp;

/* Called by a handler of SIGSEGV on a stack of its own, for an access to
   `address` by code at `code`: true if that is in a stack that could grow, and
   the access is worth another try. Code of the program waits for room as in
   malloc. Other code may hold locks that others want: it gets memory at once,
   which is counted when the VP calls MPI next. Where its context can have no
   more, the rest of a stack is a file (vp/stack.h). */
bool stack_growth_fault(const void *address, const void *code);
/* On the VP's thread, which runs on another stack: its own is to have all from
   `address` on. False if there is no memory. */
bool stack_growth_reach(struct vp *vp, const void *address);
/* On the VP's thread, which has a frame at `frame` and begins a call of MPI:
   counts what is owed; gives back what the program's frames need no more, if
   memory is short. */
void stack_growth_settle(struct vp *vp, const char *frame);

#endif
