#define _GNU_SOURCE
#include "context/heap/heap.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "context/heap/heap_pages.h"
#include "context/heap/heap_slab.h"
#include "context/heap/heap_space.h"
#include "context/heap/heap_state.h"
#include "os/bits.h"

enum {
  GRAIN = 16,
  /* Native pool for the tree: a sixth of the range bounds the number of pieces
     to one per 512 bytes, which blocks too large for slabs cannot reach. */
  POOL_SHARE = 6,
  POOL_LEAST = 64 << 10
};

/* More than any range: sums of such numbers do not overflow. */
#define ABSURD ((size_t)1 << 46)

struct heap {
  struct heap_space space;
  struct heap_slabs slabs;
  size_t live;   /* bytes, see heap_live */
  size_t page;   /* page size of the machine */
  size_t native; /* bytes of this struct's mapping */
};

/* Lies in front of a block that is not in a slab. */
struct chunk {
  size_t size;    /* bytes, header included */
  uint64_t check; /* seal(...), 0 once freed */
};

_Static_assert(sizeof(struct chunk) == GRAIN, "keeps blocks aligned");

/* A number that the word in front of a wild pointer does not hold by chance,
   and a copy of a header elsewhere neither. The same in a process that takes
   the heap over. */
static uint64_t seal(const struct heap *h, const struct chunk *c, size_t size) {
  const uintptr_t base = (uintptr_t)h->space.base;
  uint64_t x = (uintptr_t)c ^ base << 20 ^ size << 44 ^ size >> 20;
  x *= 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
  return x | 1;
}

struct heap *heap_create(void *base, size_t limit) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t head = bits_align_up(sizeof(struct heap), page);
  const size_t map = bits_align_up(limit / HEAP_SLAB_PAGE + 1, page);
  const size_t share = bits_align_up(limit / POOL_SHARE, page);
  const size_t pool = share > POOL_LEAST ? share : POOL_LEAST;
  if (limit >= ABSURD) {
    return NULL;
  }
  char *const native = mmap(NULL, head + map + pool, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (native == MAP_FAILED) {
    return NULL;
  }
  /* a huge page for each of a thousand heaps would be gigabytes */
  madvise(native, head + map + pool, MADV_NOHUGEPAGE);
  struct heap *const h = (struct heap *)native;
  h->native = head + map + pool;
  h->page = page;
  h->live = 0;
  heap_space_init(&h->space, base, limit, native + head + map, pool);
  heap_slab_init(&h->slabs, &h->space, (uint8_t *)native + head);
  return h;
}

void heap_destroy(struct heap *h) {
  if (h != NULL) {
    munmap(h, h->native);
  }
}

static struct chunk *chunk_of(const void *p) {
  return (struct chunk *)((char *)(uintptr_t)p - sizeof(struct chunk));
}

/* Makes the piece at `at` a live chunk and returns its block. */
static void *chunk_make(struct heap *h, char *at, size_t size) {
  struct chunk *const c = (struct chunk *)at;
  c->size = size;
  c->check = seal(h, c, size);
  h->live += size - sizeof(*c);
  return c + 1;
}

/* The reverse; the piece is still taken. Returns its size. */
static size_t chunk_unmake(struct heap *h, struct chunk *c) {
  c->check = 0;
  h->live -= c->size - sizeof(*c);
  return c->size;
}

/* The live chunk whose block begins at p, which is in no slab, or NULL. */
static struct chunk *chunk_find(const struct heap *h, const void *p) {
  struct chunk *const c = chunk_of(p);
  if ((char *)c < h->space.base || heap_pages_has(&h->slabs, c) ||
      c->check != seal(h, c, c->size)) {
    return NULL;
  }
  return c;
}

/* The call fails for want of room that can be had by heap_limit. */
static bool lacking(const struct heap *h) {
  return h->space.lacks != NULL;
}

static void *chunk_alloc(struct heap *h, size_t n, size_t align) {
  const size_t size = bits_align_up(n, GRAIN) + sizeof(struct chunk);
  char *at = heap_space_take(&h->space, size, align, sizeof(struct chunk));
  if (at == NULL && !lacking(h) && heap_slab_trim(&h->slabs)) {
    at = heap_space_take(&h->space, size, align, sizeof(struct chunk));
  }
  return at != NULL ? chunk_make(h, at, size) : NULL;
}

static void *small_alloc(struct heap *h, size_t n) {
  void *const p = heap_slab_alloc(&h->slabs, n);
  if (p != NULL) {
    h->live += bits_align_up(n, GRAIN);
  }
  return p;
}

/* p lies where blocks lie, so that it is safe to look at what is there. */
static bool plausible(const struct heap *h, const void *p) {
  const char *const at = p;
  return at >= h->space.base + GRAIN && at < h->space.top &&
         (uintptr_t)at % GRAIN == 0;
}

static void *alloc(struct heap *h, size_t n, size_t align) {
  if (n >= ABSURD || align >= ABSURD) {
    return NULL;
  }
  align = align < GRAIN ? GRAIN : align;
  n = n == 0 ? 1 : n;
  const size_t small = bits_align_up(n, align);
  if (small <= HEAP_SLAB_MAX) {
    void *const p = small_alloc(h, small);
    if (p != NULL || lacking(h)) {
      return p;
    }
    /* between the pieces there may still be room for a small chunk */
  }
  return chunk_alloc(h, n, align);
}

void *heap_alloc(struct heap *h, size_t n, size_t align) {
  h->space.lacks = NULL;
  return alloc(h, n, align);
}

void *heap_zalloc(struct heap *h, size_t n) {
  char *const high = h->space.high;
  char *const p = heap_alloc(h, n, GRAIN);
  if (p == NULL) {
    return NULL;
  }
  if (n <= HEAP_SLAB_MAX) {
    memset(p, 0, n);
  } else if (p < high) {
    memset(p, 0, n < (size_t)(high - p) ? n : (size_t)(high - p));
  }
  return p;
}

int heap_free(struct heap *h, void *p) {
  if (!plausible(h, p)) {
    return -1;
  }
  struct heap_slab *const slab = heap_slab_of(&h->slabs, p);
  if (slab != NULL) {
    const size_t size = heap_slab_slot(&h->slabs, slab, p);
    if (size == 0) {
      return -1;
    }
    h->live -= size;
    heap_slab_free(&h->slabs, slab, p);
    return 0;
  }
  struct chunk *const c = chunk_find(h, p);
  if (c == NULL || heap_space_give(&h->space, (char *)c, c->size) < 0) {
    return -1;
  }
  chunk_unmake(h, c);
  return 0;
}

size_t heap_usable_size(const struct heap *h, const void *p) {
  if (!plausible(h, p)) {
    return 0;
  }
  const struct heap_slab *const slab = heap_slab_of(&h->slabs, p);
  if (slab != NULL) {
    return heap_slab_slot(&h->slabs, slab, p);
  }
  const struct chunk *const c = chunk_find(h, p);
  return c != NULL ? c->size - sizeof(*c) : 0;
}

/* Bytes of the mapped pages at `at`, 0 if there are none. */
static size_t mapped_at(const struct heap *h, const char *at) {
  bool mapped = false;
  const size_t past = (size_t)(at - h->space.base) % HEAP_SLAB_PAGE;
  const size_t n =
      past ? 0 : heap_pages_piece(&h->slabs, at, h->space.top, &mapped);
  return mapped ? n : 0;
}

/* In the pieces from `at` on, none of which is free. */
static int block_from(const struct heap *h, const char *at, const char *p,
                      char **start, size_t *size) {
  while (at <= p) {
    size_t live = 0;
    const size_t pages = mapped_at(h, at);
    if (pages > 0) {
      *start = (char *)(uintptr_t)at;
      *size = pages;
      at += pages;
      if (p < at) {
        return 1;
      }
      continue;
    }
    const struct heap_slab *const slab = heap_slab_of(&h->slabs, at);
    const struct chunk *const c =
        slab != NULL ? NULL : chunk_find(h, at + sizeof(*c));
    if (slab == NULL && c == NULL) {
      return -1;
    }
    const size_t n =
        slab != NULL ? heap_slab_check(&h->slabs, at, &live) : c->size;
    if (n == 0) {
      return -1;
    }
    if (slab == NULL && p < at + n) {
      *start = (char *)(uintptr_t)at + sizeof(*c);
      *size = n - sizeof(*c);
      return p >= *start;
    }
    at += n;
  }
  return -1;
}

int heap_block(const struct heap *h, const void *where, char **start,
               size_t *size) {
  const struct heap_space *const s = &h->space;
  const char *const p = where;
  if (p < s->base || p >= s->top) {
    return 0;
  }
  const struct heap_slab *const slab = heap_slab_of(&h->slabs, p);
  if (slab != NULL) {
    *start = heap_slab_block(&h->slabs, slab, p);
    *size = *start != NULL ? heap_slab_slot(&h->slabs, slab, *start) : 0;
    return *size > 0;
  }
  struct heap_cursor cur;
  const char *at = s->base;
  if (heap_tree_find(&s->free, p, &cur)) {
    const struct heap_range r = heap_tree_get(&s->free, &cur);
    if (p < r.at + r.size) {
      return 0;
    }
    at = r.at + r.size;
  }
  return block_from(h, at, p, start, size);
}

/* To another class or a chunk, unless it fits where it is and would not waste
   half of that. */
static void *small_realloc(struct heap *h, void *p, size_t size, size_t n) {
  const bool fits = n <= size;
  if (fits && (n > size / 2 || size == GRAIN)) {
    return p;
  }
  void *const q = alloc(h, n, GRAIN);
  if (q == NULL) {
    return fits ? p : NULL;
  }
  memcpy(q, p, fits ? n : size);
  heap_free(h, p);
  return q;
}

/* Frees the chunk before a place is looked for, so that it may move down into
   a range that it shares with its old one. */
static void *chunk_move(struct heap *h, struct chunk *c, size_t size) {
  struct heap_space *const s = &h->space;
  const size_t old = chunk_unmake(h, c);
  heap_space_give(s, (char *)c, old);
  char *at = heap_space_take(s, size, GRAIN, 0);
  if (at == NULL && !lacking(h) && heap_slab_trim(&h->slabs)) {
    at = heap_space_take(s, size, GRAIN, 0);
  }
  if (at == NULL) {
    heap_space_take_at(s, (char *)c, old);
    chunk_make(h, (char *)c, old);
    return NULL;
  }
  memmove(at + sizeof(*c), c + 1, old - sizeof(*c));
  return chunk_make(h, at, size);
}

static void *chunk_realloc(struct heap *h, struct chunk *c, size_t n) {
  struct heap_space *const s = &h->space;
  const size_t size = bits_align_up(n, GRAIN) + sizeof(*c);
  const size_t old = c->size;
  char *const at = (char *)c;
  if (size < old) {
    if (heap_space_give_end(s, at + size, old - size) < 0) {
      return NULL;
    }
  } else if (size > old && heap_space_extend(s, at, old, size - old) < 0) {
    return lacking(h) ? NULL : chunk_move(h, c, size);
  }
  chunk_unmake(h, c);
  return chunk_make(h, at, size);
}

void *heap_realloc(struct heap *h, void *p, size_t n) {
  h->space.lacks = NULL;
  if (n >= ABSURD || !plausible(h, p)) {
    return NULL;
  }
  struct heap_slab *const slab = heap_slab_of(&h->slabs, p);
  if (slab != NULL) {
    const size_t size = heap_slab_slot(&h->slabs, slab, p);
    return size > 0 ? small_realloc(h, p, size, n) : NULL;
  }
  struct chunk *const c = chunk_find(h, p);
  return c != NULL ? chunk_realloc(h, c, n) : NULL;
}

void heap_limit(struct heap *h, size_t now, size_t most) {
  heap_space_limit(&h->space, now, most);
}

size_t heap_lacks(const struct heap *h) {
  return lacking(h) ? (size_t)(h->space.lacks - h->space.base) : 0;
}

char *heap_top(const struct heap *h) {
  return h->space.top;
}

char *heap_used_to(const struct heap *h) {
  return h->space.high;
}

size_t heap_live(const struct heap *h) {
  return h->live;
}

size_t heap_extents(struct heap *h, size_t merge, struct heap_extent *out,
                    size_t max) {
  heap_slab_trim(&h->slabs);
  return heap_space_extents(&h->space, h->page, merge, out, max);
}

/* Zero after a swap is what lies above the page of the top. */
void heap_swapped(struct heap *h, int zeroed) {
  struct heap_space *const s = &h->space;
  const size_t used = bits_align_up((size_t)(s->top - s->base), h->page);
  const size_t all = (size_t)(s->limit - s->base);
  if (!zeroed) {
    s->high = s->limit;
  } else if (used < all && s->base + used < s->high) {
    s->high = s->base + used;
  }
}

/* What of [at, at + n), just mapped, may have contents from before. */
static void note_mapped(struct heap *h, const char *at, size_t n,
                        const char *high, size_t *old) {
  h->live += n;
  *old = at >= high ? 0 : n < (size_t)(high - at) ? n : (size_t)(high - at);
  *old = bits_align_up(*old, h->page);
}

void *heap_map(struct heap *h, size_t n, size_t align, size_t *old) {
  const char *const high = h->space.high;
  h->space.lacks = NULL;
  if (n >= ABSURD || align >= ABSURD) {
    return NULL;
  }
  char *at = heap_pages_take(&h->slabs, n, align);
  if (at == NULL && !lacking(h) && heap_slab_trim(&h->slabs)) {
    at = heap_pages_take(&h->slabs, n, align);
  }
  if (at != NULL) {
    note_mapped(h, at, n, high, old);
  }
  return at;
}

bool heap_map_at(struct heap *h, void *at, size_t n, size_t *old) {
  const char *const high = h->space.high;
  h->space.lacks = NULL;
  heap_slab_trim(&h->slabs);
  const bool had = heap_pages_take_at(&h->slabs, at, n);
  if (had) {
    note_mapped(h, at, n, high, old);
  }
  return had;
}

/* The end of the last page that is in use. */
static char *used_end(const struct heap *h) {
  char *const base = h->space.base;
  return base + bits_align_up((size_t)(h->space.top - base), HEAP_SLAB_PAGE);
}

void heap_unmap(struct heap *h, void *at, size_t n) {
  char *const p = at, *const used = used_end(h);
  if (p < used) {
    const size_t most = (size_t)(used - p);
    h->live -= heap_pages_give(&h->slabs, p, n < most ? n : most);
  }
}

size_t heap_mapped(const struct heap *h, const void *at, const void *end,
                   bool *mapped) {
  const char *const p = at, *const used = used_end(h);
  if (p >= used) {
    *mapped = false;
    return (size_t)((const char *)end - p);
  }
  return heap_pages_piece(&h->slabs, p, used < (const char *)end ? used : end,
                          mapped);
}

size_t heap_save_size(struct heap *h) {
  heap_slab_trim(&h->slabs);
  return heap_state_size(&h->space);
}

void heap_save(const struct heap *h, void *to) {
  heap_state_save(&h->space, &h->slabs, h->live, to);
}

size_t heap_saved_top(const void *from, size_t n) {
  return heap_state_top(from, n);
}

int heap_load(struct heap *h, const void *from, size_t n) {
  return heap_state_load(&h->space, &h->slabs, &h->live, from, n);
}

/* Bytes of the piece at `at`, 0 if there is no consistent one. */
static size_t check_piece(const struct heap *h, const char *at, size_t *live,
                          size_t *pieces) {
  const size_t pages = mapped_at(h, at);
  if (pages > 0) {
    *live += pages;
    *pieces += pages / HEAP_SLAB_PAGE;
    return pages;
  }
  ++*pieces;
  const struct heap_slab *const slab = heap_slab_of(&h->slabs, at);
  if (slab != NULL) {
    return (const char *)slab == at ? heap_slab_check(&h->slabs, at, live) : 0;
  }
  const struct chunk *const c = chunk_find(h, at + sizeof(*c));
  if (c == NULL || c->size <= sizeof(*c) || c->size % GRAIN != 0) {
    return 0;
  }
  *live += c->size - sizeof(*c);
  return c->size;
}

int heap_check(const struct heap *h) {
  const struct heap_space *const s = &h->space;
  const char *at = s->base;
  struct heap_cursor cur;
  size_t live = 0, pieces = 0;
  bool more = heap_tree_first(&s->free, 0, &cur);
  while (at < s->top) {
    const struct heap_range r =
        more ? heap_tree_get(&s->free, &cur) : (struct heap_range){s->top, 0};
    if (at == r.at) {
      at += r.size;
      more = heap_tree_next(&s->free, 0, &cur);
      if (at >= s->top) { /* must not touch the top */
        return -1;
      }
      continue;
    }
    const size_t size = check_piece(h, at, &live, &pieces);
    if (size == 0 || size > (size_t)(r.at - at)) {
      return -1;
    }
    at += size;
  }
  if (at != s->top || more || live != h->live || pieces != s->pieces ||
      s->top > s->end || s->high < s->top) {
    return -1;
  }
  return heap_tree_check(&s->free);
}
