#define _GNU_SOURCE
#include "mpi/check/check_buffers.h"

#include "base/message.h"
#include "base/need.h"
#include "base/self.h"
#include "base/text.h"
#include "context/calls/allocate.h"
#include "mpi/object/naming.h"
#include "mpi/request/request.h"
#include "os/native.h"
#include "vp/vp.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

bool check_buffers_on;

/* Pieces of a buffer that are looked at. */
enum { MOST_PIECES = 4096 };

static _Noreturn void fail(const char *advice, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static _Noreturn void fail(const char *advice, const char *format, ...) {
  char problem[512], site[160];
  struct text t = text_in(site, sizeof(site));
  va_list args;
  va_start(args, format);
  vsnprintf(problem, sizeof(problem), format, args);
  va_end(args);
  name_site(&t, self.vp, self.site);
  msg_fail(MSG_FAILED, "%s: rank %d%s: %s: %s", self.function, self.vp->rank,
           site, problem, advice);
}

/* --- where it lies --- */

struct piece {
  char *at;
  size_t n;
  bool received;
};

static bool within(const void *p, const void *start, size_t n) {
  return (uintptr_t)p - (uintptr_t)start < n;
}

/* The VP whose heap, stack or copy of the program holds p, or NULL. */
static const struct vp *owner(const void *p) {
  for (int i = 0; i < vps.n; i++) {
    const struct vp *vp = &vps.item[i];
    const struct image *image = &vp->context->image;
    if (context_of(p) == vp->context ||
        within(p, image->text, image->text_len) ||
        within(p, vp->stack, vp->stack_size)) {
      return vp;
    }
  }
  return NULL;
}

static bool mapped(const void *p) {
  const uintptr_t page = 4096;
  unsigned char there;
  return mincore((void *)((uintptr_t)p & ~(page - 1)), 1, &there) == 0;
}

static bool is_constant(const void *p) {
  const struct context *c = self.vp->context;
  return within(p, c->image.text, c->image.text_len) && !context_owns(c, p);
}

static const char verb[2][12] = {"sends", "receives"};

static void check_heap(const struct piece *p) {
  char *start;
  size_t size;
  const int found = context_block(self.vp->context, p->at, &start, &size);
  if (found == 0) {
    fail("has it been freed?", "it %s %zu B at %p, which is not allocated",
         verb[p->received], p->n, p->at);
  }
  if (found > 0 && p->n > (size_t)(start + size - p->at)) {
    fail("check count and type",
         "it %s %zu B at %p, but only %zu B are allocated there",
         verb[p->received], p->n, p->at, (size_t)(start + size - p->at));
  }
}

static void check_place(const struct piece *p) {
  const struct vp *vp = owner(p->at);
  if (vp && vp != self.vp) {
    fail("ranks have no memory in common",
         "it %s %zu B at %p, which is memory of rank %d", verb[p->received],
         p->n, p->at, vp->rank);
  }
  if (context_of(p->at) &&
      !within(p->at, self.vp->stack, self.vp->stack_size)) {
    check_heap(p);
  } else if (!mapped(p->at) || !mapped(p->at + p->n - 1)) {
    fail("check address and count",
         "it %s %zu B at %p, which is no memory of the program",
         verb[p->received], p->n, p->at);
  } else if (p->received && is_constant(p->at)) {
    fail("is it a constant?", "it receives %zu B at %p, which is read-only",
         p->n, p->at);
  }
}

/* --- pending requests --- */

static bool meets(const struct layout_span *s, const struct piece *p) {
  struct layout_cursor c;
  char *at;
  size_t n;
  span_cursor_start(&c, s, 0);
  for (int i = 0; i < MOST_PIECES && (n = span_cursor_next(&c, SIZE_MAX, &at));
       i++) {
    if (at < p->at + p->n && p->at < at + n) {
      return true;
    }
  }
  return false;
}

static void compare(void *arg, const struct request *r,
                    const struct layout_span *s, bool received) {
  const struct piece *p = arg;
  if ((received || p->received) && meets(s, p)) {
    char site[160];
    struct text t = text_in(site, sizeof(site));
    name_site(&t, r->vp, r->site);
    fail("wait for that first", "it %s %zu B at %p, which %s%s still %s",
         verb[p->received], p->n, p->at, r->function, site, verb[received]);
  }
}

static void check_pending(struct piece *p) {
  for (const struct request *r = rank_me()->requests; r; r = r->next) {
    if (r->active && !r->freed && r->class->buffers) {
      r->class->buffers(r, compare, p);
    }
  }
}

/* --- buffers --- */

void check_buffers_buffer(const struct layout_span *s, bool received,
                          bool pending) {
  struct layout_cursor c;
  struct piece p = {.received = received};
  span_cursor_start(&c, s, 0);
  for (int i = 0;
       i < MOST_PIECES && (p.n = span_cursor_next(&c, SIZE_MAX, &p.at)); i++) {
    check_place(&p);
    if (pending) {
      check_pending(&p);
    }
  }
}

void check_buffers_data(const void *buffer, MPI_Count count, MPI_Datatype type,
                        bool received, bool pending) {
  if (!count) {
    return; /* it may have no datatype */
  }
  const struct layout_span s = {(char *)buffer, (size_t)count,
                                layout_hold(type)};
  check_buffers_buffer(&s, received, pending);
  layout_release(s.layout);
}

/* --- messages of one call --- */

struct pieces {
  struct piece *item;
  size_t n, room;
};

static void add(struct pieces *all, const struct layout_span *s,
                bool received) {
  struct layout_cursor c;
  struct piece p = {.received = received};
  span_cursor_start(&c, s, 0);
  for (int i = 0;
       i < MOST_PIECES && (p.n = span_cursor_next(&c, SIZE_MAX, &p.at)); i++) {
    if (all->n == all->room) {
      all->room = all->room ? 2 * all->room : 64;
      all->item =
          need_realloc(all->item, all->room * sizeof(p), "a check of buffers");
    }
    all->item[all->n++] = p;
  }
}

static const char in_place[] = "use MPI_IN_PLACE, or another one";

_Noreturn void check_buffers_twice(const void *buffer) {
  fail(in_place, "what it sends and what it receives overlap at %p", buffer);
}

static int by_address(const void *a, const void *b) {
  const struct piece *p = a, *q = b;
  return p->at < q->at ? -1 : p->at > q->at;
}

/* Sweeps over addresses: what ends last, of those so far. */
static void check_apart(struct pieces *all) {
  char *sent = NULL, *received = NULL;
  qsort(all->item, all->n, sizeof(*all->item), by_address);
  for (size_t i = 0; i < all->n; i++) {
    const struct piece *p = &all->item[i];
    char **end = p->received ? &received : &sent;
    if (p->at < received || (p->received && p->at < sent)) {
      fail(p->received && p->at < received ? "check displacements and counts"
                                           : in_place,
           "%s at %p",
           p->received && p->at < received
               ? "two of the messages that it receives overlap"
               : "what it sends and what it receives overlap",
           p->at);
    }
    *end = p->at + p->n > *end ? p->at + p->n : *end;
  }
  native_free(all->item);
}

void check_buffers_two(const struct layout_span *sent,
                       const struct layout_span *received) {
  struct pieces all = {0};
  add(&all, sent, false);
  add(&all, received, true);
  check_apart(&all);
}

static void add_side(struct pieces *all, const struct coll_side *s,
                     bool received) {
  struct layout_span m;
  for (int peer = s->first; peer < s->first + s->n; peer++) {
    if (s->shape != SIDE_NONE && coll_side_span(s, peer, &m)) {
      check_buffers_buffer(&m, received, true);
      add(all, &m, received);
      if (s->shape == SIDE_ONE) {
        return;
      }
    }
  }
}

void check_buffers_sides(const struct coll_side *send,
                         const struct coll_side *receive) {
  struct pieces all = {0};
  add_side(&all, receive, true);
  if (!send->in_place) {
    add_side(&all, send, false);
  }
  check_apart(&all);
}

/* --- contents --- */

uint64_t check_buffers_sum(const struct layout_span *s) {
  struct layout_cursor c;
  uint64_t sum = 14695981039346656037u;
  char *at;
  size_t n;
  span_cursor_start(&c, s, 0);
  while ((n = span_cursor_next(&c, SIZE_MAX, &at))) {
    uint64_t word;
    for (; n >= sizeof(word); n -= sizeof(word), at += sizeof(word)) {
      memcpy(&word, at, sizeof(word));
      sum = (sum ^ word) * 1099511628211u;
      sum ^= sum >> 29;
    }
    for (; n; n--, at++) {
      sum = (sum ^ (unsigned char)*at) * 1099511628211u;
    }
  }
  return sum;
}

void check_buffers_same(const struct layout_span *s, uint64_t sum,
                        const char *function, const void *site) {
  if (check_buffers_sum(s) != sum) {
    char where[160];
    struct text t = text_in(where, sizeof(where));
    name_site(&t, self.vp, site);
    fail("leave it alone until then",
         "the buffer of %s%s, %zu B at %p, was changed before it was "
         "complete",
         function, where, span_size(s), s->base);
  }
}
