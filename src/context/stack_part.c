#define _GNU_SOURCE
#include "context/stack_part.h"

#include "os/bits.h"

#include <sys/mman.h>

void context_stack_begin(struct context *c, char *low, char *apart) {
  const struct image_part *const part = &c->image.stack;
  char *const end = context_stack_boundary(apart);
  c->stack.from = NULL;
  c->stack.counted = part->data;
  /* Thread-local data may take all of the part. */
  if (part->len && end > part->data && end < part->data + part->len) {
    c->stack.end = end;
    c->stack.low = low;
  }
}

void context_stack_end(struct context *c) {
  c->stack.low = NULL;
  c->stack.from = NULL;
}

/* Is it in a frame below the program's? */
static bool is_below(const struct context_stack *s, const char *frame) {
  return frame >= s->low && frame < s->from;
}

void context_stack_settle(struct context *c) {
  struct context_stack *const s = &c->stack;
  if (s->from && !is_below(s, __builtin_frame_address(0))) {
    s->from = s->end;
  }
}

void context_stack_trim(const struct context *c) {
  enum { FRAMES = 1024 }; /* this one, and that of madvise */
  char *const low = c->stack.counted;
  const uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
  const uintptr_t end = bits_align_down(frame - FRAMES, PAGE);
  if (c->stack.low && frame < (uintptr_t)c->stack.end && end > (uintptr_t)low) {
    (void)madvise(low, end - (uintptr_t)low, MADV_DONTNEED);
  }
}

struct image_part context_stack_live(const struct context *c) {
  const struct image_part *const part = &c->image.stack;
  char *from = c->stack.from;
  if (!part->len || !from) {
    return (struct image_part){0};
  }
  from = from < c->stack.counted ? c->stack.counted : from;
  return from < c->stack.end
             ? (struct image_part){from, (size_t)(c->stack.end - from), NULL}
             : (struct image_part){0};
}

/* What both have, or nothing. */
static struct image_part common(struct image_part part,
                                struct image_part live) {
  char *const end = part.data + part.len, *const live_end =
                                              live.data + live.len;
  char *const from = part.data > live.data ? part.data : live.data;
  char *const to = end < live_end ? end : live_end;
  return from < to ? (struct image_part){from, (size_t)(to - from), NULL}
                   : (struct image_part){0};
}

struct image_part context_live_part(const struct context *c, int i) {
  const struct image_part part = image_part(&c->image, i);
  return image_part_is_stack(&c->image, i) ? common(part, context_stack_live(c))
                                           : part;
}

/* Bytes of [at, at + n) up to the next edge of the part. */
static size_t up_to_edge(struct image_part part, uintptr_t at, size_t n) {
  const uintptr_t from = (uintptr_t)part.data, end = from + part.len;
  const uintptr_t edge = at < from ? from : end;
  return part.len && at < end ? bits_min(n, edge - at) : n;
}

/* Thread-local data lie above the stack. What else does has no array across its
   edges. */
static bool is_above(const struct context *c, struct image_part part) {
  return part.data >= c->image.stack.data + c->image.stack.len;
}

size_t context_stack_alike(const struct context *c, const void *p, size_t n) {
  const uintptr_t at = (uintptr_t)p;
  n = up_to_edge(context_stack_live(c), at, n);
  for (int i = 0; c->image.stack.len && i < c->image.nlater; i++) {
    if (is_above(c, c->image.later[i])) {
      n = up_to_edge(c->image.later[i], at, n);
    }
  }
  return n;
}
