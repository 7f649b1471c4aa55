/* Reading and writing parts of a context wherever it is: message delivery. */
#include "context/internal.h"

#include "base/counters.h"
#include "base/message.h"
#include "base/trace.h"
#include "context/bounce.h"
#include "context/survey.h"

#include <string.h>

static void read_blocks(struct context *c, uintptr_t at, void *out, size_t n) {
  track_open(out, n);
  const int error = disks_read(contexts.disks, c->index, out, n,
                               context_offset(c, (void *)at));
  if (error) {
    context_io_failed(c, "reading a message", error);
  }
}

static void write_blocks(struct context *c, uintptr_t at, const void *in,
                         size_t n) {
  const int error = disks_write(contexts.disks, c->index, in, n,
                                context_offset(c, (void *)at));
  if (error) {
    context_io_failed(c, "writing a message", error);
  }
}

static bool aligned(uintptr_t at, const void *memory, size_t n) {
  return (at | (uintptr_t)memory | n) % PAGE == 0;
}

/* [at, at + n) lies on disk in pages that were written. */
static void read_disk(struct context *c, uintptr_t at, char *out, size_t n) {
  counter_add(deliver_read, n);
  trace_add(c->index, TRACE_READ, n);
  if (aligned(at, out, n)) {
    read_blocks(c, at, out, n);
    return;
  }
  char *bounce = bounce_get();
  while (n) {
    const uintptr_t start = round_down(at, PAGE);
    const size_t skip = at - start;
    const size_t most = bounce_size() - skip;
    const size_t take = n < most ? n : most;
    read_blocks(c, start, bounce, round_up(skip + take, PAGE));
    memcpy(out, bounce + skip, take);
    at += take;
    out += take;
    n -= take;
  }
  bounce_put(bounce);
}

static void read_out(struct context *c, uintptr_t at, char *out, size_t n) {
  pthread_mutex_lock(&c->io_lock);
  const uintptr_t end = at + n;
  for (uintptr_t p = at; p < end;) {
    bool inside;
    const size_t len = ranges_piece(&c->on_disk, p, end, &inside);
    if (inside) {
      read_disk(c, p, out + (p - at), len);
    } else {
      memset(out + (p - at), 0, len);
    }
    p += len;
  }
  boundary_overlay(&c->boundary, at, out, n);
  pthread_mutex_unlock(&c->io_lock);
}

/* Reading a piece of a context in memory that shows the file: what was not
   touched comes straight from the disk, without the system's cache. */
struct reading {
  struct context *c;
  uintptr_t start; /* of the piece, whose first byte goes to out */
  uintptr_t at;    /* all before has been read */
  uintptr_t end;
  char *out;
};

static void read_until(struct reading *r, uintptr_t to, bool here) {
  enum { FEW = 64 << 10 };
  to = to < r->end ? to : r->end;
  if (to <= r->at) {
    return;
  }
  const size_t n = to - r->at;
  char *out = r->out + (r->at - r->start);
  if (here || n < FEW) {
    memcpy(out, (const void *)r->at, n);
    counter_add(deliver_memory, n);
    trace_add(r->c->index, TRACE_MEMORY, n);
  } else {
    read_disk(r->c, r->at, out, n);
  }
  r->at = to;
}

static void read_present(void *arg, uintptr_t start, uintptr_t end, int flags) {
  struct reading *r = arg;
  (void)flags;
  read_until(r, start, false);
  read_until(r, end, true);
}

static void read_mapped(struct context *c, uintptr_t at, char *out, size_t n) {
  const uintptr_t end = at + n;
  pthread_mutex_lock(&c->io_lock);
  for (uintptr_t p = at; p < end;) {
    bool mapped;
    const size_t len = ranges_piece(&c->lazy.mapped, p, end, &mapped);
    struct reading r = {c, p, p, p + len, out + (p - at)};
    if (mapped) {
      survey(round_down(p, PAGE), round_up(p + len, PAGE), read_present, &r);
    }
    read_until(&r, p + len, !mapped);
    p += len;
  }
  pthread_mutex_unlock(&c->io_lock);
}

bool context_in_memory(const struct context *c, const void *p) {
  return !context_owns(c, p) ||
         (c->state == CONTEXT_IN && !c->lazy.mapped_bytes);
}

void context_read(struct context *c, const void *p, void *out, size_t n) {
  if (c->state == CONTEXT_IN && c->lazy.mapped_bytes && context_owns(c, p)) {
    read_mapped(c, (uintptr_t)p, out, n);
  } else if (c->state == CONTEXT_IN || !context_owns(c, p)) {
    memcpy(out, p, n);
    counter_add(deliver_memory, n);
    trace_add(c->index, TRACE_MEMORY, n);
  } else {
    read_out(c, (uintptr_t)p, out, n);
  }
}

static void note_written(struct context *c, uintptr_t start, uintptr_t end) {
  if (ranges_add(&c->on_disk, start, end) != 0) {
    msg_fail(MSG_FAILED, "out of memory: delivering to rank %d", c->rank);
  }
}

/* Writes one boundary block by itself: whole, or merged with what the disk
   has. */
static void flush_block(void *arg, uintptr_t p, const char *block,
                        const uint64_t *known, int complete) {
  struct context *c = arg;
  char *bounce = bounce_get();
  bool inside;
  ranges_piece(&c->on_disk, p, p + PAGE, &inside);
  if (complete || !inside) {
    memset(bounce, 0, PAGE);
  } else {
    read_blocks(c, p, bounce, PAGE);
    counter_add(boundary, PAGE);
  }
  boundary_apply(block, known, bounce);
  write_blocks(c, p, bounce, PAGE);
  counter_add(boundary, PAGE);
  note_written(c, p, p + PAGE);
  bounce_put(bounce);
}

static void put_boundary(struct context *c, uintptr_t at, const char *in,
                         size_t n) {
  pthread_mutex_lock(&c->io_lock);
  if (boundary_put(&c->boundary, at, in, n) < 0) {
    msg_fail(MSG_FAILED, "out of memory: delivering to rank %d", c->rank);
  }
  if (boundary_memory() > contexts.boundary_limit) {
    boundary_flush(&c->boundary, flush_block, c);
  }
  pthread_mutex_unlock(&c->io_lock);
}

/* Whole blocks. */
static void write_disk(struct context *c, uintptr_t at, const char *in,
                       size_t n) {
  if (aligned(at, in, n)) {
    write_blocks(c, at, in, n);
  } else {
    char *bounce = bounce_get();
    for (size_t done = 0; done < n;) {
      const size_t left = n - done;
      const size_t take = left < bounce_size() ? left : bounce_size();
      memcpy(bounce, in + done, take);
      write_blocks(c, at + done, bounce, take);
      done += take;
    }
    bounce_put(bounce);
  }
  pthread_mutex_lock(&c->io_lock);
  boundary_drop(&c->boundary, at, n);
  note_written(c, at, at + n);
  pthread_mutex_unlock(&c->io_lock);
}

static void write_out(struct context *c, uintptr_t at, const char *in,
                      size_t n) {
  const uintptr_t end = at + n;
  const uintptr_t first = round_up(at, PAGE);
  const uintptr_t last = round_down(end, PAGE);
  counter_add(deliver_written, n);
  trace_add(c->index, TRACE_WRITTEN, n);
  if (first >= last) { /* no whole block: one or two boundary blocks */
    const uintptr_t cut = first < end && first > at ? first : end;
    put_boundary(c, at, in, cut - at);
    if (cut < end) {
      put_boundary(c, cut, in + (cut - at), end - cut);
    }
    return;
  }
  if (at < first) {
    put_boundary(c, at, in, first - at);
  }
  write_disk(c, first, in + (first - at), last - first);
  if (last < end) {
    put_boundary(c, last, in + (last - at), end - last);
  }
}

void context_received(struct context *c, const void *p, size_t n) {
  const uintptr_t at = (uintptr_t)p;
  if (!contexts.disks || !context_owns(c, p)) {
    return;
  }
  pthread_mutex_lock(&c->io_lock);
  if (ranges_remove(&c->incoming, at, at + n) != 0) {
    ranges_clear(&c->incoming); /* short of memory: swap more, not less */
  }
  pthread_mutex_unlock(&c->io_lock);
}

void context_write(struct context *c, void *p, const void *in, size_t n) {
  if (!n) {
    return;
  }
  if (c->state == CONTEXT_IN || !context_owns(c, p)) {
    memcpy(p, in, n);
    counter_add(deliver_memory, n);
    trace_add(c->index, TRACE_MEMORY, n);
  } else {
    write_out(c, (uintptr_t)p, in, n);
  }
  context_received(c, p, n);
}

void context_expect(struct context *c, const void *p, size_t n) {
  if (context_owns(c, p)) {
    track_open((void *)p, n);
  }
  /* Only whole pages can be left out. */
  if (!context_owns(c, p) || n < 2 * PAGE || !contexts.disks ||
      contexts.mapped) {
    return;
  }
  pthread_mutex_lock(&c->io_lock);
  lazy_overwrite(c, round_up((uintptr_t)p, PAGE),
                 round_down((uintptr_t)p + n, PAGE));
  /* Short of memory, the bytes are swapped as any others. */
  (void)ranges_add(&c->incoming, (uintptr_t)p, (uintptr_t)p + n);
  pthread_mutex_unlock(&c->io_lock);
}

void context_expect_end(struct context *c) {
  pthread_mutex_lock(&c->io_lock);
  ranges_clear(&c->incoming);
  pthread_mutex_unlock(&c->io_lock);
}
