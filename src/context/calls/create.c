/* Creation of contexts. */
#define _GNU_SOURCE
#include "context/calls/create.h"

#include "base/failure.h"
#include "base/limit.h"
#include "base/message.h"
#include "config/memory_plan.h"
#include "config/size.h"
#include "context/delivery/bounce.h"
#include "context/granule.h"
#include "context/internal.h"
#include "context/late_frees.h"
#include "context/residency/density.h"
#include "context/residency/frames.h"
#include "context/residency/lazy.h"
#include "context/residency/lending.h"
#include "context/residency/mover.h"
#include "context/residency/partial.h"
#include "context/residency/residency.h"
#include "context/residency/swap.h"
#include "context/residency/track.h"
#include "context/residency/victim.h"
#include "context/stack_part.h"
#include "context/store/crate.h"
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

/* Where contexts begin if nothing is there, so that a rank has the same
   addresses in each run with contexts of this size: below what the kernel gives
   programs, above what sanitizers take. */
static char *usual_place(void) {
  return (char *)CONTEXTS_PLACE;
}

/* Reserves addresses for all ranges; nothing is accessible yet. A rank that is
   to have the same whoever carries it has them by its number. */
static int reserve(const struct contexts_options *o, struct pems_error *error) {
  const size_t len = contexts.stride * contexts.n + HUGE_PAGE;
  const size_t before_ours = o->room ? contexts.stride * (size_t)o->first : 0;
  char *all = mmap(usual_place() + before_ours, len, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
                       (o->room ? MAP_FIXED_NOREPLACE : 0),
                   -1, 0);
  if (all == MAP_FAILED) {
    const int code = errno;
    char advice[LIMIT_TEXT];
    return failure(error, code,
                   "address space: %zu bytes for %d contexts: %s: %s", len,
                   contexts.n, strerror(code),
                   limit_advice(advice, LIMIT_ADDRESSES, code, len,
                                "give smaller contexts with --pems-context"));
  }
  contexts.base = (char *)bits_align_up((uintptr_t)all, HUGE_PAGE);
  /* What contexts_destroy unmaps is all there is. */
  const size_t before = contexts.base - all;
  if (before) {
    munmap(all, before);
  }
  munmap(contexts.base + contexts.stride * contexts.n, HUGE_PAGE - before);
  return 0;
}

static int create_one(struct context *c, int index) {
  c->index = index;
  c->range = contexts.base + index * contexts.stride;
  c->range_len = contexts.range;
  lock_init(&c->heap_lock, LOCK_CONTEXT_HEAP);
  lock_init(&c->io_lock, LOCK_CONTEXT_IO);
  lock_init(&c->units_lock, LOCK_CONTEXT_UNITS);
  lock_init(&c->grant_lock, LOCK_CONTEXT_GRANT);
  return granules_create(c);
}

static int movers_wanted(void) {
  enum { MOST = 16 };
  const int n = 2 * store_disks();
  return n < MOST ? n : MOST;
}

/* Beside movers, some VPs deliver. A quarter of the memory is left for what is
   known of each unit, 64 bytes for a MiB on disk. */
static int start_compressing(const struct contexts_options *o,
                             struct pems_error *error) {
  enum { DELIVERING = 2 };
  const struct store_compression how = {.how = o->compress,
                                        .level = o->compress_level,
                                        .users = movers_wanted() + DELIVERING,
                                        .memory = o->compress_bytes / 4 * 3};
  const int code = store_compress(&how);
  return code ? failure(error, code,
                        "out of memory: buffers for --pems-compress: give more "
                        "with --pems-memory")
              : 0;
}

/* What was asked for and cannot be had: an error where that is wanted. */
static int warn_or_fail(bool strict, struct pems_error *error, int code,
                        const char *text) {
  if (strict) {
    return failure(error, code, "%s", text);
  }
  msg_notice("%s", text);
  return 0;
}

/* Options that have no effect with what else was chosen. */
static int check_options(const struct contexts_options *o,
                         struct pems_error *error) {
  const bool lazily = o->swapin != SWAPIN_AUTO && o->swapin != SWAPIN_EAGER;
  const char *text = NULL;
  if (store_mapped() &&
      (lazily || o->track == TRACK_ASYNC || o->track == TRACK_FAULT)) {
    text = "--pems-swapin, --pems-track: of no use with an I/O driver that "
           "maps: leave them out";
  } else if (store_mapped() && o->compress != COMPRESS_NONE) {
    text = "--pems-compress: of no use with an I/O driver that maps: leave it "
           "out";
  } else if (lazily && store_compresses()) {
    text = "--pems-swapin: compressed contexts cannot be mapped: whole ones "
           "are read: leave out --pems-swapin or --pems-compress";
  } else if (!store_mapped() && lazily && !store_lazy()) {
    text = "--pems-swapin: contexts cannot be mapped: whole ones are read: use "
           "--pems-io=unix, and a stripe of 64K or more";
  }
  return text ? warn_or_fail(o->strict, error, EINVAL, text) : 0;
}

static int start_learning(const struct contexts_options *o,
                          struct pems_error *error) {
  int code = store_exists() ? check_options(o, error) : 0;
  if (code || store_mapped()) {
    return code;
  }
  (void)pages_survey_start();
  if (!store_exists()) {
    return 0;
  }
  lazy_start(o->swapin);
  struct pems_error why;
  code = track_start(o->track, &why);
  partial_start(o->swapin == SWAPIN_PARTS);
  return code ? warn_or_fail(o->strict, error, code, why.text) : 0;
}

static int out_of_memory(struct pems_error *error) {
  char advice[LIMIT_TEXT];
  return failure(
      error, ENOMEM, "out of memory: %d contexts: %s", contexts.n,
      limit_advice(advice, LIMIT_MEMORY, ENOMEM, 0, "use fewer ranks"));
}

static int no_thread(int code, struct pems_error *error) {
  char advice[LIMIT_TEXT];
  return failure(
      error, code, "starting a thread: %s: %s", strerror(code),
      limit_advice(advice, LIMIT_THREAD, code, 0, "free some memory"));
}

static int create_all(const struct contexts_options *o,
                      struct pems_error *error) {
  contexts.item = native_zalloc(o->n, sizeof(*contexts.item));
  int short_of =
      !contexts.item || bounce_create(o->bounce_count, o->bounce_bytes);
  const int code = short_of ? 0 : reserve(o, error);
  if (code) {
    return code;
  }
  for (int i = 0; i < o->n && !short_of; i++) {
    short_of = create_one(&contexts.item[i], i);
  }
  return short_of ? out_of_memory(error) : 0;
}

/* Each user keeps one staging buffer. Who never moves cannot give back. */
static void lend(const struct contexts_options *o) {
  const uint64_t buffers = o->bounce_count * bounce_size();
  lending_start();
  if (!store_swaps() || !o->lends) {
    return;
  }
  for (int i = 0; i < MEMORY_CONTEXTS; i++) {
    const enum memory_use use = (enum memory_use)i;
    const uint64_t kept = memory_plan_kept(o->lends, use);
    const bool staging = use == MEMORY_STAGING;
    lending_add(use,
                staging ? bounce_count() * bounce_size()
                        : memory_plan_bytes(o->lends, use),
                staging ? bits_max(kept, buffers) : kept);
  }
}

/* One mover reads while another writes, for each disk. */
static int start_movers(struct pems_error *error) {
  if (!store_swaps()) {
    return 0;
  }
  (void)frames_create(contexts.budget);
  const int code = movers_start(movers_wanted());
  return code ? no_thread(code, error) : 0;
}

/* Also where nothing is ever swapped: memory counts there, too. */
static int start_watching(struct pems_error *error) {
  const int code = store_mapped() ? 0 : density_start();
  return code ? no_thread(code, error) : 0;
}

/* A rank's memory, and its stack; but never more than all have. */
static size_t mu_with_stack(const struct contexts_options *o) {
  const size_t most = o->resident > o->mu ? o->resident : o->mu;
  return contexts.stacks_leave ? bits_min(o->mu + MEMORY_PLAN_STACK, most)
                               : o->mu;
}

int contexts_create(const struct contexts_options *o,
                    struct pems_error *error) {
  contexts.n = o->n;
  store_open(o->disks);
  contexts.stack = bits_align_up(o->stack, HUGE_PAGE);
  contexts.stack_top = o->stack_top;
  contexts.stacks_leave = contexts.stack && o->stacks_leave && store_swaps();
  contexts.mu = mu_with_stack(o);
  if (o->room && o->room < contexts.mu) {
    contexts.mu = o->room;
  }
  contexts.range = bits_align_up(o->room ? o->room : contexts.mu, HUGE_PAGE);
  contexts.mu_chosen = o->mu_chosen;
  contexts.more = o->more ? o->more : "more --pems-context or --pems-memory";
  contexts.budget = o->resident;
  contexts.even = o->resident / (uint64_t)(o->k ? o->k : 1);
  contexts.boundary_limit = o->boundary_bytes;
  contexts.policy = o->policy ? o->policy : policy_table[0];
  contexts.place = o->place;
  contexts.ahead = (o->k ? o->k : 1) + store_disks();
  contexts.evict_always = store_swaps() && getenv(CONTEXT_EVICT_ALWAYS);
  /* A gap between ranges catches overruns and keeps 2 MiB alignment. */
  contexts.stride = contexts.range + HUGE_PAGE;
  if (contexts.stack) {
    contexts.stride += contexts.stack + HUGE_PAGE;
  }
  space_start();
  int code = residency_start();
  if (code) {
    return out_of_memory(error);
  }
  code = start_compressing(o, error);
  if (store_swaps() && !store_compresses() && o->swapin != SWAPIN_PAGES) {
    crate_open(o->disks);
  }
  code = code ? code : start_learning(o, error);
  code = code ? code : create_all(o, error);
  if (!code) {
    lend(o);
  }
  code = code ? code : start_movers(error);
  return code ? code : start_watching(error);
}

void contexts_on_arrival(void (*f)(struct context *const *c, int n)) {
  contexts.arrival = f;
}

void contexts_on_leaving(bool (*f)(const struct context *c)) {
  victim_on_leaving(f);
}

void contexts_on_growing(bool (*f)(const struct context *c)) {
  contexts.threaded = f;
}

static void destroy_one(struct context *c) {
  if (c->heap) {
    heap_destroy(c->heap);
  }
  store_clear(c);
  ranges_free(&c->incoming);
  boundary_free(&c->boundary);
  lazy_free(c);
  partial_free(c);
  ranges_free(&c->protections);
  native_free((void *)c->tracking.watch);
  native_free(c->granules);
  late_frees_end(c);
}

void contexts_destroy(void) {
  density_stop();
  movers_stop();
  residency_end();
  lending_end();
  for (int i = 0; contexts.item && i < contexts.n; i++) {
    destroy_one(&contexts.item[i]);
  }
  if (contexts.base) {
    munmap(contexts.base, contexts.stride * contexts.n);
  }
  native_free(contexts.item);
  bounce_destroy();
  frames_destroy();
  lazy_end();
  track_end();
  pages_survey_end();
  store_close();
  contexts = (struct contexts){0};
}

/* For the program's data, and a little memory, before anything runs. */
static int grant_data(struct context *c, size_t len, struct pems_error *error) {
  const char *dir = "";
  const int code = space_grant(c, len + HUGE_PAGE / 32, &dir);
  if (code) {
    char size[16], why[256];
    return failure(error, code, "scratch space: the data of rank %d, %s: %s",
                   c->rank, size_format(len, size, sizeof(size)),
                   space_refusal(code, dir, why, sizeof(why)));
  }
  return code;
}

/* The upper end of its VP's stack. */
static struct image_part stack_part(const struct context *c) {
  char *start;
  const size_t n = context_stack_range(c, &start) - contexts.stack_top;
  return contexts.stacks_leave
             ? (struct image_part){start + n - MEMORY_PLAN_STACK,
                                   MEMORY_PLAN_STACK, NULL}
             : (struct image_part){0};
}

int context_adopt(struct context *c, const struct image *image, int rank,
                  struct pems_error *error) {
  c->image = *image;
  c->image.stack = stack_part(c);
  if (c->image.stack.len) {
    (void)context_stack_range(c, &c->image.stack_low);
  }
  c->rank = rank;
  const size_t len = image_parts_len(&c->image);
  if (len + HUGE_PAGE / 32 > contexts.mu) {
    return failure(
        error, EINVAL,
        "context size: %zu bytes: the program's own data takes %zu: give %s",
        contexts.mu, len, contexts.more);
  }
  int code = grant_data(c, len, error);
  if (code) {
    return code;
  }
  code = store_mapped() ? store_map(c) : 0;
  if (code) {
    return failure(error, code, "mapping a context: %s: %s", store_dir(c),
                   strerror(code));
  }
  if (!store_mapped()) {
    context_map(c);
  }
  c->heap = heap_create(c->range, bits_align_down(contexts.mu - len, PAGE));
  if (!c->heap) {
    char advice[LIMIT_TEXT];
    /* The heap's tree of free ranges takes a sixth of mu in addresses. */
    return failure(error, ENOMEM, "out of memory: heap of rank %d: %s", rank,
                   limit_advice(advice, LIMIT_MEMORY, ENOMEM, contexts.mu / 6,
                                "use fewer ranks"));
  }
  space_limit_heap(c);
  c->state = CONTEXT_IN;
  c->need = len;
  c->adopted = true;
  /* Counted in full at once, so that loading many programs with much data
     evicts early ones instead of filling the memory. */
  context_acquire(c);
  context_release(c);
  return 0;
}
