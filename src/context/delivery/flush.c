#include "context/delivery/flush.h"

#include "base/counters.h"
#include "base/message.h"
#include "config/memory_used.h"
#include "context/delivery/bounce.h"
#include "context/internal.h"
#include "context/residency/residency.h"
#include "context/store/store.h"
#include "os/lock.h"

#include <string.h>

/* Boundary blocks of a context that fit into a buffer, in order of address; the
   i-th page of the buffer is what block i's becomes. */
struct group {
  struct context *c;
  struct boundary_block *first; /* of those that are not done yet */
  char *buffer;
  size_t n; /* blocks */
};

/* Those who find no room wait for one who makes it for all. */
static struct lock one_at_a_time = LOCK_INITIALIZER(LOCK_FLUSH);

/* Must the block be merged with what the disk has? */
static bool needs_page(const struct group *g, const struct boundary_block *k) {
  bool there;
  store_piece(g->c, k->address, k->address + PAGE, &there);
  return k->unknown && there;
}

static bool any(const struct group *g, const struct boundary_block *k) {
  (void)g, (void)k;
  return true;
}

typedef void run_visit(const struct group *g, uintptr_t at, char *page,
                       size_t n, struct store_batch *batch);

/* Calls f for each run of neighbours among the blocks that `belongs` takes. */
static void each_run(const struct group *g,
                     bool (*belongs)(const struct group *,
                                     const struct boundary_block *),
                     run_visit *f, struct store_batch *batch) {
  const struct boundary_block *k = g->first;
  uintptr_t start = 0;
  size_t len = 0, i = 0;
  for (; i < g->n; i++, k = k->next) {
    const bool in = belongs(g, k);
    if (len && (!in || k->address != start + len)) {
      f(g, start, g->buffer + i * PAGE - len, len, batch);
      len = 0;
    }
    if (in) {
      start = len ? start : k->address;
      len += PAGE;
    }
  }
  if (len) {
    f(g, start, g->buffer + i * PAGE - len, len, batch);
  }
}

static void start_read(const struct group *g, uintptr_t at, char *page,
                       size_t n, struct store_batch *batch) {
  (void)g;
  store_start_read(batch, at, page, n);
  counter_add(boundary, n);
}

static void start_write(const struct group *g, uintptr_t at, char *page,
                        size_t n, struct store_batch *batch) {
  (void)g;
  store_start_write(batch, at, page, n);
  counter_add(boundary, n);
}

static void note_written(const struct group *g, uintptr_t at, char *page,
                         size_t n, struct store_batch *batch) {
  (void)page, (void)batch;
  store_wrote(g->c, at, at + n);
}

static void apply(const struct group *g) {
  const struct boundary_block *k = g->first;
  for (size_t i = 0; i < g->n; i++, k = k->next) {
    char *page = g->buffer + i * PAGE;
    if (!needs_page(g, k)) {
      memset(page, 0, PAGE);
    }
    boundary_apply(k->data, k->known, page);
  }
}

static void write_group(const struct group *g) {
  struct store_batch batch;
  store_begin(&batch, g->c);
  each_run(g, needs_page, start_read, &batch);
  store_wait(&batch, "reading a message");
  apply(g);
  store_begin(&batch, g->c);
  each_run(g, any, start_write, &batch);
  store_wait(&batch, "writing a message");
  each_run(g, any, note_written, NULL);
}

static void drop_group(struct group *g) {
  for (; g->n; g->n--) {
    struct boundary_block *next = g->first->next;
    boundary_release(g->first);
    g->first = next;
  }
}

/* The lock is held from the first look at the disk until all is there: nobody
   reads a block that is neither in memory nor on disk. */
static void flush_context(struct context *c, char *buffer) {
  const size_t most = bounce_size() / PAGE;
  lock_take(&c->io_lock);
  struct group g = {.c = c, .first = boundary_take(&c->boundary)};
  g.buffer = buffer;
  while (g.first) {
    for (const struct boundary_block *k = g.first; k && g.n < most;
         k = k->next) {
      g.n++;
    }
    write_group(&g);
    drop_group(&g);
  }
  lock_give(&c->io_lock);
}

static struct context *fullest(void) {
  struct context *best = NULL;
  size_t most = 0;
  for (int i = 0; i < contexts.n; i++) {
    const size_t n = contexts.item[i].boundary.n;
    if (n > most) {
      most = n;
      best = &contexts.item[i];
    }
  }
  return best;
}

bool flush_wanted(void) {
  return boundary_memory() >
         memory_used_bound(MEMORY_BOUNDARY, contexts.boundary_limit);
}

void flush_boundaries(char *buffer) {
  struct context *c;
  lock_take(&one_at_a_time);
  while (flush_wanted() && (c = fullest())) {
    context_pin(c);
    flush_context(c, buffer); /* if it has come in, it has no blocks */
    context_unpin(c);
  }
  lock_give(&one_at_a_time);
}
