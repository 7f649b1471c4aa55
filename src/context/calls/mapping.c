#define _GNU_SOURCE
#include "context/calls/mapping.h"

#include "base/ranges.h"
#include "context/calls/allocate.h"
#include "context/calls/oversize.h"
#include "context/internal.h"
#include "context/residency/lazy.h"
#include "context/residency/track.h"
#include "context/store/store.h"
#include "os/bits.h"
#include "os/lock.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum { USUAL = PROT_READ | PROT_WRITE };

/* --- whose addresses ------------------------------------------------------
 */

static bool within(const void *p, size_t n, const void *start, size_t len) {
  const size_t at = (uintptr_t)p - (uintptr_t)start;
  return at < len && n <= len - at;
}

static bool meets(const void *p, size_t n, const void *start, size_t len) {
  return (uintptr_t)p < (uintptr_t)start + len &&
         (uintptr_t)start < (uintptr_t)p + n;
}

enum mapping_place mapping_place(struct context *c, const void *p, size_t n) {
  size_t before;
  if (within(p, n, c->range, c->range_len) || oversize_has(c, p, n)) {
    return MAPPING_HEAP;
  }
  const int i = context_part_of(c, p, &before);
  if (i >= 0) {
    const struct image_part part = image_part(&c->image, i);
    return within(p, n, part.data, part.len) ? MAPPING_DATA : MAPPING_OUTSIDE;
  }
  return meets(p, n, contexts.base, contexts.stride * (size_t)contexts.n)
             ? MAPPING_ALIEN
             : MAPPING_OUTSIDE;
}

/* --- contents and protection ----------------------------------------------
 */

/* Too small to be mapped anew, it would show the file again. */
static void clear_mapped(const struct context *c, uintptr_t start,
                         uintptr_t end) {
  for (uintptr_t at = start; at < end;) {
    bool mapped;
    const size_t n = ranges_piece(&c->lazy.mapped, at, end, &mapped);
    if (mapped) {
      memset((void *)at, 0, n);
    }
    at += n;
  }
}

static int zero_locked(struct context *c, uintptr_t start, uintptr_t end) {
  int code = protections_lift(&c->protections, start, end);
  if (code) {
    return code;
  }
  if (store_mapped()) {
    memset((void *)start, 0, end - start);
  } else if (store_outdated(c, start, end) != 0) {
    code = ENOMEM;
  } else {
    track_open((void *)start, end - start);
    lazy_overwrite(c, start, end);
    code = madvise((void *)start, end - start, MADV_DONTNEED) ? errno : 0;
    clear_mapped(c, start, end);
  }
  const int again = protections_restore(&c->protections, start, end);
  return code ? code : again;
}

int mapping_zero(struct context *c, void *p, size_t n) {
  if (n && oversize_has(c, p, n)) {
    return oversize_clear(c, p, n);
  }
  const uintptr_t start = (uintptr_t)p;
  lock_take(&c->io_lock);
  const int code = n ? zero_locked(c, start, start + n) : 0;
  lock_give(&c->io_lock);
  return code;
}

/* What cannot be protected can be written. */
static int protect_locked(struct context *c, uintptr_t start, uintptr_t end,
                          int prot) {
  track_open((void *)start, end - start);
  lazy_copy(c, start, end);
  int code = protections_note(&c->protections, start, end, prot);
  if (!code && mprotect((void *)start, end - start, prot) != 0) {
    code = errno;
    (void)protections_note(&c->protections, start, end, USUAL);
    (void)mprotect((void *)start, end - start, USUAL);
  }
  return code;
}

/* Most memory is never protected. */
static bool is_protected(const struct context *c, uintptr_t start,
                         uintptr_t end) {
  int prot;
  return protections_piece(&c->protections, start, end, &prot) < end - start ||
         prot != USUAL;
}

int mapping_protect(struct context *c, void *p, size_t n, int prot) {
  if (oversize_has(c, p, n)) {
    return mprotect(p, n, prot) == 0 ? 0 : errno;
  }
  const uintptr_t start = (uintptr_t)p;
  int code = 0;
  lock_take(&c->io_lock);
  if (prot != USUAL || is_protected(c, start, start + n)) {
    code = protect_locked(c, start, start + n, prot);
  }
  lock_give(&c->io_lock);
  return code;
}

/* --- mapping --------------------------------------------------------------
 */

static void *take(struct context *c, void *at, size_t n, size_t align,
                  bool quiet) {
  size_t old = 0;
  void *const p =
      context_pages(c, &(struct context_pages){at, n, align, quiet}, &old);
  if (p && old && mapping_zero(c, p, old) != 0) {
    context_pages_free(c, p, n);
    return NULL;
  }
  return p;
}

/* Takes what of [p, p + n) is not mapped yet; *taken says which. */
static int take_rest(struct context *c, char *p, size_t n,
                     struct ranges *taken) {
  char *const end = p + n;
  for (char *at = p; at < end;) {
    bool mapped;
    const size_t piece = context_pages_piece(c, at, end, &mapped);
    const uintptr_t start = (uintptr_t)at;
    if (!mapped && (!take(c, at, piece, PAGE, true) ||
                    ranges_add(taken, start, start + piece) != 0)) {
      return ENOMEM;
    }
    at += piece;
  }
  return 0;
}

/* In the place of what is there. */
static int replace(struct context *c, void *p, size_t n) {
  struct ranges taken = {0};
  int code = take_rest(c, p, n, &taken);
  for (size_t i = 0; code && i < taken.n; i++) {
    const struct range r = taken.item[i];
    context_pages_free(c, (void *)r.start, r.end - r.start);
  }
  ranges_free(&taken);
  code = code ? code : mapping_protect(c, p, n, USUAL);
  return code ? code : mapping_zero(c, p, n);
}

/* What was mapped there is replaced. */
static void *new_in_oversize(struct context *c, const struct mapping_wish *w,
                             int *error) {
  *error = w->no_replace ? EEXIST : mapping_protect(c, w->at, w->n, USUAL);
  *error = *error ? *error : oversize_clear(c, w->at, w->n);
  return *error ? NULL : w->at;
}

static void *new_at(struct context *c, const struct mapping_wish *w,
                    int *error) {
  if (oversize_has(c, w->at, w->n)) {
    return new_in_oversize(c, w, error);
  }
  if (w->no_replace) {
    void *const p = take(c, w->at, w->n, PAGE, true);
    *error = p ? 0 : EEXIST;
    return p;
  }
  *error = replace(c, w->at, w->n);
  return *error ? NULL : w->at;
}

void *mapping_new(struct context *c, const struct mapping_wish *w, int *error) {
  *error = 0;
  if (w->fixed || w->no_replace) {
    return new_at(c, w, error);
  }
  void *p = w->at ? take(c, w->at, w->n, w->align, true) : NULL;
  p = p ? p : take(c, NULL, w->n, w->align, w->quiet);
  *error = p ? 0 : ENOMEM;
  return p;
}

/* Pages that are given back hold nothing, and whoever gets them may write. */
int mapping_free(struct context *c, void *p, size_t n) {
  if (oversize_has(c, p, n)) {
    return oversize_unmap(c, p, n);
  }
  char *const end = (char *)p + n;
  int code = 0;
  for (char *at = p; at < end && !code;) {
    bool mapped;
    const size_t piece = context_pages_piece(c, at, end, &mapped);
    if (mapped) {
      code = mapping_protect(c, at, piece, USUAL);
      if (!code && !store_mapped()) {
        code = mapping_zero(c, at, piece);
      }
      if (!code) {
        context_pages_free(c, at, piece);
      }
    }
    at += piece;
  }
  return code;
}

/* --- mremap ---------------------------------------------------------------
 */

static bool all_mapped(struct context *c, const void *p, size_t n) {
  bool mapped;
  return context_pages_piece(c, p, (const char *)p + n, &mapped) == n && mapped;
}

static int prot_at(const struct context *c, const void *p) {
  int prot;
  const uintptr_t at = (uintptr_t)p;
  (void)protections_piece(&c->protections, at, at + PAGE, &prot);
  return prot;
}

static char *room_for(struct context *c, const struct mapping_resize *r,
                      int *error) {
  const struct mapping_wish wish = {
      .at = r->wish, .n = r->to, .align = PAGE, .fixed = r->wish != NULL};
  return mapping_new(c, &wish, error);
}

/* In place it can become smaller only. */
static void *resize_oversize(struct context *c, const struct mapping_resize *r,
                             int *error) {
  if (r->wish || r->keep || (r->to > r->n && !r->may_move)) {
    *error = r->to > r->n ? ENOMEM : EINVAL;
    return NULL;
  }
  if (r->to <= r->n) {
    char *const end = (char *)r->p + r->to;
    *error = r->to < r->n ? oversize_unmap(c, end, r->n - r->to) : 0;
    return *error ? NULL : r->p;
  }
  char *const to = room_for(c, r, error);
  if (to) {
    (void)mprotect(r->p, r->n, USUAL);
    oversize_copy(c, to, r->p, r->n);
    (void)oversize_unmap(c, r->p, r->n);
  }
  return to;
}

/* As the kernel would have it, of pages alike in their protection. */
static int copy_pages(struct context *c, char *to, char *from, size_t n) {
  const uintptr_t start = (uintptr_t)from;
  lock_take(&c->io_lock);
  const int code = protections_lift(&c->protections, start, start + n);
  if (!code) {
    /* Pages that were never touched take no memory afterwards, either. */
    oversize_copy(c, to, from, n);
  }
  const int again = protections_restore(&c->protections, start, start + n);
  lock_give(&c->io_lock);
  return code ? code : again;
}

static void *move(struct context *c, const struct mapping_resize *r,
                  int *error) {
  const size_t kept = bits_min(r->n, r->to);
  const int prot = prot_at(c, r->p);
  char *const to = room_for(c, r, error);
  if (!to) {
    return NULL;
  }
  *error = copy_pages(c, to, r->p, kept);
  *error = *error ? *error : mapping_protect(c, to, r->to, prot);
  if (*error) {
    (void)mapping_free(c, to, r->to);
    return NULL;
  }
  *error = r->keep ? mapping_zero(c, r->p, r->n) : mapping_free(c, r->p, r->n);
  return to;
}

static bool grow(struct context *c, const struct mapping_resize *r,
                 int *error) {
  char *const end = (char *)r->p + r->n;
  const size_t more = r->to - r->n;
  if (mapping_place(c, end, more) != MAPPING_HEAP ||
      !take(c, end, more, PAGE, true)) {
    return false;
  }
  *error = mapping_protect(c, end, more, prot_at(c, r->p));
  return true;
}

void *mapping_resize(struct context *c, const struct mapping_resize *r,
                     int *error) {
  *error = 0;
  if (oversize_has(c, r->p, r->n)) {
    return resize_oversize(c, r, error);
  }
  if (!all_mapped(c, r->p, r->n)) {
    *error = EFAULT;
    return NULL;
  }
  if (r->wish || r->keep) {
    return move(c, r, error);
  }
  if (r->to <= r->n) {
    char *const end = (char *)r->p + r->to;
    *error = r->to < r->n ? mapping_free(c, end, r->n - r->to) : 0;
    return *error ? NULL : r->p;
  }
  if (grow(c, r, error)) {
    return *error ? NULL : r->p;
  }
  if (!r->may_move) {
    *error = ENOMEM;
    return NULL;
  }
  return move(c, r, error);
}

/* --- the break ------------------------------------------------------------
 */

/* Blocks of malloc come to lie behind it: it has room from the start. */
static bool begin_break(struct context *c, size_t wanted) {
  enum { MOST = 16 << 20, SHARE = 8 };
  const size_t room = bits_min(contexts.mu / SHARE, MOST);
  const size_t n = bits_align_up(bits_max(wanted, room), PAGE);
  char *const p = take(c, NULL, n, PAGE, true);
  if (p) {
    c->program_break.start = c->program_break.now = (uintptr_t)p;
    c->program_break.end = (uintptr_t)p + n;
  }
  return p;
}

static bool extend_break(struct context *c, uintptr_t to) {
  const uintptr_t end = c->program_break.end;
  const size_t more = bits_align_up(to, PAGE) - end;
  const bool room = mapping_place(c, (void *)end, more) == MAPPING_HEAP &&
                    take(c, (void *)end, more, PAGE, true);
  c->program_break.end += room ? more : 0;
  return room;
}

/* Whoever gets the bytes again finds zeros. */
static int lower_break(struct context *c, uintptr_t to) {
  const uintptr_t now = c->program_break.now;
  const uintptr_t page = bits_min(bits_align_up(to, PAGE), now);
  const uintptr_t last = bits_align_up(now, PAGE);
  memset((void *)to, 0, page - to);
  return page < last ? mapping_zero(c, (void *)page, last - page) : 0;
}

void *mapping_break(struct context *c, intptr_t change, int *error) {
  const uintptr_t most = (uintptr_t)c->range_len;
  *error = ENOMEM;
  if (change > (intptr_t)most || change < -(intptr_t)most ||
      (!c->program_break.start &&
       !begin_break(c, change > 0 ? (size_t)change : 0))) {
    return NULL;
  }
  const uintptr_t now = c->program_break.now;
  const uintptr_t to = now + (uintptr_t)change;
  if (to < c->program_break.start ||
      (to > c->program_break.end && !extend_break(c, to))) {
    return NULL;
  }
  *error = to < now ? lower_break(c, to) : 0;
  c->program_break.now = *error ? now : to;
  return *error ? NULL : (void *)now;
}
