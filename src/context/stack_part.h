/* The part of a VP's stack that leaves memory with its context: the program's
   frames, while the VP's thread waits in a call of MPI. Frames of pems, which
   others may look at meanwhile, lie below them and stay; so does what the C
   library keeps of the thread, at the upper end. */
#ifndef PEMS_CONTEXT_STACK_PART_H
#define PEMS_CONTEXT_STACK_PART_H

#include "context/context.h"
#include "os/pages.h"

/* Bytes of an array that a function has between its caller's frames and those
   of what it calls, so that a page begins between the two. */
enum { CONTEXT_STACK_APART = 4096 + 64 };

static inline char *context_stack_boundary(char *apart) {
  return apart + (-(uintptr_t)apart & (PAGE - 1));
}

/* On the VP's thread: its program begins, on a stack whose lowest address is
   `low`; `apart` is between its frames and others. */
void context_stack_begin(struct context *c, char *low, char *apart);
/* It has ended, or is about to. */
void context_stack_end(struct context *c);

/* On the VP's thread: its program has called MPI; `apart` is between its frames
   and those of pems. True if that is so from here on, until context_stack_back;
   false in a callback's call, or on another stack. */
static inline bool context_stack_leave(struct context *c, char *apart) {
  struct context_stack *const s = &c->stack;
  char *const from = context_stack_boundary(apart), *const old = s->from;
  /* What an outer call has set would be below if it were not left by longjmp.
   */
  if (!s->low || apart < s->low || apart >= s->end || (old && from <= old)) {
    return false;
  }
  s->from = from;
  return true;
}
static inline void context_stack_back(struct context *c) {
  c->stack.from = NULL;
}
/* Is what counts of the stack not what a frame at `frame` needs? */
static inline bool context_stack_uneven(const struct context *c,
                                        const char *frame) {
  const struct context_stack *const s = &c->stack;
  return s->owes || (s->spare && frame > s->spare && frame < s->end);
}

/* The calling thread, one of c's, is about to wait, and c may leave memory
   meanwhile. All of the stack stays if that thread does not wait in a call that
   context_stack_leave has told of. */
void context_stack_settle(struct context *c);
/* The same thread is about to sleep: gives back the memory below its frames. */
void context_stack_trim(const struct context *c);

/* What leaves memory with c: whole pages, or nothing. The same as long as c is
   not in memory. */
struct image_part context_stack_live(const struct context *c);
/* As image_part of c's image, but of the stack only what leaves memory. */
struct image_part context_live_part(const struct context *c, int i);
/* Bytes of [p, p + n) that are part of what leaves memory, or are not, as the
   first: an array may begin or end where the thread's record lies, or pems's
   frames. */
size_t context_stack_alike(const struct context *c, const void *p, size_t n);

#endif
