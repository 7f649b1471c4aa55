#define _GNU_SOURCE
#include "context/residency/guards.h"

#include "context/internal.h"
#include "context/residency/swap.h"
#include "context/stack_part.h"
#include "os/bits.h"
#include "os/pages.h"

#include <sys/uio.h>

/* All that has pages of up to SWAP_MOST contexts, in as many pieces as there is
   room for. */
struct guards {
  size_t n;
  struct iovec range[SWAP_MOST * 8];
};

static void add_guard(struct guards *g, const char *start, const char *end) {
  if (start < end) {
    g->range[g->n++] = (struct iovec){(void *)start, (size_t)(end - start)};
  }
}

/* False: there is no room. */
static bool add_guards(struct guards *g, const struct context *c,
                       const char *top) {
  const size_t most = sizeof(g->range) / sizeof(*g->range);
  if (g->n + (size_t)image_parts(&c->image) + 1 > most) {
    return false;
  }
  for (int i = 0; i < image_parts(&c->image); i++) {
    const struct image_part part = context_live_part(c, i);
    add_guard(g, part.data, part.data + part.len);
  }
  add_guard(g, c->range, top);
  return true;
}

void guards_close(const struct crate_move *m, int n) {
  struct guards all = {0}, used = {0};
  for (int i = 0; i < n; i++) {
    struct context *const c = m[i].c;
    const uintptr_t top = bits_align_up((uintptr_t)heap_top(c->heap), PAGE);
    c->guarded = m[i].done && pages_can_guard() &&
                 add_guards(&all, c, c->range + c->range_len) &&
                 add_guards(&used, c, (char *)top);
  }
  const bool done = pages_guard(all.range, all.n, used.range, used.n);
  for (int i = 0; i < n && !done; i++) {
    m[i].c->guarded = false; /* it is unmapped */
  }
}

void guards_open(struct context *const *c, int n) {
  struct guards all = {0};
  bool done = true;
  for (int i = 0; i < n; i++) {
    done &=
        !c[i]->guarded || add_guards(&all, c[i], c[i]->range + c[i]->range_len);
  }
  done = done && (!all.n || pages_unguard(all.range, all.n));
  for (int i = 0; i < n && !done; i++) {
    c[i]->guarded = false; /* it is mapped anew */
  }
}
