/* Nobody who holds a staging buffer, a pin or an io_lock waits for anything but
   I/O, with two exceptions: who holds buffers or pins may wait for an io_lock,
   and who holds pins for a buffer. So who waits for a buffer must hold none,
   nor an io_lock; and who waits for others' pins must hold none of all three.
 */
#include "context/delivery/delivery.h"

#include "base/counters.h"
#include "base/message.h"
#include "context/delivery/bounce.h"
#include "context/delivery/expect.h"
#include "context/delivery/flush.h"
#include "context/internal.h"
#include "context/residency/residency.h"
#include "context/residency/track.h"
#include "context/stack_part.h"
#include "os/bits.h"
#include "os/lock.h"
#include "os/pages.h"
#include "report/trace.h"

#include <string.h>

enum {
  HALF_BYTES = 32 << 20, /* keeps the queues of several disks full */
  CHUNK = 8 << 20,       /* most that is started in one go */
  PIECE = 2 << 20,       /* read in one go */
  FRAGMENT = 64 << 10,   /* less of a staging buffer is not worth a request */
  DIRECT = 64 << 10,     /* worth requests of its own for unaligned ends */
};

/* --- halves --- */

static void clear(struct delivery_half *h) {
  h->users = h->writes = h->copies = h->buffers = 0;
  h->used = h->bytes = 0;
}

static void note_written(struct context *c, uintptr_t start, uintptr_t end) {
  lock_take(&c->io_lock);
  store_wrote(c, start, end);
  lock_give(&c->io_lock);
}

/* Waits until all of a half is done. Only now may others read what it wrote:
   while it is pinned, no context comes in. */
static void settle(struct delivery *d, struct delivery_half *h) {
  for (int i = 0; i < h->users; i++) {
    store_wait(&h->user[i].reading, "reading a message");
    store_wait(&h->user[i].writing, "writing a message");
  }
  for (int i = 0; i < h->copies; i++) {
    memcpy(h->copy[i].to, h->copy[i].from, h->copy[i].n);
  }
  for (int i = 0; i < h->writes; i++) {
    note_written(h->written[i].context, h->written[i].start, h->written[i].end);
  }
  for (int i = 0; i < h->buffers; i++) {
    bounce_put(h->buffer[i]);
  }
  for (int i = 0; i < h->users; i++) {
    context_unpin(h->user[i].context);
  }
  clear(h);
  d->finished = h->mark > d->finished ? h->mark : d->finished;
}

/* The other half is done and takes what follows. */
static void turn(struct delivery *d) {
  d->half[d->now].mark = d->marks;
  d->now ^= 1;
  settle(d, &d->half[d->now]);
}

static bool full(const struct delivery_half *h) {
  return h->users + 2 > DELIVERY_CONTEXTS || h->writes == DELIVERY_PIECES ||
         h->copies == DELIVERY_PIECES || h->bytes >= HALF_BYTES;
}

static int user_of(const struct delivery_half *h, const struct context *c) {
  int i = h->users - 1;
  while (i >= 0 && h->user[i].context != c) {
    i--;
  }
  return i;
}

static void join(struct delivery_half *h, struct context *c) {
  if (user_of(h, c) < 0) {
    context_pin(c); /* at once: the pair is pinned */
    h->user[h->users].context = c;
    store_begin(&h->user[h->users].reading, c);
    store_begin(&h->user[h->users].writing, c);
    h->users++;
  }
}

/* The half of now, which both parties are users of. */
static struct delivery_half *half_now(struct delivery *d) {
  struct delivery_half *h = &d->half[d->now];
  join(h, d->party[0]);
  join(h, d->party[1]);
  return h;
}

/* The half that takes the next request, with room for it. */
static struct delivery_half *half_for(struct delivery *d) {
  if (full(&d->half[d->now])) {
    turn(d);
  }
  return half_now(d);
}

void delivery_begin(struct delivery *d) {
  for (int i = 0; i < 2; i++) {
    clear(&d->half[i]);
    d->half[i].mark = 0;
  }
  d->now = 0;
  d->marks = d->finished = 0;
}

void delivery_wait(struct delivery *d) {
  turn(d);
  turn(d);
}

void delivery_end(struct delivery *d) {
  delivery_wait(d);
}

uint64_t delivery_mark(struct delivery *d) {
  return ++d->marks;
}

/* What is under way has contexts pinned, which others may be waiting for. */
static void pin_to_write(struct delivery *d, struct context *c, size_t bytes) {
  if (!context_try_pin_to_write(c, bytes)) {
    delivery_wait(d);
    context_pin_to_write(c, bytes);
  }
}

/* Room is made for b before a is pinned, which may have to leave for it. */
void delivery_pair(struct delivery *d, struct context *a, struct context *b,
                   size_t bytes) {
  if (bytes) {
    pin_to_write(d, b, bytes);
  } else {
    context_pin(b);
  }
  context_pin(a);
  d->party[0] = a;
  d->party[1] = b;
}

void delivery_unpair(struct delivery *d) {
  context_unpin(d->party[0]);
  context_unpin(d->party[1]);
}

/* --- staging --- */

char *delivery_buffer(struct delivery *d) {
  char *buffer = bounce_try();
  if (!buffer) {
    delivery_wait(d);
    buffer = bounce_get();
  }
  return buffer;
}

static bool hold_buffer(struct delivery_half *h, char *buffer) {
  if (buffer) {
    h->buffer[h->buffers++] = buffer;
    h->used = 0;
  }
  return buffer;
}

static bool try_buffer(struct delivery_half *h) {
  return h->buffers < DELIVERY_BUFFERS && hold_buffer(h, bounce_try());
}

static void need_buffer(struct delivery *d) {
  if (try_buffer(&d->half[d->now])) {
    return;
  }
  turn(d);
  if (!try_buffer(&d->half[d->now])) {
    char *buffer = delivery_buffer(d);
    hold_buffer(&d->half[d->now], buffer);
  }
}

/* Takes up to *n bytes, whole pages, of a staging buffer for a request in
 *half; shortens *n. */
static char *stage(struct delivery *d, size_t *n, struct delivery_half **half) {
  struct delivery_half *h = half_for(d);
  size_t left = h->buffers ? bounce_size() - h->used : 0;
  if (left < bits_min(*n, FRAGMENT)) {
    need_buffer(d);
    /* It has room, whoever has joined since: the other half has no buffer. */
    h = half_now(d);
    left = bounce_size();
  }
  *n = bits_min(*n, left);
  char *at = h->buffer[h->buffers - 1] + h->used;
  h->used += *n;
  *half = h;
  return at;
}

/* --- requests --- */

static bool aligned(uintptr_t at, const void *memory, size_t n) {
  return (at | (uintptr_t)memory | n) % PAGE == 0;
}

static void request_read(struct delivery_half *h, struct context *c,
                         uintptr_t at, char *out, size_t n) {
  store_start_read(&h->user[user_of(h, c)].reading, at, out, n);
  h->bytes += n;
}

static void request_write(struct delivery_half *h, struct context *c,
                          uintptr_t at, const char *in, size_t n) {
  store_start_write(&h->user[user_of(h, c)].writing, at, in, n);
  h->bytes += n;
  const int last = h->writes - 1;
  if (last >= 0 && h->written[last].context == c &&
      h->written[last].end == at) {
    h->written[last].end += n;
    return;
  }
  h->written[h->writes].context = c;
  h->written[h->writes].start = at;
  h->written[h->writes].end = at + n;
  h->writes++;
}

/* --- reading --- */

static void read_staged(struct delivery *d, struct context *c, uintptr_t at,
                        char *out, size_t n) {
  while (n) {
    const size_t skip = at % PAGE;
    size_t room = bits_align_up(skip + n, PAGE);
    struct delivery_half *h;
    char *buffer = stage(d, &room, &h);
    const size_t take = bits_min(n, room - skip);
    request_read(h, c, at - skip, buffer, room);
    h->copy[h->copies].to = out;
    h->copy[h->copies].from = buffer + skip;
    h->copy[h->copies].n = take;
    h->copies++;
    at += take;
    out += take;
    n -= take;
  }
}

static void read_direct(struct delivery *d, struct context *c, uintptr_t at,
                        char *out, size_t n) {
  track_open(out, n);
  request_read(half_for(d), c, at, out, n);
}

/* [at, at + n) lies on disk in pages that were written. */
static void start_read(struct delivery *d, struct context *c, uintptr_t at,
                       char *out, size_t n) {
  const uintptr_t first = bits_align_up(at, PAGE),
                  last = bits_align_down(at + n, PAGE);
  const size_t head = first - at, tail = at + n - last;
  const bool parallel = (at - (uintptr_t)out) % PAGE == 0;
  counter_add(deliver_read, n);
  trace_add(c->index, TRACE_READ, n);
  if (parallel && first < last && (last - first >= DIRECT || !(head | tail))) {
    read_staged(d, c, at, out, head);
    read_direct(d, c, first, out + head, last - first);
    read_staged(d, c, last, out + n - tail, tail);
  } else {
    read_staged(d, c, at, out, n);
  }
}

/* As start_read, but done when it returns; with the io_lock. */
static void read_now(struct context *c, uintptr_t at, char *out, size_t n,
                     char *bounce) {
  struct store_batch batch;
  counter_add(deliver_read, n);
  trace_add(c->index, TRACE_READ, n);
  store_begin(&batch, c);
  while (n) {
    const size_t skip = at % PAGE;
    const size_t take = bounce ? bits_min(n, bounce_size() - skip) : n;
    store_start_read(&batch, at - skip, bounce ? bounce : out,
                     bits_align_up(skip + take, PAGE));
    store_wait(&batch, "reading a message");
    if (bounce) {
      memcpy(out, bounce + skip, take);
    }
    at += take;
    out += take;
    n -= take;
  }
}

/* Boundary blocks hold some of the bytes. Nobody may write these to the disk
   between the look at the disk and that at the blocks. */
static void read_cached(struct delivery *d, struct context *c, uintptr_t at,
                        char *out, size_t n) {
  char *bounce = aligned(at, out, n) ? NULL : delivery_buffer(d);
  if (!bounce) {
    track_open(out, n);
  }
  lock_take(&c->io_lock);
  for (size_t done = 0, len; done < n; done += len) {
    bool inside;
    len = store_piece(c, at + done, at + n, &inside);
    if (inside) {
      read_now(c, at + done, out + done, len, bounce);
    } else {
      memset(out + done, 0, len);
    }
  }
  boundary_overlay(&c->boundary, at, out, n);
  lock_give(&c->io_lock);
  if (bounce) {
    bounce_put(bounce);
  }
}

/* Blocks that others put or write from now on hold bytes that nobody reads at
   the same time. */
static void read_out(struct delivery *d, struct context *c, uintptr_t at,
                     char *out, size_t n) {
  while (n) {
    bool inside;
    const size_t piece = bits_min(n, PIECE - at % PIECE);
    lock_take(&c->io_lock);
    const size_t len = store_piece(c, at, at + piece, &inside);
    const bool cached = boundary_any(&c->boundary, at, len);
    lock_give(&c->io_lock);
    if (cached) {
      read_cached(d, c, at, out, len);
    } else if (inside) {
      start_read(d, c, at, out, len);
    } else {
      memset(out, 0, len);
    }
    at += len;
    out += len;
    n -= len;
  }
}

static bool in_memory(const struct context *c, const void *p) {
  return c->state == CONTEXT_IN || !context_owns(c, p);
}

static void copied(const struct context *c, size_t n) {
  counter_add(deliver_memory, n);
  trace_add(c->index, TRACE_MEMORY, n);
}

/* Reading a piece of a context in memory that shows the file: what was not
   touched comes straight from the disk, without the system's cache. */
struct shown {
  struct delivery *d;
  struct context *c;
  uintptr_t start; /* of the piece, whose first byte goes to out */
  uintptr_t at;    /* all before has been read */
  uintptr_t end;
  char *out;
};

static void read_until(struct shown *r, uintptr_t to, bool present) {
  to = bits_min(to, r->end);
  if (to <= r->at) {
    return;
  }
  const size_t n = to - r->at;
  char *out = r->out + (r->at - r->start);
  if (present || n < DIRECT) {
    memcpy(out, (const void *)r->at, n);
    copied(r->c, n);
  } else {
    start_read(r->d, r->c, r->at, out, n);
  }
  r->at = to;
}

static void read_present(void *arg, uintptr_t start, uintptr_t end, int flags) {
  (void)flags;
  read_until(arg, start, false);
  read_until(arg, end, true);
}

/* The context is pinned and its VP waits: what is mapped stays so. */
static void read_shown(struct delivery *d, struct context *c, uintptr_t at,
                       char *out, size_t n) {
  const uintptr_t end = at + n;
  for (uintptr_t p = at; p < end;) {
    bool mapped;
    const size_t len = ranges_piece(&c->lazy.mapped, p, end, &mapped);
    struct shown r = {d, c, p, p, p + len, out + (p - at)};
    if (mapped) {
      pages_survey(bits_align_down(p, PAGE), bits_align_up(p + len, PAGE),
                   read_present, &r);
    }
    read_until(&r, p + len, !mapped);
    p += len;
  }
}

static void read_alike(struct delivery *d, struct context *c, const void *p,
                       void *out, size_t n) {
  if (!context_in_memory(c, p) && c->state == CONTEXT_IN) {
    read_shown(d, c, (uintptr_t)p, out, n);
  } else if (in_memory(c, p)) {
    memcpy(out, p, n);
    copied(c, n);
  } else {
    read_out(d, c, (uintptr_t)p, out, n);
  }
}

void delivery_read(struct delivery *d, struct context *c, const void *p,
                   void *out, size_t n) {
  const char *from = p;
  for (char *to = out; n;) {
    const size_t m = context_stack_alike(c, from, n);
    read_alike(d, c, from, to, m);
    from += m;
    to += m;
    n -= m;
  }
}

/* --- writing --- */

static void put_boundary(struct delivery *d, struct context *c, uintptr_t at,
                         const char *in, size_t n) {
  if (!n) {
    return;
  }
  lock_take(&c->io_lock);
  if (boundary_put(&c->boundary, at, in, n) < 0) {
    msg_fail_here(MSG_FAILED, "out of memory: delivering to rank %d", c->rank);
  }
  lock_give(&c->io_lock);
  if (flush_wanted()) {
    char *const buffer = delivery_buffer(d);
    flush_boundaries(buffer);
    bounce_put(buffer);
  }
}

/* Whole blocks. What was known of them is dropped before they are under way, so
   that what comes later stays. */
static void write_blocks(struct delivery *d, struct context *c, uintptr_t at,
                         const char *in, size_t n, bool lasting) {
  lock_take(&c->io_lock);
  boundary_drop(&c->boundary, at, n);
  lock_give(&c->io_lock);
  const bool direct = lasting && aligned(at, in, n);
  while (n) {
    struct delivery_half *h;
    size_t take = bits_min(n, CHUNK);
    if (direct) {
      request_write(half_for(d), c, at, in, take);
    } else {
      char *buffer = stage(d, &take, &h);
      memcpy(buffer, in, take);
      request_write(h, c, at, buffer, take);
    }
    at += take;
    in += take;
    n -= take;
  }
}

static void write_out(struct delivery *d, struct context *c, uintptr_t at,
                      const char *in, size_t n, bool lasting) {
  const uintptr_t end = at + n;
  const uintptr_t first = bits_align_up(at, PAGE);
  const uintptr_t last = bits_align_down(end, PAGE);
  counter_add(deliver_written, n);
  trace_add(c->index, TRACE_WRITTEN, n);
  if (first > last) { /* within one block */
    put_boundary(d, c, at, in, n);
    return;
  }
  /* The blocks first: they are under way while the rest is kept. */
  if (first < last) {
    write_blocks(d, c, first, in + (first - at), last - first, lasting);
  }
  put_boundary(d, c, at, in, first - at);
  put_boundary(d, c, last, in + (last - at), end - last);
}

static void write_alike(struct delivery *d, struct context *c, void *p,
                        const void *in, size_t n, bool lasting) {
  if (!n) {
    return;
  }
  if (in_memory(c, p)) {
    memcpy(p, in, n);
    copied(c, n);
  } else {
    write_out(d, c, (uintptr_t)p, in, n, lasting);
  }
  context_received(c, p, n);
}

void delivery_write(struct delivery *d, struct context *c, void *p,
                    const void *in, size_t n, bool lasting) {
  char *to = p;
  for (const char *from = in; n;) {
    const size_t m = context_stack_alike(c, to, n);
    write_alike(d, c, to, from, m, lasting);
    from += m;
    to += m;
    n -= m;
  }
}

bool delivery_open(struct context *c, void *p, size_t n) {
  const bool open = in_memory(c, p) && context_stack_alike(c, p, n) == n;
  if (open) {
    track_open(p, n);
  }
  return open;
}

void delivery_filled(struct context *c, void *p, size_t n) {
  copied(c, n);
  context_received(c, p, n);
}
