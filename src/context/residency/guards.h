/* Makes the memory of many contexts of few pages inaccessible at once: to map
   each of them anew takes longer than to move their pages. With the io_lock of
   all; SWAP_MOST (swap.h) at most. */
#ifndef PEMS_CONTEXT_RESIDENCY_GUARDS_H
#define PEMS_CONTEXT_RESIDENCY_GUARDS_H

#include "context/store/crate.h"

/* Gives back the pages of those that are in crates (`done`), and notes it of
   each (`guarded`): any touch is a fault then, but of what lies above the top
   of a heap, which has no pages. Who is not guarded has its pages yet, or
   zeros, and is to be unmapped: there was no room, or the system cannot. */
void guards_close(const struct crate_move *m, int n);
/* Those that are guarded are accessible, and zero. Who is not guarded any more
   is to be mapped anew. */
void guards_open(struct context *const *c, int n);

#endif
