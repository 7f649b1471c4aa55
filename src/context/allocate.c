/* Blocks of a context's heap, on behalf of malloc and free. */
#include "context/allocate.h"
#include "context/internal.h"

#include "base/message.h"
#include "base/native.h"
#include "base/options.h"

#include <stdio.h>

_Noreturn void context_bad_block(const struct context *c, const void *p,
                                 const char *what) {
  /* The status that abort would give. */
  msg_fail(134, "%s: rank %d: %p: not an allocated block, or freed twice", what,
           c->rank, p);
}

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
    context_bad_block(c, p, "free");
  }
}

void context_apply_late_frees(struct context *c) {
  for (size_t i = 0; i < c->late_n; i++) {
    if (heap_free(c->heap, c->late_frees[i]) != 0) {
      context_bad_block(c, c->late_frees[i], "free");
    }
  }
  c->late_n = 0;
}

/* The heap may touch a large block (to clear or to move it) before its pages
   are counted: so room for it is made first. Returns what to give back. */
static size_t make_room_for(struct context *c, size_t n) {
  enum { LARGE = 1 << 20 };
  if (n < LARGE || n > c->range_len) {
    return 0;
  }
  residency_grow(c, n);
  return n;
}

static void claim(struct context *c, const void *p, size_t n, size_t reserved) {
  if (reserved) {
    residency_shrink(c, reserved);
  }
  if (p && n) {
    context_claim(c, p, n);
  }
}

static void *allocate(struct context *c, size_t n, size_t align, bool zero) {
  const size_t reserved = zero ? make_room_for(c, n) : 0;
  pthread_mutex_lock(&c->heap_lock);
  void *p = c->state != CONTEXT_IN ? NULL
            : zero                 ? heap_zalloc(c->heap, n)
                                   : heap_alloc(c->heap, n, align);
  pthread_mutex_unlock(&c->heap_lock);
  claim(c, p, n, reserved);
  if (!p && n) {
    c->refused = true;
  }
  return p;
}

const char *context_hint(const struct context *c, char *text, size_t size) {
  char mu[32];
  *text = '\0';
  if (c->refused) {
    snprintf(text, size,
             " (its malloc has failed before: a rank has %s: --pems-context "
             "gives more)",
             size_format(contexts.mu, mu, sizeof(mu)));
  }
  return text;
}

void *context_alloc(struct context *c, size_t n, size_t align) {
  return allocate(c, n, align, false);
}

void *context_zalloc(struct context *c, size_t n) {
  return allocate(c, n, 16, true);
}

void *context_realloc(struct context *c, void *p, size_t n) {
  const size_t reserved = make_room_for(c, n);
  pthread_mutex_lock(&c->heap_lock);
  const bool in = c->state == CONTEXT_IN;
  void *q = in ? heap_realloc(c->heap, p, n) : NULL;
  const bool bad = in && !q && heap_usable_size(c->heap, p) == 0;
  pthread_mutex_unlock(&c->heap_lock);
  if (bad) {
    context_bad_block(c, p, "realloc");
  }
  claim(c, q, n, reserved);
  return q;
}

size_t context_usable(struct context *c, const void *p) {
  pthread_mutex_lock(&c->heap_lock);
  const size_t n = c->state == CONTEXT_IN ? heap_usable_size(c->heap, p) : 0;
  pthread_mutex_unlock(&c->heap_lock);
  return n;
}

int context_block(struct context *c, const void *p, char **start,
                  size_t *size) {
  pthread_mutex_lock(&c->heap_lock);
  const int found =
      c->state == CONTEXT_IN ? heap_block(c->heap, p, start, size) : -1;
  pthread_mutex_unlock(&c->heap_lock);
  return found;
}
