#include "em/sort/fetch_order.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "os/native.h"

/* --- what is needed: merging the smallest records of the blocks --- */

/* The heads of the runs, as a binary heap. */
struct heads {
  const struct runs *all;
  const struct run *run;
  const struct pems_record *record;
  const struct kernel *kernel;
  size_t count; /* in the heap */
  struct fetch_order_entry *heap;
};

static bool before(const struct heads *h, struct fetch_order_entry a,
                   struct fetch_order_entry b) {
  const size_t size = h->all->record_size;
  const int order =
      h->kernel->compare(h->record, h->run[a.run].least + a.block * size,
                         h->run[b.run].least + b.block * size);
  return order ? order < 0 : a.run < b.run;
}

/* Lets what is at `i` sink to where it belongs. */
static void sink(struct heads *h, size_t i) {
  const struct fetch_order_entry moved = h->heap[i];
  for (size_t child; (child = 2 * i + 1) < h->count; i = child) {
    if (child + 1 < h->count && before(h, h->heap[child + 1], h->heap[child])) {
      child++;
    }
    if (!before(h, h->heap[child], moved)) {
      break;
    }
    h->heap[i] = h->heap[child];
  }
  h->heap[i] = moved;
}

static void advance(struct heads *h) {
  struct fetch_order_entry *const first = &h->heap[0];
  if (++first->block == h->run[first->run].blocks) {
    *first = h->heap[--h->count];
  }
  sink(h, 0);
}

int fetch_order_needs(const struct runs *all, const struct run *run,
                      size_t count, const struct pems_record *record,
                      const struct kernel *kernel,
                      struct fetch_order_entry *order) {
  struct fetch_order_entry *const heap =
      native_alloc((count + 1) * sizeof(*heap));
  if (!heap) {
    return ENOMEM;
  }
  struct heads h = {all, run, record, kernel, 0, heap};
  for (size_t i = 0; i < count; i++) {
    if (run[i].blocks) {
      heap[h.count++] = (struct fetch_order_entry){(uint32_t)i, 0};
    }
  }
  for (size_t i = h.count; i-- > 0;) {
    sink(&h, i);
  }
  while (h.count) {
    *order++ = heap[0];
    advance(&h);
  }
  native_free(heap);
  return 0;
}

/* --- what to fetch when: writing backwards --- */

/* Blocks that wait for a disk, in the order in which they came: a list per disk
   through next[]. */
struct waiting {
  uint32_t *next;         /* per block */
  uint32_t *first, *last; /* per disk; NONE */
  int disks;
};

#define NONE UINT32_MAX

static void wait_for(struct waiting *w, int disk, uint32_t i) {
  w->next[i] = NONE;
  if (w->first[disk] == NONE) {
    w->first[disk] = i;
  } else {
    w->next[w->last[disk]] = i;
  }
  w->last[disk] = i;
}

/* One step: each disk takes its first. Returns how many there were, put at
   out[-1], out[-2], ... */
static size_t step_back(struct waiting *w, uint32_t *out) {
  size_t n = 0;
  for (int d = w->disks; d-- > 0;) {
    const uint32_t i = w->first[d];
    if (i == NONE) {
      continue;
    }
    w->first[d] = w->next[i];
    out[-(ptrdiff_t)++n] = i;
  }
  return n;
}

int fetch_order_fetches(const int *disk, size_t n, int disks, size_t buffers,
                        uint32_t *fetch) {
  uint32_t *const memory =
      native_alloc((n + 2 * (size_t)disks) * sizeof(*memory));
  if (!memory) {
    return ENOMEM;
  }
  struct waiting w = {memory, memory + n, memory + n + disks, disks};
  for (int d = 0; d < disks; d++) {
    w.first[d] = NONE;
  }
  uint32_t *out = fetch + n;
  size_t held = 0;
  for (size_t i = n; i-- > 0;) {
    while (held >= buffers) {
      const size_t gone = step_back(&w, out);
      held -= gone;
      out -= gone;
    }
    wait_for(&w, disk[i], (uint32_t)i);
    held++;
  }
  while (held) {
    const size_t gone = step_back(&w, out);
    held -= gone;
    out -= gone;
  }
  native_free(memory);
  return 0;
}

size_t fetch_order_steps(const int *disk, size_t n, int disks, size_t buffers,
                         const uint32_t *fetch) {
  char *const here = native_zalloc(n + 1, 1);
  char *const busy = native_alloc((size_t)disks);
  size_t steps = 0, held = 0, consumed = 0, fetched = 0;
  while (here && busy && consumed < n) {
    const size_t before = fetched;
    memset(busy, 0, (size_t)disks);
    while (fetched < n && held < buffers && !busy[disk[fetch[fetched]]]) {
      busy[disk[fetch[fetched]]] = 1;
      here[fetch[fetched++]] = 1;
      held++;
    }
    for (; consumed < n && here[consumed]; consumed++) {
      held--;
    }
    steps++;
    if (fetched == before) {
      steps = 0;
      break;
    }
  }
  native_free(here);
  native_free(busy);
  return steps;
}
