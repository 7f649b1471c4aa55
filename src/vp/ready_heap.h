/* VPs that are ready and may be started, as a heap: the lowest turn first. Of
   equal turns, any. The caller's lock guards it. */
#ifndef PEMS_VP_READY_HEAP_H
#define PEMS_VP_READY_HEAP_H

#include "vp/vp.h"

/* Zeroed: none, and no room for any. */
struct ready_heap {
  struct vp **vp;
  int n;
};

/* Room for n VPs, or the job ends. */
void ready_heap_create(struct ready_heap *h, int n);
void ready_heap_destroy(struct ready_heap *h);

/* No effect if it is there already (vp->queued). O(log n), as the next. */
void ready_heap_push(struct ready_heap *h, struct vp *vp);
/* Takes the first one out. Not empty. */
struct vp *ready_heap_pop(struct ready_heap *h);
/* Or NULL. */
static inline struct vp *ready_heap_first(const struct ready_heap *h) {
  return h->n ? h->vp[0] : NULL;
}

#endif
