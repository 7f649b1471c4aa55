/* A context in a checkpoint: where its heap has blocks, and the contents of
   these and of the program's data. On the VP's thread, with the context held.
   All return 0, or an errno value with *error filled in. */
#ifndef PEMS_CONTEXT_CALLS_SAVE_H
#define PEMS_CONTEXT_CALLS_SAVE_H

#include "checkpoint/blocks.h"
#include "context/context.h"

#include <pems/status.h>

/* What else the heap has blocks for: parts of the image that lie elsewhere, but
   for those of libraries that were opened (save_opened.h). */
struct context_homes {
  uint64_t n;
  struct context_home {
    uint64_t at, len;
    uint64_t pages; /* they were mapped, not allocated */
  } item[64];
};

/* ENOTSUP: that cannot be saved, and why. */
int context_save(struct context *c, struct checkpoint_out *o,
                 struct pems_error *error);
int context_save_homes(const struct context *c, struct context_homes *homes,
                       struct pems_error *error);

/* In a process where its program has not begun: all it has is gone, and the
   heap is the one of `state`, n bytes. Blocks with CHECKPOINT_MEMORY follow. */
int context_load(struct context *c, const void *state, size_t n,
                 struct pems_error *error);
/* When these have been read: gives the homes back. */
void context_load_homes(struct context *c, const struct context_homes *homes);

#endif
