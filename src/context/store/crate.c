#include "context/store/crate.h"

#include "base/message.h"
#include "context/internal.h"

#include <string.h>

/* What lies between two contexts that are read is read, too, if it is less. */
enum { GAP = 16 << 10 };

static struct disks *crate;

void crate_open(struct disks *disks) {
  crate = disks;
}

bool crate_is_open(void) {
  return crate;
}

bool crate_fits(const struct ranges *keep) {
  return crate && keep->n && ranges_total(keep) <= CRATE_MOST;
}

/* --- into a crate --- */

static char *copy_pages(const struct ranges *pages, char *to) {
  for (size_t i = 0; i < pages->n; i++) {
    const struct range *const r = &pages->item[i];
    memcpy(to, (const void *)r->start, r->end - r->start);
    to += r->end - r->start;
  }
  return to;
}

/* Contexts m[0 .. n - 1], those that are asked for, have `bytes` in all. */
static int put_row(struct crate_move *m, int n, size_t bytes, char *buffer) {
  struct disks_annexed where;
  if (!bytes || disks_annex_take(crate, bytes, &where) != 0) {
    return 0;
  }
  char *to = buffer;
  for (int i = 0; i < n; i++) {
    if (m[i].asked) {
      m[i].c->crate.disk = where.disk;
      m[i].c->crate.at = where.at + (uint64_t)(to - buffer);
      to = copy_pages(m[i].keep, to);
      m[i].done = true;
    }
  }
  return disks_annex_move(crate, true, where, buffer, bytes);
}

static void note_pages(const struct crate_move *m) {
  for (size_t i = 0; i < m->keep->n; i++) {
    const struct range *const r = &m->keep->item[i];
    if (ranges_add(&m->c->crate.pages, r->start, r->end) != 0) {
      msg_fail_here(MSG_FAILED, "out of memory: swapping out rank %d",
                    m->c->rank);
    }
  }
}

int crate_put(struct crate_move *m, int n, char *buffer) {
  int first = 0, error = 0;
  size_t bytes = 0;
  for (int i = 0; i < n && !error; i++) {
    const size_t more = m[i].asked ? ranges_total(m[i].keep) : 0;
    if (bytes + more > CRATE_BUFFER) {
      error = put_row(m + first, i - first, bytes, buffer);
      first = i;
      bytes = 0;
    }
    bytes += more;
  }
  error = error ? error : put_row(m + first, n - first, bytes, buffer);
  for (int i = 0; i < n; i++) {
    if (m[i].done) {
      note_pages(&m[i]);
    }
  }
  return error;
}

/* --- back --- */

uint64_t crate_bytes(const struct context *c) {
  return ranges_total(&c->crate.pages);
}

/* Of contexts of one row, whose pages are at `row`, which begins at `at`. */
static void take_pages(const struct context *c, const char *row, uint64_t at) {
  const char *from = row + (c->crate.at - at);
  for (size_t i = 0; i < c->crate.pages.n; i++) {
    const struct range *const r = &c->crate.pages.item[i];
    memcpy((void *)r->start, from, r->end - r->start);
    from += r->end - r->start;
  }
}

static uint64_t end_of(const struct context *c) {
  return c->crate.at + crate_bytes(c);
}

/* Can b be read by the request that begins with a and ends at `end`? */
static bool in_a_row(const struct context *a, uint64_t end,
                     const struct context *b) {
  return b->crate.disk == a->crate.disk && b->crate.at >= end &&
         b->crate.at - end <= GAP && end_of(b) - a->crate.at <= CRATE_BUFFER;
}

static int read_row(struct context *const *c, int n, uint64_t end,
                    char *buffer) {
  const struct disks_annexed where = {c[0]->crate.disk, c[0]->crate.at};
  const int error =
      disks_annex_move(crate, false, where, buffer, end - where.at);
  for (int i = 0; i < n && !error; i++) {
    take_pages(c[i], buffer, where.at);
    crate_forget(c[i]);
  }
  return error;
}

static bool comes_before(const struct context *a, const struct context *b) {
  return a->crate.disk != b->crate.disk ? a->crate.disk < b->crate.disk
                                        : a->crate.at < b->crate.at;
}

/* Those that are there, by their places: few, and mostly in order already. */
static int sort(struct crate_move *m, int n, struct context **c) {
  int found = 0;
  for (int i = 0; i < n; i++) {
    int at = found;
    if (!crate_has(m[i].c)) {
      continue;
    }
    for (; at > 0 && comes_before(m[i].c, c[at - 1]); at--) {
      c[at] = c[at - 1];
    }
    c[at] = m[i].c;
    found++;
  }
  return found;
}

int crate_get(struct crate_move *m, int n, char *buffer) {
  struct context *c[n];
  int error = 0;
  const int found = sort(m, n, c);
  for (int i = 0, more; i < found && !error; i += more) {
    uint64_t end = end_of(c[i]);
    for (more = 1; i + more < found && in_a_row(c[i], end, c[i + more]);
         more++) {
      end = end_of(c[i + more]);
    }
    error = read_row(c + i, more, end, buffer);
  }
  return error;
}

void crate_forget(struct context *c) {
  if (crate_has(c)) {
    disks_annex_give(crate, (struct disks_annexed){c->crate.disk, c->crate.at},
                     crate_bytes(c));
  }
  ranges_free(&c->crate.pages);
}

/* --- while it is there --- */

size_t crate_piece(const struct context *c, uintptr_t at, uintptr_t end,
                   bool *there, struct disks_annexed *where) {
  const struct ranges *const pages = &c->crate.pages;
  const size_t n = ranges_piece(pages, at, end, there);
  if (*there) {
    const size_t last = ranges_find(pages, at);
    where->disk = c->crate.disk;
    where->at = c->crate.at + (at - pages->item[last].start);
    for (size_t i = 0; i < last; i++) {
      where->at += pages->item[i].end - pages->item[i].start;
    }
  }
  return n;
}

int crate_move_piece(bool write, struct disks_annexed where, void *memory,
                     size_t n) {
  return disks_annex_move(crate, write, where, memory, n);
}
