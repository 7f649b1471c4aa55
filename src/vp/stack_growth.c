#include "vp/stack_growth.h"

#include "base/self.h"
#include "context/calls/stack_chunks.h"
#include "context/residency/residency.h"
#include "context/stack_part.h"
#include "vp/stack.h"
#include "vp/vp.h"

#include <stdint.h>

/* Is it the program itself, not something that it has called, on the thread
   whose stack it is? Then it holds no lock but its own. */
static bool may_wait(const struct context *c, const void *code) {
  const char *library;
  uintptr_t address;
  return self.vp && self.vp->context == c && !self.inside && !self.helper &&
         vp_in_job() && c->stack.low && !c->stack.from &&
         image_place(&c->image, code, &library, &address);
}

/* What cannot be part of the context is a file, or memory beside it. */
static bool grow(struct context *c, const void *address) {
  struct vp *const vp = self.vp;
  char *const to = stack_reach(c->index, address);
  self_enter();
  struct vp *const busy = vp_busy(vp);
  const bool counted = stack_chunks_add(c, to);
  vp_not_busy(busy);
  self_leave();
  return counted ? stack_open(c->index, to) : stack_open_file(c->index);
}

bool stack_growth_reach(struct vp *vp, const void *address) {
  struct context *const c = vp->context;
  return !stack_is_shut(c->index, address) || grow(c, address);
}

bool stack_growth_fault(const void *address, const void *code) {
  struct context *const c = context_of(address);
  if (!c || !stack_is_shut(c->index, address)) {
    return false;
  }
  if (may_wait(c, code)) {
    return grow(c, address);
  }
  c->stack.owes = true;
  return stack_open(c->index, stack_reach(c->index, address));
}

static void pay(struct context *c) {
  c->stack.owes = false;
  if (c->stack.low && !c->stack.from &&
      !stack_chunks_add(c, stack_shut_to(c->index))) {
    (void)stack_open_file(c->index);
  }
}

/* Parts that came as the stack grew, and that lie below `frame`. */
static void give_back(struct context *c, const char *frame) {
  while (c->stack.spare && frame > c->stack.spare && !c->stack.from) {
    stack_chunks_drop(c);
    stack_shut(c->index, c->stack.counted);
  }
}

void stack_growth_settle(struct vp *vp, const char *frame) {
  struct context *const c = vp->context;
  if (self.helper) {
    return;
  }
  if (c->stack.owes) {
    pay(c);
  }
  if (contexts_crowded()) {
    give_back(c, frame);
  }
}
