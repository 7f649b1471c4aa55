#define _GNU_SOURCE
#include "context/residency/track.h"

#include "base/failure.h"
#include "base/need.h"
#include "context/internal.h"
#include "os/bits.h"
#include "os/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* <linux/userfaultfd.h> of Linux 6.7. */
#ifndef UFFD_FEATURE_WP_ASYNC
#define UFFD_FEATURE_WP_ASYNC (1 << 15)
#endif

enum {
  /* One unit in so many is sampled, of so many bytes at least. */
  SAMPLED = 32,
  LEAST_UNIT = 64 << 10,
  /* After a sample says "nearly all is written", this many residences pass
     until the next, twice as many each time up to the most. */
  FIRST_REST = 2,
  MOST_REST = 32,
  /* Per cent of what is watched that must stay unwritten for watching to pay:
     a page fault and a split huge page against writing 4 KiB. */
  PAYS = 70,
};

static struct {
  enum option_track kind;
  int fd; /* userfaultfd, or -1 */
} track = {.kind = TRACK_OFF, .fd = -1};

static int open_async(void) {
  const int fd =
      syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
  if (fd < 0) {
    return -1;
  }
  struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_WP_ASYNC};
  if (ioctl(fd, UFFDIO_API, &api) != 0) {
    close(fd);
    return -1;
  }
  return fd;
}

int track_start(enum option_track wanted, struct pems_error *error) {
  track_end();
  track.kind = wanted;
  if (wanted == TRACK_AUTO || wanted == TRACK_ASYNC) {
    track.fd = pages_survey_full() ? open_async() : -1;
  }
  if (track.fd < 0 && wanted == TRACK_ASYNC) {
    track.kind = TRACK_OFF;
    return failure(
        error, ENOSYS,
        "--pems-track=async: not on this kernel, or not allowed (Linux 6.7 and "
        "userfaultfd are needed): all that is in memory counts as "
        "changed: give --pems-track=off");
  }
  if (track.fd < 0 && wanted == TRACK_AUTO) {
    track.kind = TRACK_OFF;
  }
  return 0;
}

void track_end(void) {
  if (track.fd >= 0) {
    close(track.fd);
  }
  track.fd = -1;
  track.kind = TRACK_OFF;
}

/* What to watch this time. */
static enum context_track_share choose(struct context_tracking *t) {
  if (track.kind == TRACK_OFF) {
    return TRACK_NONE;
  }
  if (track.kind != TRACK_AUTO || t->often_clean) {
    return TRACK_ALL;
  }
  if (t->rest) {
    t->rest--;
    return TRACK_NONE;
  }
  return TRACK_SAMPLE;
}

static bool protect(uintptr_t start, uintptr_t end) {
  struct uffdio_register reg = {
      .range = {.start = start, .len = end - start},
      .mode = UFFDIO_REGISTER_MODE_WP,
  };
  if (ioctl(track.fd, UFFDIO_REGISTER, &reg) != 0) {
    return false;
  }
  struct uffdio_writeprotect wp = {
      .range = reg.range,
      .mode = UFFDIO_WRITEPROTECT_MODE_WP,
  };
  while (ioctl(track.fd, UFFDIO_WRITEPROTECT, &wp) != 0) {
    if (errno != EAGAIN && errno != EINTR) {
      /* What is not protected counts as written: right, if slow. */
      return false;
    }
  }
  return true;
}

/* Watches [start, end), or the sampled units of it. */
static void watch(struct context *c, uintptr_t start, uintptr_t end,
                  size_t sample) {
  struct context_tracking *t = &c->tracking;
  if (t->share != TRACK_SAMPLE) {
    t->watched += protect(start, end) ? end - start : 0;
    return;
  }
  /* Units in different places each time, the same for no two contexts. */
  const uintptr_t phase = t->count * 7u + (unsigned)c->index * 5u;
  for (uintptr_t at = start; at < end;) {
    const uintptr_t unit = at / sample;
    const uintptr_t next = (unit + 1) * sample;
    const uintptr_t stop = next < end ? next : end;
    if ((unit + phase) % SAMPLED == 0 && protect(at, stop)) {
      t->watched += stop - at;
    }
    at = next;
  }
}

/* Bytes of a unit of a sample: of a small context there must be units enough.
 */
static size_t sample_of(const struct ranges *pages) {
  const uint64_t all = ranges_total(pages);
  size_t n = HUGE_PAGE;
  while (n > LEAST_UNIT && n * SAMPLED > all) {
    n /= 2;
  }
  return n;
}

static size_t unit_of(const struct context *c, uintptr_t p) {
  return (p - (uintptr_t)c->range) / HUGE_PAGE;
}

static void set_units(const struct context *c, _Atomic uint64_t *map,
                      uintptr_t start, uintptr_t end, bool on) {
  for (uintptr_t p = start; p < end; p += HUGE_PAGE) {
    const uint64_t bit = 1ull << unit_of(c, p) % 64;
    if (on) {
      atomic_fetch_or(&map[unit_of(c, p) / 64], bit);
    } else {
      atomic_fetch_and(&map[unit_of(c, p) / 64], ~bit);
    }
  }
}

static bool has_unit(const struct context *c, const _Atomic uint64_t *map,
                     uintptr_t p) {
  return map[unit_of(c, p) / 64] >> unit_of(c, p) % 64 & 1;
}

static size_t words(const struct context *c) {
  return c->range_len / HUGE_PAGE / 64 + 1;
}

/* Whole units of the heap range only: what lies beside them would be protected
   with them. */
static void watch_units(struct context *c, uintptr_t start, uintptr_t end) {
  struct context_tracking *t = &c->tracking;
  start = bits_align_up(start, HUGE_PAGE);
  end = bits_align_down(end, HUGE_PAGE);
  if (start >= end || start < (uintptr_t)c->range ||
      end > (uintptr_t)c->range + c->range_len) {
    return;
  }
  set_units(c, t->watch, start, end, true);
  if (mprotect((void *)start, end - start, PROT_READ) == 0) {
    set_units(c, t->unwritten, start, end, true);
    t->watched += end - start;
  }
}

/* What the program has protected itself is left alone. */
static void watch_unprotected(struct context *c, uintptr_t start,
                              uintptr_t end) {
  while (start < end) {
    int prot;
    const size_t n = protections_piece(&c->protections, start, end, &prot);
    if (prot == (PROT_READ | PROT_WRITE)) {
      watch_units(c, start, start + n);
    }
    start += n;
  }
}

void track_begin(struct context *c, const struct ranges *pages,
                 const struct ranges *quiet) {
  struct context_tracking *t = &c->tracking;
  t->count++;
  t->watched = 0;
  t->share = choose(t);
  if (track.kind == TRACK_AUTO && t->share != TRACK_ALL && quiet->n) {
    t->share = TRACK_QUIET;
    pages = quiet;
  }
  if (t->share == TRACK_NONE) {
    return;
  }
  if (track.kind == TRACK_FAULT && !t->watch) {
    t->watch = need_zalloc(2 * words(c), sizeof(*t->watch), "tracking changes");
    t->unwritten = t->watch + words(c);
  }
  const size_t sample = sample_of(pages);
  for (size_t i = 0; i < pages->n; i++) {
    const struct range *r = &pages->item[i];
    if (track.kind == TRACK_FAULT) {
      watch_unprotected(c, r->start, r->end);
    } else {
      watch(c, r->start, r->end, sample);
    }
  }
}

bool track_more(struct context *c, uintptr_t start, uintptr_t end) {
  struct context_tracking *const t = &c->tracking;
  if (track.kind != TRACK_AUTO && track.kind != TRACK_ASYNC) {
    return false;
  }
  if (!protect(start, end)) {
    return false;
  }
  if (t->share == TRACK_NONE) {
    t->share = TRACK_QUIET;
  }
  return true;
}

bool track_clean(const struct context *c, uintptr_t start, uintptr_t *end,
                 int flags) {
  const struct context_tracking *t = &c->tracking;
  if (t->share == TRACK_NONE) {
    return false;
  }
  if (track.kind != TRACK_FAULT) {
    return (flags & (SURVEY_WATCHED | SURVEY_WRITTEN)) == SURVEY_WATCHED;
  }
  if (start < (uintptr_t)c->range ||
      start >= (uintptr_t)c->range + c->range_len) {
    return false;
  }
  const uintptr_t next = bits_align_down(start, HUGE_PAGE) + HUGE_PAGE;
  *end = *end < next ? *end : next;
  return has_unit(c, t->unwritten, start);
}

/* A range with a mapped file in it would be refused as a whole. */
static void unregister(const struct context *c, const char *p, size_t len) {
  const uintptr_t end = (uintptr_t)p + len;
  for (uintptr_t at = (uintptr_t)p; at < end;) {
    bool mapped;
    const size_t n = ranges_piece(&c->lazy.mapped, at, end, &mapped);
    struct uffdio_range piece = {.start = at, .len = n};
    if (!mapped) {
      (void)ioctl(track.fd, UFFDIO_UNREGISTER, &piece);
    }
    at += n;
  }
}

static void forget_units(struct context *c) {
  for (size_t i = 0; track.kind == TRACK_FAULT && i < 2 * words(c); i++) {
    c->tracking.watch[i] = 0;
  }
}

/* Pages that move take their protection with them. */
static void release_heap(struct context *c) {
  if (track.kind == TRACK_FAULT) {
    (void)mprotect(c->range, c->range_len, PROT_READ | PROT_WRITE);
  } else {
    unregister(c, c->range, c->range_len);
  }
}

void track_finish(struct context *c, uint64_t clean, bool moves) {
  struct context_tracking *t = &c->tracking;
  if (t->share == TRACK_NONE) {
    return;
  }
  forget_units(c);
  if (moves) {
    release_heap(c);
  }
  if (t->watched && t->share != TRACK_QUIET) {
    t->often_clean = clean * 100 >= t->watched * PAYS;
    t->last_rest =
        t->often_clean ? 0 : back_off(t->last_rest, FIRST_REST, MOST_REST);
    t->rest = t->last_rest;
  }
  t->share = TRACK_NONE;
}

void track_open(void *p, size_t n) {
  if (track.kind != TRACK_FAULT || !n) {
    return;
  }
  const uintptr_t last = bits_align_down((uintptr_t)p + n - 1, HUGE_PAGE);
  for (uintptr_t u = bits_align_down((uintptr_t)p, HUGE_PAGE); u <= last;
       u += HUGE_PAGE) {
    (void)track_fault((void *)u);
  }
}

bool track_by_faults(void) {
  return track.kind == TRACK_FAULT;
}

/* Another thread may have been faster: then the unit is open already. */
bool track_fault(void *address) {
  struct context *c = track.kind == TRACK_FAULT ? context_of(address) : NULL;
  const uintptr_t p = (uintptr_t)address;
  if (!c || p >= (uintptr_t)c->range + c->range_len || !c->tracking.watch ||
      !has_unit(c, c->tracking.watch, p) ||
      !protections_writable(&c->protections, p)) {
    return false;
  }
  const uintptr_t unit = bits_align_down(p, HUGE_PAGE);
  if (has_unit(c, c->tracking.unwritten, p)) {
    if (mprotect((void *)unit, HUGE_PAGE, PROT_READ | PROT_WRITE) != 0) {
      return false;
    }
    set_units(c, c->tracking.unwritten, unit, unit + HUGE_PAGE, false);
  }
  return true;
}
