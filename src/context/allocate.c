/* Blocks of a context's heap, on behalf of malloc and free. */
#include "context/allocate.h"
#include "context/internal.h"

#include "base/message.h"
#include "base/native.h"

void context_free(struct context *c, void *p) {
  pthread_mutex_lock(&c->heap_lock);
  int bad = 0;
  if (c->state == CONTEXT_IN) {
    bad = heap_free(c->heap, p);
  } else {
    if (c->late_n == c->late_room) {
      c->late_room = c->late_room ? 2 * c->late_room : 64;
      c->late_frees =
          native_realloc(c->late_frees, c->late_room * sizeof(void *));
      if (!c->late_frees) {
        msg_fail(MSG_FAILED, "out of memory: freeing memory of rank %d",
                 c->rank);
      }
    }
    c->late_frees[c->late_n++] = p;
  }
  pthread_mutex_unlock(&c->heap_lock);
  if (bad) {
    msg_fail(134, "free: rank %d: %p: not an allocated block, or freed twice",
             c->rank, p);
  }
}

void context_apply_late_frees(struct context *c) {
  for (size_t i = 0; i < c->late_n; i++) {
    (void)heap_free(c->heap, c->late_frees[i]);
  }
  c->late_n = 0;
}

static void *allocate(struct context *c, size_t n, size_t align, bool zero) {
  pthread_mutex_lock(&c->heap_lock);
  void *p = c->state != CONTEXT_IN ? NULL
            : zero                 ? heap_zalloc(c->heap, n)
                                   : heap_alloc(c->heap, n, align);
  pthread_mutex_unlock(&c->heap_lock);
  if (p && n) {
    context_claim(c, p, n);
  }
  return p;
}

void *context_alloc(struct context *c, size_t n, size_t align) {
  return allocate(c, n, align, false);
}

void *context_zalloc(struct context *c, size_t n) {
  return allocate(c, n, 16, true);
}

void *context_realloc(struct context *c, void *p, size_t n) {
  pthread_mutex_lock(&c->heap_lock);
  void *q = c->state == CONTEXT_IN ? heap_realloc(c->heap, p, n) : NULL;
  pthread_mutex_unlock(&c->heap_lock);
  if (q) {
    context_claim(c, q, n);
  }
  return q;
}

size_t context_usable(struct context *c, const void *p) {
  pthread_mutex_lock(&c->heap_lock);
  const size_t n = c->state == CONTEXT_IN ? heap_usable_size(c->heap, p) : 0;
  pthread_mutex_unlock(&c->heap_lock);
  return n;
}
