/* Creation of contexts. */
#define _GNU_SOURCE
#include "context/calls/create.h"

#include "base/message.h"
#include "config/size.h"
#include "context/delivery/bounce.h"
#include "context/granule.h"
#include "context/internal.h"
#include "context/late_frees.h"
#include "context/residency/frames.h"
#include "context/residency/lazy.h"
#include "context/residency/mover.h"
#include "context/residency/residency.h"
#include "context/residency/swap.h"
#include "context/residency/track.h"
#include "context/store/space.h"
#include "context/store/store.h"
#include "os/bits.h"
#include "os/lock.h"
#include "os/native.h"
#include "os/pages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Reserves addresses for all ranges; nothing is accessible yet. */
static int reserve(char *err, size_t err_size) {
  const size_t len = contexts.stride * contexts.n + HUGE_PAGE;
  char *all = mmap(NULL, len, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) {
    snprintf(err, err_size,
             "address space: %zu bytes for %d contexts: %s: give smaller "
             "contexts with --pems-context",
             len, contexts.n, strerror(errno));
    return -1;
  }
  contexts.base = (char *)bits_align_up((uintptr_t)all, HUGE_PAGE);
  return 0;
}

static int create_one(struct context *c, int index) {
  c->index = index;
  c->range = contexts.base + index * contexts.stride;
  c->range_len = bits_align_up(contexts.mu, HUGE_PAGE);
  lock_init(&c->heap_lock, LOCK_CONTEXT_HEAP);
  lock_init(&c->io_lock, LOCK_CONTEXT_IO);
  lock_init(&c->grant_lock, LOCK_CONTEXT_GRANT);
  return granules_create(c);
}

/* What was asked for and cannot be had: an error where that is wanted. */
static int warn_or_fail(bool strict, char *err, size_t err_size,
                        const char *text) {
  if (strict) {
    snprintf(err, err_size, "%s", text);
    return -1;
  }
  msg_notice("%s", text);
  return 0;
}

/* Options that have no effect with what else was chosen. */
static int check_options(const struct contexts_options *o, char *err,
                         size_t err_size) {
  const bool lazily = o->swapin != SWAPIN_EAGER;
  const char *text = NULL;
  if (store_mapped() &&
      (lazily || o->track == TRACK_ASYNC || o->track == TRACK_FAULT)) {
    text = "--pems-swapin, --pems-track: of no use with an I/O driver that "
           "maps: leave them out";
  } else if (!store_mapped() && lazily && !store_lazy()) {
    text = "--pems-swapin: contexts cannot be mapped: whole ones are read: use "
           "--pems-io=unix, and a stripe of 64K or more";
  }
  return text ? warn_or_fail(o->strict, err, err_size, text) : 0;
}

static int start_learning(const struct contexts_options *o, char *err,
                          size_t err_size) {
  if (!store_exists()) {
    return 0;
  }
  if (check_options(o, err, err_size) != 0) {
    return -1;
  }
  if (store_mapped()) {
    return 0;
  }
  (void)pages_survey_start();
  lazy_start(o->swapin);
  char why[256];
  return track_start(o->track, why, sizeof(why))
             ? warn_or_fail(o->strict, err, err_size, why)
             : 0;
}

static int create_all(const struct contexts_options *o, char *err,
                      size_t err_size) {
  contexts.item = native_zalloc(o->n, sizeof(*contexts.item));
  int short_of =
      !contexts.item || bounce_create(o->bounce_count, o->bounce_bytes);
  if (!short_of && reserve(err, err_size) != 0) {
    return -1;
  }
  for (int i = 0; i < o->n && !short_of; i++) {
    short_of = create_one(&contexts.item[i], i);
  }
  if (short_of) {
    snprintf(err, err_size, "out of memory: %d contexts: use fewer VPs", o->n);
    return -1;
  }
  return 0;
}

/* One mover reads while another writes, for each disk. */
static int start_movers(const struct contexts_options *o, char *err,
                        size_t err_size) {
  enum { MOST = 16 };
  if (!store_swaps()) {
    return 0;
  }
  (void)frames_create(o->resident);
  const int n = 2 * store_disks();
  if (movers_start(n < MOST ? n : MOST) != 0) {
    snprintf(err, err_size, "starting a thread: %s: free some memory",
             strerror(errno));
    return -1;
  }
  return 0;
}

int contexts_create(const struct contexts_options *o, char *err,
                    size_t err_size) {
  contexts.n = o->n;
  contexts.mu = o->mu;
  contexts.mu_chosen = o->mu_chosen;
  contexts.budget = o->resident;
  store_open(o->disks);
  contexts.boundary_limit = o->boundary_bytes;
  contexts.policy = o->policy ? o->policy : policy_table[0];
  contexts.place = o->place;
  contexts.ahead = (o->k ? o->k : 1) + store_disks();
  contexts.evict_always = store_swaps() && getenv(CONTEXT_EVICT_ALWAYS);
  /* A gap between ranges catches overruns and keeps 2 MiB alignment. */
  contexts.stride = bits_align_up(o->mu, HUGE_PAGE) + HUGE_PAGE;
  residency_start();
  space_start();
  if (start_learning(o, err, err_size) || create_all(o, err, err_size)) {
    return -1;
  }
  return start_movers(o, err, err_size);
}

void contexts_on_arrival(void (*f)(struct context *c)) {
  contexts.arrival = f;
}

void contexts_on_leaving(bool (*f)(const struct context *c)) {
  contexts.leaving = f;
}

static void destroy_one(struct context *c) {
  if (c->heap) {
    heap_destroy(c->heap);
  }
  store_clear(c);
  ranges_free(&c->incoming);
  boundary_free(&c->boundary);
  lazy_free(c);
  native_free((void *)c->tracking.watch);
  native_free(c->granules);
  late_frees_end(c);
}

void contexts_destroy(void) {
  movers_stop();
  for (int i = 0; contexts.item && i < contexts.n; i++) {
    destroy_one(&contexts.item[i]);
  }
  if (contexts.base) {
    munmap(contexts.base, contexts.stride * contexts.n);
  }
  native_free(contexts.item);
  bounce_destroy();
  frames_destroy();
  track_end();
  pages_survey_end();
  store_close();
  contexts = (struct contexts){0};
}

/* For the program's data, and a little memory, before anything runs. */
static int grant_data(struct context *c, size_t len, char *err,
                      size_t err_size) {
  const char *dir = "";
  const int error = space_grant(c, len + HUGE_PAGE / 32, &dir);
  if (error) {
    char size[16], why[256];
    snprintf(err, err_size, "scratch space: the data of rank %d, %s: %s",
             c->rank, size_format(len, size, sizeof(size)),
             space_refusal(error, dir, why, sizeof(why)));
  }
  return error;
}

int context_adopt(struct context *c, const struct image *image, int rank,
                  char *err, size_t err_size) {
  c->image = *image;
  c->rank = rank;
  const size_t len = image_parts_len(image);
  if (len + HUGE_PAGE / 32 > contexts.mu) {
    snprintf(err, err_size,
             "context size: %zu bytes: the program's own data takes %zu: give "
             "more with --pems-context or --pems-memory",
             contexts.mu, len);
    return -1;
  }
  if (grant_data(c, len, err, err_size) != 0) {
    return -1;
  }
  const int error = store_mapped() ? store_map(c) : 0;
  if (error) {
    snprintf(err, err_size, "mapping a context: %s: %s", store_dir(c),
             strerror(error));
    return -1;
  }
  if (!store_mapped()) {
    context_map(c);
  }
  c->heap = heap_create(c->range, bits_align_down(contexts.mu - len, PAGE));
  if (!c->heap) {
    snprintf(err, err_size, "out of memory: heap of rank %d: use fewer VPs",
             rank);
    return -1;
  }
  space_limit_heap(c);
  c->state = CONTEXT_IN;
  c->need = len;
  /* Counted in full at once, so that loading many programs with much data
     evicts early ones instead of filling the memory. */
  context_acquire(c);
  context_release(c);
  return 0;
}
