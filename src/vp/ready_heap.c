#include "vp/ready_heap.h"

#include "base/need.h"
#include "os/native.h"

void ready_heap_create(struct ready_heap *h, int n) {
  h->vp = need_zalloc(n, sizeof(*h->vp), "scheduling");
  h->n = 0;
}

void ready_heap_destroy(struct ready_heap *h) {
  native_free(h->vp);
  *h = (struct ready_heap){0};
}

static void swap(const struct ready_heap *h, int i, int j) {
  struct vp *vp = h->vp[i];
  h->vp[i] = h->vp[j];
  h->vp[j] = vp;
}

static bool before(const struct ready_heap *h, int i, int j) {
  return h->vp[i]->turn < h->vp[j]->turn;
}

void ready_heap_push(struct ready_heap *h, struct vp *vp) {
  if (vp->queued) {
    return;
  }
  int i = h->n++;
  h->vp[i] = vp;
  vp->queued = true;
  for (; i > 0 && before(h, i, (i - 1) / 2); i = (i - 1) / 2) {
    swap(h, i, (i - 1) / 2);
  }
}

struct vp *ready_heap_pop(struct ready_heap *h) {
  struct vp *first = h->vp[0];
  first->queued = false;
  h->vp[0] = h->vp[--h->n];
  for (int i = 0, child; (child = 2 * i + 1) < h->n; i = child) {
    if (child + 1 < h->n && before(h, child + 1, child)) {
      child++;
    }
    if (!before(h, child, i)) {
      break;
    }
    swap(h, child, i);
  }
  return first;
}
