/* A VP that has stopped in a call of MPI, as bytes, and a thread of another
   process that goes on there: its registers, its stack, its thread-local data
   and its context. */
#ifndef PEMS_VP_RESUME_H
#define PEMS_VP_RESUME_H

#include "checkpoint/blocks.h"
#include "context/calls/save.h"
#include "vp/vp.h"

#include <stdint.h>
#include <ucontext.h>

#include <pems/status.h>

/* What is not memory of the program. */
struct resume {
  ucontext_t at;    /* where it stopped */
  uint64_t begin;   /* end of its stack: what is above is the process's */
  uint64_t from;    /* context_stack_leave */
  sigjmp_buf leave; /* where exit goes */
  uint64_t waits, superstep, calls;
  uint64_t program_break[3];
  int32_t initialized, thread_level;
  struct context_homes homes;
};

/* On the VP's thread, in a call of MPI, `at->from` set; its frames below those
   of this function are not saved. Fills in *at, calls stopped() and returns
   false; in another process returns true where this one did. */
bool resume_stop(struct resume *at, void (*stopped)(void));

/* Both return 0, or an errno value with *error filled in. */

/* Within stopped(): ENOTSUP if something of the VP cannot be saved. */
int resume_save(struct vp *vp, struct resume *at, struct checkpoint_out *o,
                struct pems_error *error);
/* On the VP's thread, on another stack, before its program begins: reads what
   resume_save has written, first what the VP and its heap are; then, when all
   parts of its context are where they were, what they have. *b is the block
   behind what was read. */
int resume_load(struct vp *vp, struct resume *at, struct checkpoint_in *in,
                struct checkpoint_block *b, struct pems_error *error);
int resume_load_memory(struct vp *vp, const struct resume *at,
                       struct checkpoint_in *in, struct checkpoint_block *b,
                       struct pems_error *error);
/* When it has been loaded: are these addresses of memory that it has? */
bool resume_covers(const struct vp *vp, uint64_t at, size_t n);
/* Then: it goes on. */
_Noreturn void resume_go(struct vp *vp, struct resume *at);

#endif
