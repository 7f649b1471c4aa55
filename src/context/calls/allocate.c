/* Blocks of a context's heap, on behalf of malloc and free. */
#include "context/calls/allocate.h"
#include "config/size.h"
#include "context/calls/oversize.h"
#include "context/internal.h"
#include "context/late_frees.h"
#include "context/residency/residency.h"
#include "context/store/space.h"

#include "base/message.h"
#include "config/options.h"
#include "os/lock.h"
#include "os/native.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static void free_oversize(struct context *c, void *p, const char *what) {
  if (!oversize_free(c, p)) {
    context_bad_block(c, p, what);
  }
}

void context_free(struct context *c, void *p) {
  if (oversize_owns(c, p)) {
    free_oversize(c, p, "free");
    return;
  }
  lock_take(&c->heap_lock);
  int bad = 0;
  if (c->state == CONTEXT_IN) {
    bad = heap_free(c->heap, p);
  } else {
    late_frees_add_locked(c, p);
  }
  lock_give(&c->heap_lock);
  if (bad) {
    context_bad_block(c, p, "free");
  }
}

struct context *context_of_block(struct context *own, const void *p) {
  struct context *const c = context_of(p);
  return c || !own || !oversize_owns(own, p) ? c : own;
}

/* What is asked of a heap. */
struct request {
  enum { ALLOC, ZALLOC, REALLOC, MAP, MAP_AT } call;
  void *p;
  size_t n, align;
  size_t old; /* of MAP: bytes that may have contents from before */
  bool quiet; /* the user is not told if it fails */
};

static void *ask(struct heap *h, struct request *r) {
  switch (r->call) {
  case ALLOC:
    return heap_alloc(h, r->n, r->align);
  case ZALLOC:
    return heap_zalloc(h, r->n);
  case REALLOC:
    return heap_realloc(h, r->p, r->n);
  case MAP:
    return heap_map(h, r->n, r->align, &r->old);
  default:
    return heap_map_at(h, r->p, r->n, &r->old) ? r->p : NULL;
  }
}

/* With what the heap has, though a block must be moved for it. */
static void *ask_full(struct context *c, struct request *r) {
  const size_t now = c->granted - image_parts_len(&c->image);
  heap_limit(c->heap, now, now);
  void *p = ask(c->heap, r);
  space_limit_heap(c);
  return p;
}

/* Programs may go on without the memory: so it is said once why, not more. */
static void say_once(const struct context *c, size_t n, const char *why) {
  static atomic_flag said = ATOMIC_FLAG_INIT;
  char more[16];
  if (!atomic_flag_test_and_set(&said)) {
    msg_warn_here("memory of rank %d: %s more: malloc fails: %s", c->rank,
                  size_format(n, more, sizeof(more)), why);
  }
}

static void refuse(struct context *c, size_t n, int error, const char *dir) {
  char why[512];
  c->refused = error;
  say_once(c, n, space_refusal(error, dir, why, sizeof(why)));
}

/* More than mu. Where the user has chosen that, nothing need be said. */
static void refuse_beyond(struct context *c, size_t n) {
  char has[16], most[16], why[160];
  c->refused = ENOMEM;
  if (!contexts.mu_chosen) {
    snprintf(why, sizeof(why), "it has %s, of %s that a rank can have: give %s",
             size_format(residency_need(c), has, sizeof(has)),
             size_format(contexts.mu, most, sizeof(most)), contexts.more);
    say_once(c, n, why);
  }
}

/* Lets the heap give up to `lacks` bytes; without its lock, for that takes the
   file system a moment. */
static bool grow(struct context *c, size_t lacks, const struct request *r) {
  const char *dir = "";
  const int error = space_grant(c, image_parts_len(&c->image) + lacks, &dir);
  if (error) {
    if (!r->quiet) {
      refuse(c, r->n, error, dir);
    }
    return false;
  }
  lock_take(&c->heap_lock);
  space_limit_heap(c);
  lock_give(&c->heap_lock);
  return true;
}

static void *serve(struct context *c, struct request *r) {
  for (bool full = false;;) {
    lock_take(&c->heap_lock);
    const bool in = c->state == CONTEXT_IN;
    void *p = !in ? NULL : full ? ask_full(c, r) : ask(c->heap, r);
    const size_t lacks = !in || p || full ? 0 : heap_lacks(c->heap);
    lock_give(&c->heap_lock);
    if (!lacks) {
      return p;
    }
    full = !grow(c, lacks, r);
  }
}

/* The heap may touch a large block (to clear or to move it) before its pages
   are counted: so room for it is made first. */
static bool is_touched(const struct context *c, const struct request *r) {
  enum { LARGE = 1 << 20 };
  return (r->call == ZALLOC || r->call == REALLOC) && r->n >= LARGE &&
         r->n <= c->range_len && space_on_disk();
}

/* Memory for threads is short, where only ranks without threads can give way.
 */
static void refuse_threads(struct context *c, size_t n) {
  char has[16], why[160];
  c->refused = ENOMEM;
  snprintf(why, sizeof(why),
           "it has %s, and others, whose threads run, the rest: give more "
           "--pems-memory or less --pems-k",
           size_format(residency_need(c), has, sizeof(has)));
  say_once(c, n, why);
}

/* Counts a new block. One that was moved is kept though there is no room: the
   old one is gone. */
static void *claim(struct context *c, const struct request *r, void *p) {
  if (!p || !r->n || context_claim(c, p, r->n) || r->call == REALLOC) {
    return p;
  }
  if (r->call == MAP || r->call == MAP_AT) {
    context_pages_free(c, p, r->n);
  } else {
    context_free(c, p);
  }
  return NULL;
}

/* What does not fit, beside the context; what was moved there is freed here. */
static void *beside(struct context *c, const struct request *r) {
  if (r->quiet || r->call == MAP_AT || c->refused == ENOSPC) {
    return NULL;
  }
  void *const p = oversize_alloc(c, r->n, r->align ? r->align : 16);
  if (p && r->call == REALLOC) {
    oversize_copy(c, p, r->p, context_usable(c, r->p));
    context_free(c, r->p);
  }
  return p;
}

static void *allocate(struct context *c, struct request *r) {
  const bool touched = is_touched(c, r);
  if (touched && !residency_reserve(c, r->n)) {
    refuse_threads(c, r->n);
    return NULL;
  }
  void *const p = serve(c, r);
  if (touched) {
    residency_unreserve(c, r->n);
  }
  void *const outside = p ? NULL : beside(c, r);
  if (outside) {
    return outside;
  }
  void *const counted = claim(c, r, p);
  if (r->quiet) {
    return counted;
  }
  if (p && !counted) {
    refuse_threads(c, r->n);
  } else if (!p && r->n && !c->refused) {
    refuse_beyond(c, r->n);
  }
  return counted;
}

const char *context_hint(const struct context *c, char *text, size_t size) {
  char mu[32];
  *text = '\0';
  if (c->refused == ENOMEM) {
    snprintf(text, size,
             " (its malloc has failed before: a rank can have %s: give %s)",
             size_format(contexts.mu, mu, sizeof(mu)), contexts.more);
  } else if (c->refused) {
    snprintf(text, size,
             " (its malloc has failed before: %s: name another directory with "
             "--pems-disk)",
             c->refused == ENOSPC ? "the disk is full" : strerror(c->refused));
  }
  return text;
}

void *context_alloc(struct context *c, size_t n, size_t align) {
  return allocate(c, &(struct request){.n = n, .align = align});
}

void *context_alloc_now(struct context *c, size_t n, size_t align,
                        bool *lacking) {
  struct request r = {.n = n, .align = align};
  void *const p = serve(c, &r);
  *lacking = p && n && !context_claim_now(c, p, n);
  if (*lacking) {
    context_free(c, p);
    return NULL;
  }
  if (!p && n && !c->refused) {
    refuse_beyond(c, n);
  }
  return p;
}

void *context_zalloc(struct context *c, size_t n) {
  return allocate(c, &(struct request){.call = ZALLOC, .n = n});
}

static void *realloc_oversize(struct context *c, void *p, size_t n) {
  const size_t had = oversize_size(c, p);
  if (!had) {
    context_bad_block(c, p, "realloc");
  }
  if (n <= had && n > had / 2) {
    return p;
  }
  void *const q = context_zalloc(c, n);
  if (q) {
    oversize_copy(c, q, p, n < had ? n : had);
    free_oversize(c, p, "realloc");
  }
  return q;
}

void *context_realloc(struct context *c, void *p, size_t n) {
  if (oversize_owns(c, p)) {
    return realloc_oversize(c, p, n);
  }
  void *q = allocate(c, &(struct request){.call = REALLOC, .p = p, .n = n});
  if (!q && context_resident(c) && context_usable(c, p) == 0) {
    context_bad_block(c, p, "realloc");
  }
  return q;
}

void *context_pages(struct context *c, const struct context_pages *pages,
                    size_t *old) {
  struct request r = {.call = pages->at ? MAP_AT : MAP,
                      .p = pages->at,
                      .n = pages->n,
                      .align = pages->align,
                      .quiet = pages->quiet};
  void *const p = allocate(c, &r);
  *old = r.old;
  return p;
}

void context_pages_free(struct context *c, void *p, size_t n) {
  lock_take(&c->heap_lock);
  heap_unmap(c->heap, p, n);
  lock_give(&c->heap_lock);
}

size_t context_pages_piece(struct context *c, const void *p, const void *end,
                           bool *mapped) {
  lock_take(&c->heap_lock);
  const size_t n = heap_mapped(c->heap, p, end, mapped);
  lock_give(&c->heap_lock);
  return n;
}

size_t context_usable(struct context *c, const void *p) {
  if (oversize_owns(c, p)) {
    return oversize_size(c, p);
  }
  lock_take(&c->heap_lock);
  const size_t n = c->state == CONTEXT_IN ? heap_usable_size(c->heap, p) : 0;
  lock_give(&c->heap_lock);
  return n;
}

int context_block(struct context *c, const void *p, char **start,
                  size_t *size) {
  lock_take(&c->heap_lock);
  const int found =
      c->state == CONTEXT_IN ? heap_block(c->heap, p, start, size) : -1;
  lock_give(&c->heap_lock);
  return found;
}
