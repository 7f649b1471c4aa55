#define _GNU_SOURCE
#include "context/residency/segment.h"

#include "base/counters.h"
#include "base/message.h"
#include "base/ranges.h"
#include "context/internal.h"
#include "context/residency/ledger.h"
#include "context/store/space.h"
#include "context/store/store.h"
#include "disk/spill.h"
#include "os/bits.h"
#include "os/lock.h"
#include "os/native.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_READ /* Linux 5.14 */
#define MADV_POPULATE_READ 22
#endif

struct segment {
  char *memory;
  size_t n;
  struct segment *next; /* of those that lie in places */
  struct spill *file;   /* NULL: it never leaves memory */
  uint64_t at;          /* its place in the file */
  const char *dir;      /* of the file, for messages */

  struct lock lock;
  int here;           /* contexts that have it, and are in memory for I/O */
  struct ranges left; /* what of it was in memory when it left */

  /* Under the residency's lock: */
  uint64_t counts; /* bytes of it that do */
  struct segment_link *links;
  struct context
      *payer; /* with whom it counts, if one that has it is not out */
};

/* A context has it. */
struct segment_link {
  struct segment *segment;
  struct context *context;
  struct segment_link *next;  /* of the context's */
  struct segment_link *other; /* of the segment's */
};

/* Where they lie, if that is to be the same in other processes. */
static struct {
  uintptr_t start; /* 0: anywhere */
  size_t each, all;
  struct segment *first; /* under the residency's lock */
} places;

char *segment_memory(const struct segment *s) {
  return s->memory;
}

size_t segment_size(const struct segment *s) {
  return s->n;
}

bool segments_hold(const void *p) {
  return places.start && (uintptr_t)p - places.start < places.all;
}

/* --- what counts --- */

static void pay_locked(struct segment *s, struct context *c) {
  s->payer = c;
  c->shared += s->counts;
}

/* Another one that is not out; rather one that stays. */
static struct context *another_locked(const struct segment *s) {
  struct context *found = NULL;
  for (const struct segment_link *l = s->links; l; l = l->other) {
    struct context *const c = l->context;
    if (c != s->payer && c->state != CONTEXT_OUT &&
        (!found || found->state != CONTEXT_IN)) {
      found = c;
    }
  }
  return found;
}

/* Its payer is about to have it no more. */
static void pass_on_locked(struct segment *s) {
  struct context *const from = s->payer, *const to = another_locked(s);
  from->shared -= s->counts;
  s->payer = NULL;
  if (to) {
    pay_locked(s, to);
    ledger_pass_locked(from, to, s->counts);
  }
}

uint64_t segments_missing_locked(const struct context *c) {
  uint64_t bytes = 0;
  for (const struct segment_link *l = c->segments; l; l = l->next) {
    bytes += l->segment->payer ? 0 : l->segment->counts;
  }
  return bytes;
}

void segments_enter_locked(struct context *c) {
  for (const struct segment_link *l = c->segments; l; l = l->next) {
    if (!l->segment->payer) {
      pay_locked(l->segment, c);
    }
  }
}

void segments_exit_locked(struct context *c) {
  for (const struct segment_link *l = c->segments; l; l = l->next) {
    if (l->segment->payer == c) {
      pass_on_locked(l->segment);
    }
  }
}

static uint64_t cached(const struct segment *s, uint64_t *dirty) {
  uint64_t all;
  spill_cached(s->file, s->at, s->n, &all, dirty);
  return all;
}

void segment_measure(struct segment *s, struct context *c) {
  uint64_t dirty;
  const uint64_t now = cached(s, &dirty);
  ledger_lock();
  if (s->payer == c) {
    c->shared = c->shared - s->counts + now;
    s->counts = now;
    ledger_settle_locked(c);
  }
  ledger_unlock();
}

/* --- moves --- */

/* Out of memory: it comes page by page. */
static void note_left(struct segment *s) {
  enum { CHUNK = 512 };
  unsigned char there[CHUNK];
  ranges_clear(&s->left);
  for (size_t at = 0; at < s->n; at += CHUNK * PAGE) {
    const size_t n = bits_min(s->n - at, CHUNK * PAGE);
    const uintptr_t p = (uintptr_t)s->memory + at;
    if (mincore((void *)p, n, there) != 0) {
      return;
    }
    for (size_t i = 0; i * PAGE < n; i++) {
      if (there[i] & 1 &&
          ranges_add(&s->left, p + i * PAGE, p + (i + 1) * PAGE) != 0) {
        return;
      }
    }
  }
}

static void leave(struct segment *s) {
  uint64_t dirty;
  note_left(s);
  (void)cached(s, &dirty);
  (void)madvise(s->memory, s->n, MADV_DONTNEED);
  const int error = spill_leave(s->file, s->at, s->n);
  if (error) {
    msg_fail_here(
        MSG_FAILED,
        "writing what ranks have beside their contexts: %s: %s: free some "
        "space there or name another directory with --pems-disk",
        s->dir, strerror(error));
  }
  counter_add(swap_out, dirty);
  counter_add(bytes_written, dirty);
}

/* Asks for all at once, though the system reads no more at a call than it would
   by itself. */
static void ask_for(const struct range *r) {
  enum { AT_ONCE = 128 << 10 };
  for (uintptr_t at = r->start; at < r->end; at += AT_ONCE) {
    (void)madvise((void *)at, bits_min(r->end - at, AT_ONCE), MADV_WILLNEED);
  }
}

/* Where it fails, whoever touches the page is told. */
static void come(struct segment *s) {
  uint64_t dirty;
  const uint64_t before = cached(s, &dirty);
  for (size_t i = 0; i < s->left.n; i++) {
    ask_for(&s->left.item[i]);
  }
  for (size_t i = 0; i < s->left.n; i++) {
    const struct range *r = &s->left.item[i];
    (void)madvise((void *)r->start, r->end - r->start, MADV_POPULATE_READ);
  }
  const uint64_t now = cached(s, &dirty);
  counter_add(swap_in, now > before ? now - before : 0);
  counter_add(bytes_read, now > before ? now - before : 0);
}

static void arrive(struct segment *s) {
  lock_take(&s->lock);
  if (s->here++ == 0 && s->left.n) {
    come(s);
  }
  lock_give(&s->lock);
}

static void depart(struct segment *s) {
  lock_take(&s->lock);
  if (--s->here == 0 && s->file) {
    leave(s);
  }
  lock_give(&s->lock);
}

void segments_come(struct context *c) {
  for (struct segment_link *l = c->segments; l; l = l->next) {
    arrive(l->segment);
  }
}

void segments_go(struct context *c) {
  for (struct segment_link *l = c->segments; l; l = l->next) {
    depart(l->segment);
  }
}

/* --- who has it --- */

int segment_join(struct segment *s, struct context *c) {
  struct segment_link *l = native_alloc(sizeof(*l));
  if (!l) {
    return ENOMEM;
  }
  ledger_lock();
  *l = (struct segment_link){s, c, c->segments, s->links};
  c->segments = s->links = l;
  if (!s->payer) {
    pay_locked(s, c);
  }
  ledger_unlock();
  arrive(s);
  return 0;
}

/* Its link, taken off the segment's. */
static void unlink_locked(struct segment_link *l) {
  struct segment_link **at = &l->segment->links;
  while (*at != l) {
    at = &(*at)->other;
  }
  *at = l->other;
}

void segment_part(struct segment *s, struct context *c) {
  ledger_lock();
  struct segment_link **at = &c->segments;
  while ((*at)->segment != s) {
    at = &(*at)->next;
  }
  struct segment_link *const l = *at;
  *at = l->next;
  unlink_locked(l);
  if (s->payer == c) {
    pass_on_locked(s);
    ledger_settle_locked(c);
  }
  ledger_unlock();
  native_free(l);
  lock_take(&s->lock);
  s->here--;
  lock_give(&s->lock);
}

void segments_forget(struct context *c) {
  while (c->segments) {
    struct segment_link *const l = c->segments;
    ledger_lock();
    c->segments = l->next;
    unlink_locked(l);
    ledger_unlock();
    native_free(l);
  }
}

/* --- where --- */

void segments_place(uintptr_t start, size_t n, int ranks) {
  places.start = start;
  places.all = n;
  places.each = bits_align_down(n / (size_t)ranks, PAGE);
}

/* One that has some of n bytes at p, or NULL. */
static const struct segment *in_the_way_locked(uintptr_t p, size_t n) {
  const struct segment *s = places.first;
  while (s &&
         ((uintptr_t)s->memory >= p + n || (uintptr_t)s->memory + s->n <= p)) {
    s = s->next;
  }
  return s;
}

/* Free addresses of a rank, or 0. */
static uintptr_t find_locked(int rank, size_t n) {
  const struct segment *s;
  uintptr_t p = places.start + places.each * (size_t)rank;
  const uintptr_t end = p + places.each;
  while (p <= end && n <= end - p && (s = in_the_way_locked(p, n))) {
    p = (uintptr_t)s->memory + s->n;
  }
  return p <= end && n <= end - p ? p : 0;
}

static void take_place_locked(struct segment *s, uintptr_t at) {
  s->memory = (char *)at;
  s->next = places.first;
  places.first = s;
}

static void leave_place(struct segment *s) {
  ledger_lock();
  struct segment **link = &places.first;
  while (*link && *link != s) {
    link = &(*link)->next;
  }
  if (*link) {
    *link = s->next;
  }
  ledger_unlock();
}

/* An address for its memory, which is its own from now on; or NULL. */
static void *choose(struct segment *s, const struct context *c, void *at) {
  ledger_lock();
  const uintptr_t p = at             ? (uintptr_t)at
                      : places.start ? find_locked(c->rank, s->n)
                                     : 0;
  if (p && !in_the_way_locked(p, s->n)) {
    take_place_locked(s, p);
  }
  ledger_unlock();
  return s->memory;
}

/* --- making and freeing --- */

static char *map_memory(void *at, size_t n) {
  void *const p = mmap(at, n, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
                           (at ? MAP_FIXED_NOREPLACE : 0),
                       -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

/* `at` NULL: where there is room. */
static int map_at(struct segment *s, const struct context *c, void *at) {
  void *const place = choose(s, c, at);
  s->memory = place ? map_memory(place, s->n) : NULL;
  if (!s->memory) {
    leave_place(s);
  }
  if (!s->memory && at) {
    return EEXIST;
  }
  s->memory = s->memory ? s->memory : map_memory(NULL, s->n);
  return s->memory ? 0 : ENOMEM;
}

/* Its place on the disk, which is not the memory yet. */
static int map_file(struct segment *s) {
  uint64_t at;
  s->file = spill_open(s->dir);
  /* The place is not at a page's beginning. */
  if (!spill_take(s->file, s->n + PAGE, &at)) {
    return ENOSPC;
  }
  s->at = bits_align_up(at, PAGE);
  const int error = spill_map(s->file, s->memory, s->at, s->n);
  if (!error) {
    /* Who touches a page is not given those around it: they would count. */
    (void)madvise(s->memory, s->n, MADV_RANDOM);
  }
  return error;
}

static struct segment *new_segment(size_t n, const char *dir) {
  struct segment *const s = native_zalloc(1, sizeof(*s));
  if (s) {
    lock_init(&s->lock, LOCK_SEGMENT);
    s->n = bits_align_up(n, PAGE);
    s->counts = s->n;
    s->dir = dir;
  }
  return s;
}

/* Its memory is there: c has it, or it is freed. */
static int begin(struct segment *s, struct context *c, bool in_file,
                 struct segment **out) {
  int code = in_file ? map_file(s) : 0;
  if (!code && store_swaps() && space_move_to_disk() != 0) {
    code = ENOSPC;
  }
  code = code ? code : segment_join(s, c);
  if (code) {
    segment_free(s);
  } else {
    *out = s;
  }
  return code;
}

int segment_make_at(struct segment **out, struct context *c, size_t n,
                    void *at) {
  struct segment *const s = new_segment(n, store_dir(c));
  int code = s ? map_at(s, c, at) : ENOMEM;
  if (code) {
    segment_free(s);
    return code;
  }
  return begin(s, c, store_swaps() || store_mapped(), out);
}

int segment_make_by_pages(struct segment **out, struct context *c, size_t n,
                          const char *dir) {
  struct segment *const s = new_segment(n, dir);
  if (s) {
    s->counts = 0;
    s->memory = map_memory(NULL, s->n);
  }
  if (!s || !s->memory) {
    segment_free(s);
    return ENOMEM;
  }
  return begin(s, c, true, out);
}

int segment_clear(struct segment *s, char *p, size_t n) {
  return spill_clear(s->file, s->at + (uint64_t)(p - s->memory), n);
}

char *segment_next(const struct segment *s, char *p, char *end, char **start) {
  uint64_t from;
  const uint64_t to = spill_next(s->file, s->at + (uint64_t)(p - s->memory),
                                 s->at + (uint64_t)(end - s->memory), &from);
  *start = s->memory + (from - s->at);
  return s->memory + (to - s->at);
}

int segment_make(struct segment **out, struct context *c, size_t n) {
  return segment_make_at(out, c, n, NULL);
}

void segment_free(struct segment *s) {
  if (!s) {
    return;
  }
  leave_place(s);
  if (s->memory) {
    munmap(s->memory, s->n);
  }
  spill_close(s->file);
  ranges_free(&s->left);
  lock_destroy(&s->lock);
  native_free(s);
}
