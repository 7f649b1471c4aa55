#define _GNU_SOURCE
#include "context/lazy.h"

#include "base/counters.h"
#include "base/message.h"
#include "context/internal.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum {
  UNIT = 64 << 10, /* what is predicted is rounded to this */
  /* Less than this is read, not mapped. */
  LEAST = 256 << 10,
  /* Each mapped piece takes two of the process's mappings. */
  MOST_PIECES = 128,
  /* A prediction is measured anew after so many residences. */
  LAST = 16,
  FIRST_REST = 4,
  MOST_REST = 64,
  /* Per cent of what is on disk: a context that touches more is read whole. */
  MUCH = 40,
  /* Touched pages in runs shorter than this on average are read one by one. */
  SHORT_RUN = 96 << 10,
};

static enum swapin mode;

void lazy_start(enum swapin wanted) {
  mode = wanted;
}

static bool map_this_time(struct lazy *z) {
  if (mode == SWAPIN_EAGER || !disks_lazy(contexts.disks)) {
    return false;
  }
  if (mode == SWAPIN_AUTO && z->rest) {
    z->rest--;
    return false;
  }
  return true;
}

static void add(struct ranges *r, uintptr_t start, uintptr_t end) {
  /* Short of memory: less is known, nothing is lost. */
  (void)ranges_add(r, start, end);
}

/* The parts of `pages` that are read at once: what was touched before, and what
   is too small to be mapped. The rest goes to z->mapped. */
static void divide(struct lazy *z, const struct ranges *pages) {
  for (size_t i = 0; i < pages->n; i++) {
    const struct range *r = &pages->item[i];
    for (uintptr_t at = r->start; at < r->end;) {
      bool known;
      const size_t n = ranges_piece(&z->touched, at, r->end, &known);
      const bool map =
          !(known && z->predicting) && n >= LEAST && z->mapped.n < MOST_PIECES;
      if (map) {
        add(&z->mapped, at, at + n);
      }
      at += n;
    }
  }
}

static _Noreturn void map_failed(const struct context *c, int error) {
  msg_fail(MSG_FAILED,
           "mapping a context: rank %d: %s: give --pems-swapin=eager", c->rank,
           strerror(error));
}

void lazy_map(struct context *c, struct ranges *pages) {
  struct lazy *z = &c->lazy;
  ranges_clear(&z->mapped);
  if (!map_this_time(z)) {
    return;
  }
  divide(z, pages);
  for (size_t i = 0; i < z->mapped.n; i++) {
    const struct range m = z->mapped.item[i];
    const int error = disks_map_lazy(
        contexts.disks, c->index, (void *)m.start, m.end - m.start,
        context_offset(c, (void *)m.start), !z->random);
    if (error) {
      map_failed(c, error);
    }
    if (ranges_remove(pages, m.start, m.end) != 0) {
      map_failed(c, ENOMEM);
    }
  }
}

void lazy_found(struct context *c, uintptr_t start, uintptr_t end) {
  struct lazy *z = &c->lazy;
  z->found_bytes += end - start;
  z->found_runs++;
  add(&z->found, round_down(start, UNIT), round_up(end, UNIT));
}

uint64_t lazy_bytes_read(const struct context *c) {
  const struct lazy *z = &c->lazy;
  enum { BATCH = 4096 };
  unsigned char in[BATCH];
  uint64_t pages = 0;
  for (size_t i = 0; i < z->mapped.n; i++) {
    const struct range *m = &z->mapped.item[i];
    for (uintptr_t at = m->start; at < m->end; at += BATCH * PAGE) {
      const size_t left = (m->end - at) / PAGE;
      const size_t n = left < BATCH ? left : BATCH;
      if (mincore((void *)at, n * PAGE, in) == 0) {
        for (size_t j = 0; j < n; j++) {
          pages += in[j] & 1;
        }
      }
    }
  }
  return pages * PAGE;
}

static void rest_longer(struct lazy *z) {
  z->last_rest = z->last_rest == 0               ? FIRST_REST
                 : z->last_rest * 2 <= MOST_REST ? z->last_rest * 2
                                                 : MOST_REST;
  z->rest = z->last_rest;
}

static void swap_sets(struct ranges *a, struct ranges *b) {
  const struct ranges c = *a;
  *a = *b;
  *b = c;
}

/* Decides what to do the next time from what was found this time. */
static void learn(struct lazy *z, uint64_t mapped) {
  const uint64_t predicted =
      z->predicting ? ranges_total(&z->touched) : (uint64_t)0;
  if (z->found_runs) {
    z->random = z->found_bytes / z->found_runs < SHORT_RUN;
  }
  if (!z->predicting && z->found_bytes * 100 > mapped * MUCH) {
    rest_longer(z);
  } else {
    z->last_rest = 0;
  }
  if (!z->predicting) {
    swap_sets(&z->touched, &z->found); /* measured: try it next time */
    z->predicting = true;
    z->age = 0;
  } else if (z->found_bytes > predicted / 2 || ++z->age >= LAST) {
    ranges_clear(&z->touched); /* wrong, or old */
    z->predicting = false;
  } else {
    for (size_t i = 0; i < z->found.n; i++) {
      add(&z->touched, z->found.item[i].start, z->found.item[i].end);
    }
  }
}

void lazy_finish(struct context *c) {
  struct lazy *z = &c->lazy;
  if (!z->mapped.n) {
    return;
  }
  learn(z, ranges_total(&z->mapped));
  for (size_t i = 0; i < z->mapped.n; i++) {
    const struct range *m = &z->mapped.item[i];
    disks_forget(contexts.disks, c->index, m->end - m->start,
                 context_offset(c, (void *)m->start));
  }
  ranges_clear(&z->mapped);
  ranges_clear(&z->found);
  z->found_bytes = z->found_runs = 0;
}

void lazy_overwrite(struct context *c, uintptr_t start, uintptr_t end) {
  struct lazy *z = &c->lazy;
  for (uintptr_t at = start; at < end;) {
    bool mapped;
    const size_t n = ranges_piece(&z->mapped, at, end, &mapped);
    if (mapped && n >= UNIT) {
      if (ranges_remove(&z->mapped, at, at + n) != 0 ||
          ranges_remove(&c->on_disk, at, at + n) != 0 ||
          mmap((void *)at, n, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
               0) == MAP_FAILED) {
        map_failed(c, ENOMEM);
      }
    }
    at += n;
  }
}

void lazy_free(struct context *c) {
  ranges_free(&c->lazy.mapped);
  ranges_free(&c->lazy.touched);
  ranges_free(&c->lazy.found);
}
