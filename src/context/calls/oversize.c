#define _GNU_SOURCE
#include "context/calls/oversize.h"

#include "base/counters.h"
#include "base/limit.h"
#include "base/message.h"
#include "base/ranges.h"
#include "config/machine.h"
#include "config/size.h"
#include "context/internal.h"
#include "context/residency/residency.h"
#include "context/residency/segment.h"
#include "os/bits.h"
#include "os/lock.h"
#include "os/native.h"
#include "os/pages.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* Each is a file and a mapping, of which a process may have a limited number.
 */
enum { MOST = 256 };

struct oversize {
  struct oversize *next;
  struct segment *segment;
  char *start;        /* as its alignment wants it */
  size_t n;           /* from there on, to the end of the segment */
  struct ranges gone; /* what the program has unmapped */
};

static struct {
  const char *dir; /* NULL: there are none */
  _Atomic int n;
} oversizes;

void oversize_start(const char *dir) {
  oversizes.dir = dir;
}

/* --- which --- */

static bool is_in(const struct oversize *o, const void *p) {
  return (uintptr_t)p - (uintptr_t)o->start < o->n;
}

static struct oversize **find_locked(struct context *c, const void *p) {
  struct oversize **at = &c->oversize.first;
  while (*at && !is_in(*at, p)) {
    at = &(*at)->next;
  }
  return at;
}

static struct oversize *find(struct context *c, const void *p) {
  if (!c->oversize.n) {
    return NULL;
  }
  lock_take(&c->heap_lock);
  struct oversize *const o = *find_locked(c, p);
  lock_give(&c->heap_lock);
  return o;
}

bool oversize_has(struct context *c, const void *p, size_t n) {
  const struct oversize *const o = find(c, p);
  return o && n <= o->n - (size_t)((const char *)p - o->start);
}

size_t oversize_size(struct context *c, const void *p) {
  const struct oversize *const o = find(c, p);
  return o && o->start == p ? o->n : 0;
}

/* --- making and freeing --- */

static void say_once(const struct context *c, size_t n) {
  static atomic_flag said = ATOMIC_FLAG_INIT;
  char more[16];
  if (!atomic_flag_test_and_set(&said)) {
    msg_notice("memory of rank %d: %s at once, more than fits: what it touches "
               "of that counts, and all lies in %s: give %s",
               c->rank, size_format(n, more, sizeof(more)), oversizes.dir,
               contexts.more);
  }
}

/* `extra` bytes are for the alignment. */
static struct oversize *make(struct context *c, size_t n, size_t extra) {
  struct oversize *const o = native_zalloc(1, sizeof(*o));
  if (!o || segment_make_by_pages(&o->segment, c, n + extra, oversizes.dir)) {
    native_free(o);
    return NULL;
  }
  return o;
}

static void put(struct context *c, struct oversize *o) {
  lock_take(&c->heap_lock);
  o->next = c->oversize.first;
  c->oversize.first = o;
  c->oversize.n++;
  lock_give(&c->heap_lock);
}

static bool may_be(size_t n, size_t extra) {
  return !contexts.mu_chosen && oversizes.dir && n >= OVERSIZE_LEAST &&
         n <= SIZE_MAX / 2 && extra <= SIZE_MAX / 4 &&
         n + extra <= machine_disk_free(oversizes.dir);
}

void *oversize_alloc(struct context *c, size_t n, size_t align) {
  const size_t extra = align > PAGE ? align : 0;
  if (!may_be(n, extra)) {
    return NULL;
  }
  struct oversize *const o =
      atomic_fetch_add(&oversizes.n, 1) < MOST ? make(c, n, extra) : NULL;
  if (!o) {
    oversizes.n--;
    return NULL;
  }
  char *const memory = segment_memory(o->segment);
  o->start = (char *)bits_align_up((uintptr_t)memory, align);
  o->n = segment_size(o->segment) - (size_t)(o->start - memory);
  put(c, o);
  counter_add(oversize, n);
  say_once(c, n);
  return o->start;
}

/* It is in no list any more. */
static void drop(struct context *c, struct oversize *o) {
  segment_part(o->segment, c);
  segment_free(o->segment);
  ranges_free(&o->gone);
  native_free(o);
  oversizes.n--;
}

/* Takes it off the list of c's. */
static struct oversize *take(struct context *c, const struct oversize *o) {
  lock_take(&c->heap_lock);
  struct oversize **const at = find_locked(c, o->start);
  struct oversize *const taken = *at;
  if (taken) {
    *at = taken->next;
    c->oversize.n--;
  }
  lock_give(&c->heap_lock);
  return taken;
}

bool oversize_free(struct context *c, void *p) {
  struct oversize *const o = find(c, p);
  if (!o || o->start != p) {
    return false;
  }
  struct oversize *const taken = take(c, o);
  if (taken) {
    drop(c, taken);
  }
  return taken;
}

void oversize_end(struct context *c) {
  while (c->oversize.first) {
    (void)oversize_free(c, c->oversize.first->start);
  }
}

/* --- pages --- */

static void copy_but_zeros(char *to, const char *from, size_t n) {
  for (size_t at = 0; at < n; at += PAGE) {
    const size_t piece = bits_min(n - at, PAGE);
    if (!bits_zero(from + at, piece)) {
      memcpy(to + at, from + at, piece);
    }
  }
}

/* To read a page that was never written would take memory for it. */
static void copy(const struct oversize *o, char *to, char *from, size_t n) {
  char *const end = from + n;
  char *start, *stop;
  for (char *at = from; at < end; at = stop) {
    stop = segment_next(o->segment, at, end, &start);
    copy_but_zeros(to + (start - from), start, (size_t)(stop - start));
  }
}

void oversize_copy(struct context *c, char *to, char *from, size_t n) {
  const struct oversize *const o = find(c, from);
  if (o) {
    copy(o, to, from, n);
  } else {
    copy_but_zeros(to, from, n);
  }
}

int oversize_clear(struct context *c, void *p, size_t n) {
  struct oversize *const o = find(c, p);
  return o ? segment_clear(o->segment, p, n) : EINVAL;
}

int oversize_unmap(struct context *c, void *p, size_t n) {
  struct oversize *const o = find(c, p);
  const uintptr_t at = (uintptr_t)p;
  int code = o ? segment_clear(o->segment, p, n) : EINVAL;
  if (code) {
    return code;
  }
  lock_take(&c->heap_lock);
  code = ranges_add(&o->gone, at, at + n);
  const bool all = o->gone.n == 1 && ranges_total(&o->gone) == o->n;
  lock_give(&c->heap_lock);
  if (all) {
    (void)oversize_free(c, o->start);
  }
  return code ? ENOMEM : 0;
}

/* --- counting --- */

/* Page faults of the calling thread: without any, nothing was touched that was
   not before. */
static long faults(void) {
  struct rusage used;
  return getrusage(RUSAGE_THREAD, &used) == 0 ? used.ru_minflt + used.ru_majflt
                                              : -1;
}

void oversize_settle(struct context *c, bool threads) {
  const long now = faults();
  const uint64_t waits = c->use.last_used; /* others write while it waits */
  if (!threads && now == c->oversize.faults && waits == c->oversize.waits) {
    return;
  }
  c->oversize.faults = now;
  c->oversize.waits = waits;
  lock_take(&c->heap_lock);
  for (struct oversize *o = c->oversize.first; o; o = o->next) {
    segment_measure(o->segment, c);
  }
  lock_give(&c->heap_lock);
  (void)residency_charge(c);
}

/* --- fork --- */

static void make_own(const struct context *c, const struct oversize *o) {
  (void)mprotect(o->start, o->n, PROT_READ);
  char *const own = pages_new(NULL, o->n);
  if (own) {
    copy(o, own, o->start, o->n);
  }
  if (!own || pages_move(own, o->start, o->n, false) != 0) {
    char advice[LIMIT_TEXT];
    msg_warn_here(
        "rank %d: fork: no memory for the child's copy of %zu bytes: %s",
        c->rank, o->n,
        limit_advice(advice, LIMIT_MEMORY, errno, o->n,
                     "give more --pems-memory"));
    msg_quit(MSG_FAILED);
  }
}

void oversize_in_child(struct context *c) {
  for (const struct oversize *o = c->oversize.first; o; o = o->next) {
    make_own(c, o);
  }
}
