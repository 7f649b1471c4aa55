#define _GNU_SOURCE
#include "context/residency/working_set.h"

#include "base/need.h"
#include "context/internal.h"
#include "os/bits.h"
#include "os/native.h"
#include "os/pages.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* <linux/mman.h> of Linux 5.14. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum {
  UNIT = WORKING_SET_UNIT,
  SLOTS = 256,
  WAYS = 8,
  LAST = CONTEXT_LEVELS - 1,
  /* Calls ahead that are looked at. */
  MOST_STEPS = 256,
  /* Calls without a wait for whose pages a fill cares. */
  MOST_SOON = 16,
  /* Visits: at the second, nothing is read ahead, so that touches show; from
     then on they are known. */
  LEARNS = 2,
  AGES = 64,
};

/* A call of MPI and what is touched after it. */
struct call {
  uintptr_t key;      /* 0: the slot is free */
  uintptr_t next;     /* key of the different one that followed the last time */
  uint64_t last_used; /* 0: never */
  unsigned visits;
  uint8_t blocks; /* a bit each of the last times: its VP waited there */
  struct ranges touched;
};

struct working_set {
  uintptr_t site[3]; /* the last different ones, the newest first */
  uintptr_t now;     /* key */
  uint64_t uses;
  long faults; /* of the VP's thread, when it went on */
  struct call call[SLOTS];
};

static void add(struct ranges *r, uintptr_t start, uintptr_t end) {
  /* Short of memory: less is known, nothing is lost. */
  (void)ranges_add(r, start, end);
}

/* A key lies in one of the WAYS slots from its own on. */
static struct call *slot(struct working_set *w, uintptr_t key, int i) {
  return &w->call[(site_slot(key, SLOTS) + (size_t)i) % SLOTS];
}

static struct call *find(struct working_set *w, uintptr_t key) {
  for (int i = 0; w && key && i < WAYS; i++) {
    struct call *const e = slot(w, key, i);
    if (e->key == key) {
      return e;
    }
  }
  return NULL;
}

static struct call *find_or_add(struct working_set *w, uintptr_t key) {
  struct call *e = find(w, key);
  if (!e) {
    e = slot(w, key, 0);
    for (int i = 1; i < WAYS; i++) {
      struct call *const other = slot(w, key, i);
      e = other->last_used < e->last_used ? other : e;
    }
    ranges_free(&e->touched);
    *e = (struct call){.key = key};
  }
  e->last_used = ++w->uses;
  return e;
}

static uintptr_t key_of(const struct working_set *w) {
  uintptr_t key = 1;
  for (int i = 0; i < 3; i++) {
    key = (key ^ w->site[i]) * 0x9e3779b97f4a7c15u;
    key ^= key >> 29;
  }
  return key | 1;
}

static long thread_faults(void) {
  struct rusage u;
  getrusage(RUSAGE_THREAD, &u);
  return u.ru_minflt + u.ru_majflt;
}

/* --- what is touched --- */

struct seen {
  struct ranges read, written; /* units */
  const struct range *of;
};

static void see(void *arg, uintptr_t start, uintptr_t end, int flags) {
  struct seen *const s = arg;
  const uintptr_t from = bits_align_down(start, UNIT);
  const uintptr_t to = bits_align_up(end, UNIT);
  add(flags & SURVEY_FILE ? &s->read : &s->written,
      from > s->of->start ? from : s->of->start,
      to < s->of->end ? to : s->of->end);
}

/* Which missing pages are there after all? Units that were written become
   memory as a whole. */
static void find_present(struct context *c, struct seen *s) {
  struct context_partial *const p = &c->partial;
  for (size_t i = 0; i < p->missing.n; i++) {
    s->of = &p->missing.item[i];
    pages_survey(s->of->start, s->of->end, see, s);
  }
  for (size_t i = 0; i < s->written.n; i++) {
    const struct range *const r = &s->written.item[i];
    (void)madvise((void *)r->start, r->end - r->start, MADV_POPULATE_WRITE);
    (void)ranges_remove(&p->missing, r->start, r->end);
  }
}

void working_set_settle(struct context *c) {
  struct seen s = {0};
  find_present(c, &s);
  ranges_free(&s.read);
  ranges_free(&s.written);
}

static void observe(struct context *c, struct working_set *w) {
  struct call *const e = find(w, w->now);
  struct seen s = {0};
  find_present(c, &s);
  (void)ranges_remove_all(&c->partial.missing, &s.read);
  if (e) {
    (void)ranges_add_all(&e->touched, &s.read);
    (void)ranges_add_all(&e->touched, &s.written);
  }
  ranges_free(&s.read);
  ranges_free(&s.written);
}

static void advance(struct working_set *w, uintptr_t site) {
  if (site == w->site[0] && site == w->site[1]) {
    return;
  }
  w->site[2] = w->site[1];
  w->site[1] = w->site[0];
  w->site[0] = site;
  struct call *const before = find(w, w->now);
  w->now = key_of(w);
  if (before) {
    before->next = w->now;
  }
  find_or_add(w, w->now)->visits++;
}

void working_set_stops(struct context *c, uintptr_t site) {
  struct context_partial *const p = &c->partial;
  if (!p->set) {
    p->set = need_zalloc(1, sizeof(struct working_set), "working sets");
  }
  lock_take(&c->io_lock);
  if (p->missing.n && thread_faults() != p->set->faults) {
    observe(c, p->set);
  }
  advance(p->set, site);
  lock_give(&c->io_lock);
}

void working_set_goes_on(struct context *c, bool waited) {
  struct working_set *const w = c->partial.set;
  struct call *const e = find(w, w->now);
  if (e) {
    e->blocks = (uint8_t)(e->blocks << 1 | waited);
    if (e->visits % AGES == 0) {
      (void)ranges_remove_all(&e->touched, &c->partial.missing);
    }
  }
  w->faults = c->partial.missing.n ? thread_faults() : 0;
}

/* --- what will be --- */

static void add_both(const struct ranges *a, const struct ranges *b,
                     struct ranges *r) {
  for (size_t i = 0; i < a->n; i++) {
    for (uintptr_t at = a->item[i].start; at < a->item[i].end;) {
      bool in;
      const size_t n = ranges_piece(b, at, a->item[i].end, &in);
      if (in) {
        add(r, at, at + n);
      }
      at += n;
    }
  }
}

bool working_set_soon(struct context *c, const struct ranges *of,
                      struct ranges *pages) {
  struct working_set *const w = c->partial.set;
  const struct call *e = w ? find(w, w->now) : NULL;
  for (int i = 0; i < MOST_SOON; i++) {
    if (!e || e->visits < LEARNS) {
      if (i == 0) {
        (void)ranges_add_all(pages, of);
      }
      return i > 0;
    }
    add_both(&e->touched, of, pages);
    e = find(w, e->next);
    if (!e || e->blocks || e->key == w->now) {
      return true;
    }
  }
  return true;
}

static void set_level(const struct ranges *r, uintptr_t start, uint8_t *level,
                      size_t units, int is) {
  const uintptr_t end = start + units * UNIT;
  for (size_t i = ranges_find(r, start); i < r->n; i++) {
    const uintptr_t from = r->item[i].start > start ? r->item[i].start : start;
    const uintptr_t to = bits_min(r->item[i].end, end);
    for (uintptr_t at = bits_align_down(from, UNIT); at < to; at += UNIT) {
      uint8_t *const l = &level[(at - start) / UNIT];
      *l = *l > is ? (uint8_t)is : *l;
    }
    if (r->item[i].end >= end) {
      break;
    }
  }
}

/* The rest is due where what follows is not known. */
void working_set_levels(struct context *c, uintptr_t start, uint8_t *level,
                        size_t units) {
  struct working_set *const w = c->partial.set;
  const struct call *e = w ? find(w, w->now) : NULL;
  int rest = LAST, waits = 0;
  memset(level, LAST, units);
  for (int i = 0; i < MOST_STEPS; i++) {
    if (!e || e->visits < LEARNS) {
      rest = waits;
      break;
    }
    set_level(&e->touched, start, level, units, waits);
    e = find(w, e->next);
    if (e && e->key == w->now) {
      break;
    }
    waits += e && e->blocks && waits < LAST - 1;
  }
  for (size_t i = 0; i < units; i++) {
    level[i] = level[i] > rest ? (uint8_t)rest : level[i];
  }
}

void working_set_free(struct context *c) {
  for (int i = 0; c->partial.set && i < SLOTS; i++) {
    ranges_free(&c->partial.set->call[i].touched);
  }
  native_free(c->partial.set);
  c->partial.set = NULL;
}
