#include "context/calls/save.h"

#include "base/failure.h"
#include "config/size.h"
#include "context/calls/allocate.h"
#include "context/calls/save_opened.h"
#include "context/internal.h"
#include "context/residency/residency.h"
#include "context/store/space.h"
#include "os/lock.h"
#include "os/native.h"
#include "os/pages.h"

#include <errno.h>
#include <string.h>

enum { EXTENTS = 4096 };

/* --- saving --- */

static int short_of_memory(struct pems_error *error, const struct context *c) {
  return failure(error, ENOMEM, "checkpoint: rank %d: out of memory", c->rank);
}

static int save_heap(struct context *c, struct checkpoint_out *o,
                     struct pems_error *error) {
  lock_take(&c->heap_lock);
  const size_t n = heap_save_size(c->heap);
  void *const state = native_alloc(n);
  if (state) {
    heap_save(c->heap, state);
  }
  lock_give(&c->heap_lock);
  const int code = state
                       ? checkpoint_put(o, CHECKPOINT_HEAP, 0, state, n, error)
                       : short_of_memory(error, c);
  native_free(state);
  return code;
}

static int save_blocks(struct context *c, struct checkpoint_out *o,
                       struct pems_error *error) {
  struct heap_extent *const at = native_alloc(EXTENTS * sizeof(*at));
  if (!at) {
    return short_of_memory(error, c);
  }
  lock_take(&c->heap_lock);
  const size_t n = heap_extents(c->heap, 0, at, EXTENTS);
  lock_give(&c->heap_lock);
  int code = 0;
  for (size_t i = 0; i < n && !code; i++) {
    code = checkpoint_put_memory(o, at[i].start, at[i].len, error);
  }
  native_free(at);
  return code;
}

/* The program's data, and its libraries'. */
static int data_parts(const struct context *c) {
  return 1 + c->image.libraries;
}

int context_save(struct context *c, struct checkpoint_out *o,
                 struct pems_error *error) {
  if (!save_opened_protects_all(c)) {
    return failure(error, ENOTSUP, "it has memory that mprotect has changed");
  }
  int code = save_heap(c, o, error);
  for (int i = 0; i < data_parts(c) && !code; i++) {
    const struct image_part part = image_part(&c->image, i);
    code = checkpoint_put_memory(o, part.data, part.len, error);
  }
  code = code ? code : save_opened_memory(c, o, error);
  return code ? code : save_blocks(c, o, error);
}

int context_save_homes(const struct context *c, struct context_homes *homes,
                       struct pems_error *error) {
  enum { MOST = sizeof(homes->item) / sizeof(*homes->item) };
  homes->n = 0;
  for (int i = 0; i < c->image.nlater; i++) {
    const struct image_part part = c->image.later[i];
    const int at = data_parts(c) + 1 + i;
    const bool counts = part.len && !save_opened_has(c, part);
    if (counts && homes->n == MOST) {
      return failure(error, ENOTSUP, "its stack has grown too often");
    }
    if (counts) {
      homes->item[homes->n++] = (struct context_home){
          (uintptr_t)part.home, part.len, image_part_is_stack(&c->image, at)};
    }
  }
  return 0;
}

/* --- loading --- */

static int grant(struct context *c, size_t top, struct pems_error *error) {
  const char *dir = "";
  char has[16], why[256];
  const size_t len = image_parts_len(&c->image);
  if (len + top > contexts.mu) {
    return failure(error, ENOMEM, "restart: rank %d has %s: give %s", c->rank,
                   size_format(len + top, has, sizeof(has)), contexts.more);
  }
  const int code = space_grant(c, len + top, &dir);
  if (code) {
    return failure(error, code, "restart: scratch space of rank %d: %s",
                   c->rank, space_refusal(code, dir, why, sizeof(why)));
  }
  lock_take(&c->heap_lock);
  space_limit_heap(c);
  lock_give(&c->heap_lock);
  return 0;
}

/* What its blocks need in memory is counted. */
static int count(struct context *c, struct pems_error *error) {
  struct heap_extent *const at = native_alloc(EXTENTS * sizeof(*at));
  if (!at) {
    return short_of_memory(error, c);
  }
  lock_take(&c->heap_lock);
  const size_t n = heap_extents(c->heap, 0, at, EXTENTS);
  lock_give(&c->heap_lock);
  for (size_t i = 0; i < n; i++) {
    (void)context_claim(c, at[i].start, at[i].len);
  }
  native_free(at);
  return 0;
}

int context_load(struct context *c, const void *state, size_t n,
                 struct pems_error *error) {
  const size_t top = heap_saved_top(state, n);
  pages_clear(c->range, (size_t)(heap_used_to(c->heap) - c->range));
  for (int i = 0; i < data_parts(c); i++) {
    const struct image_part part = image_part(&c->image, i);
    pages_clear(part.data, part.len);
  }
  int code = grant(c, top, error);
  if (code) {
    return code;
  }
  lock_take(&c->heap_lock);
  code = heap_load(c->heap, state, n);
  lock_give(&c->heap_lock);
  return code ? failure(error, code, "restart: the heap of rank %d: %s",
                        c->rank, strerror(code))
              : count(c, error);
}

void context_load_homes(struct context *c, const struct context_homes *homes) {
  for (uint64_t i = 0; i < homes->n; i++) {
    const struct context_home *const h = &homes->item[i];
    if (h->pages) {
      context_pages_free(c, (void *)h->at, h->len);
    } else {
      context_free(c, (void *)h->at);
    }
  }
}
