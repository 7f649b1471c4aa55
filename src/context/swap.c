/* Moving a whole context between memory and disk. */
#define _GNU_SOURCE
#include "context/internal.h"

#include "base/counters.h"
#include "base/message.h"
#include "base/native.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
  MAX_EXTENTS = 4096,
  /* Reading a hole of this size costs about as much as one more request. */
  MERGE = 128 << 10,
  /* The same for pages that were never written. */
  GAP = 64 << 10,
  /* Below this, asking which pages exist is not worth the system call. */
  SPARSE = 1 << 20,
};

static _Noreturn void map_failed(const struct context *c) {
  msg_fail(MSG_FAILED,
           "mapping memory: context of rank %d: %s: raise vm.max_map_count or "
           "use fewer VPs",
           c->rank, strerror(errno));
}

static void map_range(const struct context *c, char *p, size_t n, int prot) {
  if (n &&
      mmap(p, n, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
           -1, 0) == MAP_FAILED) {
    map_failed(c);
  }
}

/* Huge pages make direct I/O several times cheaper, but would waste memory in
   the first 2 MiB of v small contexts. */
static void advise(const struct context *c) {
  if (c->range_len > HUGE_PAGE) {
    madvise(c->range + HUGE_PAGE, c->range_len - HUGE_PAGE, MADV_HUGEPAGE);
  }
  madvise(c->range, HUGE_PAGE, MADV_NOHUGEPAGE);
}

void context_map(struct context *c) {
  map_range(c, c->range, c->range_len, PROT_READ | PROT_WRITE);
  advise(c);
}

/* Gives the pages back; a stray access faults instead of reading zeros. */
static void unmap(struct context *c) {
  map_range(c, c->range, c->range_len, PROT_NONE);
  map_range(c, c->image.data, c->image.data_len, PROT_NONE);
}

void context_drop(struct context *c) {
  pthread_mutex_lock(&c->io_lock);
  ranges_clear(&c->on_disk);
  ranges_clear(&c->incoming);
  boundary_free(&c->boundary);
  unmap(c);
  pthread_mutex_unlock(&c->io_lock);
}

static void keep(struct context *c, uintptr_t start, uintptr_t end) {
  if (ranges_add(&c->on_disk, start, end) != 0) {
    msg_fail(MSG_FAILED, "out of memory: swapping out rank %d", c->rank);
  }
}

/* Adds [start, end) and a gap behind *last, the end of what was added before,
   that is too short to be worth a request of its own. */
static void keep_near(struct context *c, uintptr_t *last, uintptr_t start,
                      uintptr_t end) {
  if (start < end) {
    keep(c, start - *last < GAP ? *last : start, end);
    *last = end;
  }
}

/* Adds those pages of [p, p + n) that exist; all if that cannot be known. */
static void keep_present(struct context *c, char *p, size_t n, int pagemap) {
  enum { BATCH = 4096 };
  uint64_t entry[BATCH];
  uintptr_t last = (uintptr_t)p;
  for (size_t at = 0; at < n; at += BATCH * PAGE) {
    const size_t left = (n - at) / PAGE;
    const size_t pages = left < BATCH ? left : BATCH;
    const uintptr_t start = (uintptr_t)p + at;
    const ssize_t want = pages * sizeof(entry[0]);
    if (pagemap < 0 ||
        pread(pagemap, entry, want, start / PAGE * sizeof(entry[0])) != want) {
      keep_near(c, &last, start, start + pages * PAGE);
      continue;
    }
    for (size_t i = 0; i < pages; i++) {
      size_t j = i;
      while (j < pages && entry[j] >> 62) { /* present or in swap */
        j++;
      }
      keep_near(c, &last, start + i * PAGE, start + j * PAGE);
      i = j; /* which is absent, or past the batch */
    }
  }
}

static void keep_extent(struct context *c, char *p, size_t n, int pagemap) {
  if (n >= SPARSE) {
    keep_present(c, p, n, pagemap);
  } else {
    keep(c, (uintptr_t)p, (uintptr_t)p + n);
  }
}

static int open_pagemap(void) {
  return open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
}

/* Finds the bytes worth writing, and counts anew what the context needs. */
static void collect(struct context *c) {
  struct extent *extent =
      native_need(MAX_EXTENTS * sizeof(*extent), "swapping out");
  const int pagemap = open_pagemap();
  ranges_clear(&c->on_disk);
  keep_extent(c, c->image.data, c->image.data_len, pagemap);
  pthread_mutex_lock(&c->heap_lock);
  const size_t n = heap_extents(c->heap, MERGE, extent, MAX_EXTENTS);
  pthread_mutex_unlock(&c->heap_lock);
  granules_clear(c);
  c->need = c->image.data_len;
  for (size_t i = 0; i < n; i++) {
    c->need += granules_use(c, extent[i].start, extent[i].len);
    keep_extent(c, extent[i].start, extent[i].len, pagemap);
  }
  if (pagemap >= 0) {
    close(pagemap);
  }
  native_free(extent);
}

static void leave_out_incoming(struct context *c) {
  for (size_t i = 0; i < c->incoming.n; i++) {
    const uintptr_t start = round_up(c->incoming.item[i].start, PAGE);
    const uintptr_t end = round_down(c->incoming.item[i].end, PAGE);
    if (start < end && ranges_remove(&c->on_disk, start, end) != 0) {
      return; /* out of memory: more bytes are written than needed */
    }
  }
}

void context_swap_out(struct context *c) {
  collect(c);
  pthread_mutex_lock(&c->io_lock);
  leave_out_incoming(c);
  for (size_t i = 0; i < c->on_disk.n; i++) {
    const struct range *r = &c->on_disk.item[i];
    const int error =
        disks_write(contexts.disks, c->index, (void *)r->start,
                    r->end - r->start, context_offset(c, (void *)r->start));
    if (error) {
      context_io_failed(c, "swapping out", error);
    }
    counter_add(swap_out, r->end - r->start);
  }
  counter_add(swaps_out, 1);
  unmap(c);
  pthread_mutex_unlock(&c->io_lock);
}

static void apply_boundary(void *arg, uintptr_t p, const char *block,
                           const uint64_t *known, int complete) {
  (void)arg, (void)complete;
  boundary_apply(block, known, (char *)p);
}

void context_swap_in(struct context *c) {
  map_range(c, c->image.data, c->image.data_len, PROT_READ | PROT_WRITE);
  context_map(c);
  pthread_mutex_lock(&c->io_lock);
  for (size_t i = 0; i < c->on_disk.n; i++) {
    const struct range *r = &c->on_disk.item[i];
    const int error =
        disks_read(contexts.disks, c->index, (void *)r->start,
                   r->end - r->start, context_offset(c, (void *)r->start));
    if (error) {
      context_io_failed(c, "swapping in", error);
    }
    counter_add(swap_in, r->end - r->start);
  }
  counter_add(swaps_in, 1);
  boundary_flush(&c->boundary, apply_boundary, NULL);
  pthread_mutex_unlock(&c->io_lock);
  pthread_mutex_lock(&c->heap_lock);
  heap_swapped(c->heap, 1);
  pthread_mutex_unlock(&c->heap_lock);
}
