#include "context/store/units.h"

#include "base/counters.h"
#include "base/message.h"
#include "base/need.h"
#include "context/internal.h"
#include "context/store/codec.h"
#include "context/store/gain.h"
#include "context/store/place.h"
#include "context/store/workspace.h"
#include "os/bits.h"
#include "os/clock.h"
#include "os/native.h"

#include <errno.h>
#include <string.h>

enum {
  UNIT = WORKSPACE_UNIT,
  /* A unit that did not shrink is left as it is for so many swaps. */
  FIRST_REST = 4,
  MOST_REST = 64,
};

static struct disks *on; /* NULL: nothing is compressed */

int units_open(struct disks *disks, enum option_compress how, int level,
               int users, size_t memory) {
  if (workspaces_create(how, level, users, memory) != 0) {
    return ENOMEM;
  }
  gain_start(how == COMPRESS_AUTO);
  on = disks;
  return 0;
}

void units_close(void) {
  workspaces_destroy();
  on = NULL;
}

bool units_on(void) {
  return on;
}

/* --- the table --- */

static size_t units_of_context(void) {
  return (contexts.mu + UNIT - 1) / UNIT;
}

static void need_table(struct context *c) {
  if (!c->units) {
    c->units =
        need_zalloc(units_of_context(), sizeof(*c->units), "compressing");
  }
}

void units_clear(struct context *c) {
  native_free(c->units);
  c->units = NULL;
  c->units_used = 0;
}

/* --- offsets --- */

/* Adds the offsets of pages at these addresses. */
static void add_offsets(const struct context *c, const struct ranges *addresses,
                        struct ranges *to) {
  for (size_t i = 0; i < addresses->n; i++) {
    const uintptr_t end = addresses->item[i].end;
    for (uintptr_t at = addresses->item[i].start, n; at < end; at += n) {
      n = place_piece(c, at, end);
      const uint64_t offset = place_offset(c, (const void *)at);
      if (ranges_add(to, offset, offset + n) != 0) {
        need_fail("compressing");
      }
    }
  }
}

static struct ranges offsets_of(const struct context *c,
                                const struct ranges *addresses) {
  struct ranges to = {0};
  add_offsets(c, addresses, &to);
  return to;
}

/* --- moving --- */

/* Pages of one context under way between memory and disk. */
struct move {
  struct context *c;
  struct workspace *w;        /* NULL: none was needed yet */
  struct disk_batch *plain;   /* of what is not compressed */
  bool packs;                 /* if that is worth a try */
  const struct ranges *pages; /* offsets to be read */
  char *memory;               /* where `from` goes; NULL: c's own addresses */
  uint64_t from;
  bool out;
  const char *what;
  uint64_t run, run_end; /* plain bytes that are still to be started */
};

static _Noreturn void disk_failed(const struct move *m, int error) {
  msg_fail_here(MSG_FAILED, "%s: context of rank %d in %s: %s", m->what,
                m->c->rank, disks_dir(on, m->c->index), strerror(error));
}

static char *memory_at(const struct move *m, uint64_t offset, size_t *n) {
  return m->memory ? m->memory + (offset - m->from)
                   : place_address(m->c, offset, n);
}

static void start_run(struct move *m) {
  for (size_t n; m->run < m->run_end; m->run += n) {
    n = m->run_end - m->run;
    char *p = memory_at(m, m->run, &n);
    if (m->out) {
      disks_start_write(on, m->plain, m->c->index, p, n, m->run);
    } else {
      disks_start_read(on, m->plain, m->c->index, p, n, m->run);
    }
  }
}

static void add_plain(struct move *m, uint64_t start, uint64_t end) {
  if (start != m->run_end) {
    start_run(m);
    m->run = start;
  }
  m->run_end = end;
}

/* The next piece of r in [*at, end): *at is its start. Its bytes, or 0. */
static size_t next_piece(const struct ranges *r, uint64_t *at, uint64_t end) {
  const size_t i = ranges_find(r, *at);
  if (i == r->n || r->item[i].start >= end) {
    return 0;
  }
  *at = r->item[i].start > *at ? r->item[i].start : *at;
  return bits_min(r->item[i].end, end) - *at;
}

static void unpack(const struct move *m, uint64_t unit, const char *from,
                   char *to) {
  const struct unit *t = &m->c->units[unit];
  const uint64_t begin = clock_thread_ns();
  if (!codec_unpack(m->w->codec, from, t->bytes, to, (size_t)t->pages * PAGE)) {
    msg_fail_here(
        MSG_FAILED,
        "%s: context of rank %d in %s: compressed data is damaged: check "
        "the disk",
        m->what, m->c->rank, disks_dir(on, m->c->index));
  }
  counter_add(compress_ns, clock_thread_ns() - begin);
}

/* A unit has been read: its pages go where they belong. */
static void place(const struct move *m, uint64_t unit, const char *from) {
  const uint64_t start = unit * UNIT;
  const uint64_t end = start + (uint64_t)m->c->units[unit].pages * PAGE;
  uint64_t at = start;
  size_t n = next_piece(m->pages, &at, end), in_one = n;
  char *p = memory_at(m, at, &in_one);
  if (n == end - start && in_one == n) {
    unpack(m, unit, from, p);
    return;
  }
  unpack(m, unit, from, m->w->plain);
  for (; n; n = next_piece(m->pages, &at, end)) {
    p = memory_at(m, at, &n);
    memcpy(p, m->w->plain + (at - start), n);
    at += n;
  }
}

static void wait_for(const struct move *m, struct disk_batch *batch) {
  const int error = disk_batch_wait(batch);
  if (error) {
    disk_failed(m, error);
  }
}

static void settle(const struct move *m, struct workspace_half *h) {
  wait_for(m, &h->batch);
  for (int i = 0; i < h->n && !m->out; i++) {
    place(m, h->slot[i].unit, h->slot[i].data);
  }
  h->n = 0;
}

/* The buffer of the next unit, and the half that it is in. Contexts that are
   not compressed wait for nobody's buffers. */
static char *next_slot(struct move *m, uint64_t unit,
                       struct workspace_half **half) {
  struct workspace *const w = m->w = m->w ? m->w : workspace_take();
  if (w->half[w->now].n == WORKSPACE_SLOTS) {
    w->now ^= 1;
    settle(m, &w->half[w->now]);
  }
  *half = &w->half[w->now];
  (*half)->slot[(*half)->n].unit = unit;
  return (*half)->slot[(*half)->n].data;
}

static void finish(struct move *m) {
  start_run(m);
  if (m->w) {
    settle(m, &m->w->half[m->w->now ^ 1]);
    settle(m, &m->w->half[m->w->now]);
  }
}

static void end_move(struct move *m) {
  wait_for(m, m->plain);
  if (m->w) {
    workspace_give(m->w);
  }
}

/* --- reading --- */

static void start_packed(struct move *m, uint64_t unit) {
  struct workspace_half *h;
  char *data = next_slot(m, unit, &h);
  disks_start_read(on, &h->batch, m->c->index, data,
                   bits_align_up(m->c->units[unit].bytes, PAGE), unit * UNIT);
  h->n++;
}

static void read_pages(struct move *m) {
  uint64_t last = UINT64_MAX;
  for (size_t i = 0; i < m->pages->n; i++) {
    const uint64_t end = m->pages->item[i].end;
    for (uint64_t at = m->pages->item[i].start, next; at < end; at = next) {
      const uint64_t unit = at / UNIT;
      next = bits_min(end, (unit + 1) * UNIT);
      if (!m->c->units || !m->c->units[unit].bytes) {
        add_plain(m, at, next);
      } else if (unit != last) {
        start_packed(m, unit);
        last = unit;
      }
    }
  }
  finish(m);
}

uint64_t units_swap_in(struct context *c, const struct ranges *pages,
                       const struct ranges *more) {
  const uint64_t begin = clock_ns();
  struct disk_batch plain;
  struct ranges offsets = offsets_of(c, pages);
  add_offsets(c, more, &offsets);
  struct move m = {
      .c = c, .plain = &plain, .pages = &offsets, .what = "swapping in"};
  disk_batch_begin(&plain);
  read_pages(&m);
  end_move(&m);
  const uint64_t bytes = ranges_total(&offsets);
  gain_moved(c->site, c->compressed, true, clock_ns() - begin, bytes);
  ranges_free(&offsets);
  return bytes;
}

/* --- writing --- */

/* Bytes of r in a unit. */
static size_t within(const struct ranges *r, uint64_t unit) {
  uint64_t at = unit * UNIT;
  const uint64_t end = at + UNIT;
  size_t sum = 0;
  for (size_t n; (n = next_piece(r, &at, end)) > 0; at += n) {
    sum += n;
  }
  return sum;
}

/* The pages of a unit that are kept, and zeros where there are none, up to the
   last one: *n bytes. */
static const char *gather(struct move *m, const struct ranges *keep,
                          uint64_t unit, size_t *n) {
  const uint64_t start = unit * UNIT, end = start + UNIT;
  uint64_t at = start;
  size_t piece = next_piece(keep, &at, end), in_one = piece;
  char *p = memory_at(m, at, &in_one);
  if (at == start && piece == within(keep, unit) && in_one == piece) {
    *n = piece;
    return p;
  }
  char *to = m->w->plain;
  *n = 0;
  for (; piece; piece = next_piece(keep, &at, end)) {
    p = memory_at(m, at, &piece);
    memset(to + *n, 0, at - start - *n);
    memcpy(to + (at - start), p, piece);
    at += piece;
    *n = at - start;
  }
  return to;
}

/* Compresses a unit of `live` bytes and starts to write it, if that takes less
   than seven eighths of them. */
static bool pack(struct move *m, const struct ranges *keep, uint64_t unit,
                 size_t live) {
  struct unit *t = &m->c->units[unit];
  struct workspace_half *h;
  char *data = next_slot(m, unit, &h);
  const uint64_t begin = clock_thread_ns();
  size_t n;
  const char *from = gather(m, keep, unit, &n);
  const size_t room = bits_align_down(live - live / 8, PAGE);
  const size_t packed = room ? codec_pack(m->w->codec, from, n, data, room) : 0;
  counter_add(compress_ns, clock_thread_ns() - begin);
  if (!packed) {
    t->last_rest = (uint8_t)back_off(t->last_rest, FIRST_REST, MOST_REST);
    t->rest = t->last_rest;
    return false;
  }
  const size_t moved = bits_align_up(packed, PAGE);
  memset(data + packed, 0, moved - packed);
  disks_start_write(on, &h->batch, m->c->index, data, moved, unit * UNIT);
  h->n++;
  t->bytes = (uint32_t)packed;
  t->pages = (uint8_t)(n / PAGE);
  t->last_rest = 0;
  counter_add(compress_in, live);
  counter_add(compress_out, moved);
  return true;
}

static void write_plain(struct move *m, const struct ranges *pages,
                        uint64_t unit) {
  uint64_t at = unit * UNIT;
  const uint64_t end = at + UNIT;
  m->c->units[unit].bytes = 0;
  for (size_t n; (n = next_piece(pages, &at, end)) > 0; at += n) {
    add_plain(m, at, at + n);
  }
}

/* What is swapped out, as offsets. */
struct outgoing_units {
  struct ranges write, keep, awaited;
};

/* Is compressing the unit worth a try? Little that is written anew is not; nor
   is what a message will be written to, that would make it plain again. */
static bool promising(struct unit *t, const struct outgoing_units *o,
                      uint64_t unit, size_t live, size_t dirty) {
  if (t->rest) {
    t->rest--;
    return false;
  }
  return (t->bytes || 2 * dirty >= live) && !within(&o->awaited, unit);
}

/* The space behind it has been given back. */
static bool cut_off(const struct context *c, uint64_t unit) {
  const size_t moved = bits_align_up(c->units[unit].bytes, PAGE);
  return moved && unit * UNIT + moved > c->granted;
}

/* Bytes that were written. */
static size_t write_unit(struct move *m, const struct outgoing_units *o,
                         uint64_t unit) {
  struct unit *t = &m->c->units[unit];
  const size_t live = within(&o->keep, unit);
  const size_t dirty = live ? within(&o->write, unit) : 0;
  if (!live) {
    t->bytes = 0; /* what was there is of no use */
    return 0;
  }
  if (!dirty && !cut_off(m->c, unit)) {
    return 0;
  }
  if (m->packs && promising(t, o, unit, live, dirty) &&
      pack(m, &o->keep, unit, live)) {
    return live;
  }
  const bool all = t->bytes != 0;
  write_plain(m, all ? &o->keep : &o->write, unit);
  return all ? live : dirty;
}

/* Behind all that r has. */
static size_t last_unit(const struct ranges *r) {
  return r->n ? (r->item[r->n - 1].end + UNIT - 1) / UNIT : 0;
}

uint64_t units_swap_out(struct context *c, const struct ranges *write,
                        const struct ranges *keep) {
  const uint64_t begin = clock_ns();
  struct disk_batch plain;
  struct outgoing_units o = {offsets_of(c, write), offsets_of(c, keep),
                             offsets_of(c, &c->incoming)};
  struct move m = {.c = c,
                   .plain = &plain,
                   .out = true,
                   .packs = gain_compress(c->site),
                   .what = "swapping out"};
  uint64_t bytes = 0;
  need_table(c);
  c->compressed = m.packs;
  disk_batch_begin(&plain);
  const size_t n = last_unit(&o.keep);
  for (uint64_t unit = 0; unit < n || unit < c->units_used; unit++) {
    bytes += write_unit(&m, &o, unit);
  }
  c->units_used = n;
  finish(&m);
  end_move(&m);
  gain_moved(c->site, m.packs, false, clock_ns() - begin, bytes);
  ranges_free(&o.write);
  ranges_free(&o.keep);
  ranges_free(&o.awaited);
  return bytes;
}

/* --- contexts on disk --- */

/* Is any of n bytes at `offset` compressed? A unit that is plain stays so as
   long as the context is on disk. */
static bool any_packed(const struct context *c, size_t n, uint64_t offset) {
  if (!c->units) {
    return false;
  }
  for (uint64_t unit = offset / UNIT; unit * UNIT < offset + n; unit++) {
    if (c->units[unit].bytes) {
      return true;
    }
  }
  return false;
}

void units_start_read(struct context *c, struct disk_batch *batch, char *memory,
                      size_t n, uint64_t offset, const char *what) {
  if (!any_packed(c, n, offset)) {
    disks_start_read(on, batch, c->index, memory, n, offset);
    return;
  }
  struct range all = {.start = offset, .end = offset + n};
  const struct ranges pages = {.item = &all, .n = 1};
  struct move m = {.c = c,
                   .w = workspace_take(),
                   .plain = batch,
                   .pages = &pages,
                   .memory = memory,
                   .from = offset,
                   .what = what};
  lock_take(&c->units_lock);
  read_pages(&m);
  lock_give(&c->units_lock);
  workspace_give(m.w);
}

/* Makes a unit plain, also what is about to be overwritten: a page may have
   bytes beside those that are, which others read meanwhile. */
static void make_plain(struct move *m, uint64_t unit) {
  struct unit *t = &m->c->units[unit];
  const uint64_t start = unit * UNIT;
  const int index = m->c->index;
  char *packed = m->w->half[0].slot[0].data, *plain = m->w->plain;
  int error =
      disks_read(on, index, packed, bits_align_up(t->bytes, PAGE), start);
  if (!error) {
    unpack(m, unit, packed, plain);
    error = disks_write(on, index, plain, t->pages * PAGE, start);
  }
  if (error) {
    disk_failed(m, error);
  }
  t->bytes = 0;
}

void units_open_for_write(struct context *c, size_t n, uint64_t offset,
                          const char *what) {
  if (!any_packed(c, n, offset)) {
    return;
  }
  struct move m = {.c = c, .w = workspace_take(), .what = what};
  lock_take(&c->units_lock);
  for (uint64_t unit = offset / UNIT; unit * UNIT < offset + n; unit++) {
    if (c->units[unit].bytes) {
      make_plain(&m, unit);
    }
  }
  lock_give(&c->units_lock);
  workspace_give(m.w);
}
