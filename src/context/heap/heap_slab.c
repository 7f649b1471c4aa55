#include "context/heap/heap_slab.h"

#include "context/heap/heap_pages.h"

#include <stdbool.h>
#include <string.h>

enum { WORDS = 4 }; /* of 64 slots each */

/* Slabs with a free slot form a pairing heap per class, lowest address at the
   root: a slab that is freed into and filled again in turn comes and goes in
   constant time. */
struct heap_slab {
  struct heap_slab *child; /* first of those below in the pairing heap */
  struct heap_slab *next;  /* sibling */
  struct heap_slab *prev;  /* sibling before, or parent of a first child */
  uint16_t nfree;
  uint16_t class;
  uint32_t in_heap;     /* 1 while in the pairing heap */
  uint64_t free[WORDS]; /* bit set: slot free */
};

_Static_assert(sizeof(struct heap_slab) == 64, "slots start at 64");

typedef struct heap_slab slab_t;
typedef struct heap_slab_class class_t;

/* Slots lie at multiples of the largest power of two in their size. */
static void class_init(class_t *c, uint32_t size) {
  const uint32_t align = size & -size;
  memset(c, 0, sizeof(*c));
  c->size = size;
  c->first = align > sizeof(slab_t) ? align : (uint32_t)sizeof(slab_t);
  c->inverse = (uint32_t)((((uint64_t)1 << 32) + size - 1) / size);
  /* the smallest slab that wastes at most 1/32 */
  for (c->pages = 1;; c->pages *= 2) {
    const uint32_t bytes = c->pages * HEAP_SLAB_PAGE;
    c->slots = (bytes - c->first) / size;
    if (c->pages == 4 || (bytes - c->slots * size) * 32 <= bytes) {
      return;
    }
  }
}

void heap_slab_init(struct heap_slabs *s, struct heap_space *space,
                    uint8_t *map) {
  s->space = space;
  s->map = map;
  for (uint32_t i = 0; i < HEAP_SLAB_CLASSES; i++) {
    class_init(&s->classes[i], (i + 1) * 16);
  }
}

/* Two roots become one. */
static slab_t *meld(slab_t *a, slab_t *b) {
  if (a == NULL) {
    return b;
  }
  if (b == NULL) {
    return a;
  }
  slab_t *const low = a < b ? a : b;
  slab_t *const high = a < b ? b : a;
  high->prev = low;
  high->next = low->child;
  if (low->child != NULL) {
    low->child->prev = high;
  }
  low->child = high;
  return low;
}

/* The children of a removed root become one heap: pairs from the first to the
   last, then all of them from the last to the first. */
static slab_t *meld_children(slab_t *first) {
  slab_t *pairs = NULL;
  while (first != NULL) {
    slab_t *a = first;
    slab_t *b = a->next;
    first = b != NULL ? b->next : NULL;
    a->next = NULL;
    if (b != NULL) {
      b->next = NULL;
    }
    a = meld(a, b);
    a->next = pairs;
    pairs = a;
  }
  slab_t *root = NULL;
  while (pairs != NULL) {
    slab_t *const rest = pairs->next;
    pairs->next = NULL;
    root = meld(root, pairs);
    pairs = rest;
  }
  if (root != NULL) {
    root->prev = NULL;
  }
  return root;
}

static void enter(class_t *c, slab_t *slab) {
  slab->child = slab->next = slab->prev = NULL;
  slab->in_heap = 1;
  c->open = meld(c->open, slab);
}

static void leave(class_t *c, slab_t *slab) {
  slab_t *const below = meld_children(slab->child);
  slab->in_heap = 0;
  if (slab == c->open) {
    c->open = below;
    return;
  }
  if (slab->prev->child == slab) {
    slab->prev->child = slab->next;
  } else {
    slab->prev->next = slab->next;
  }
  if (slab->next != NULL) {
    slab->next->prev = slab->prev;
  }
  c->open = meld(c->open, below);
}

static uint8_t *map_of(const struct heap_slabs *s, const void *p) {
  return s->map + (size_t)((const char *)p - s->space->base) / HEAP_SLAB_PAGE;
}

static slab_t *slab_new(struct heap_slabs *s, class_t *c) {
  slab_t *slab = (slab_t *)heap_space_take(
      s->space, (size_t)c->pages * HEAP_SLAB_PAGE, HEAP_SLAB_PAGE, 0);
  if (slab == NULL) {
    return NULL;
  }
  memset(slab, 0, sizeof(*slab));
  slab->class = (uint16_t)(c - s->classes);
  slab->nfree = (uint16_t)c->slots;
  for (uint32_t i = 0; i < c->slots; i++) {
    slab->free[i / 64] |= (uint64_t)1 << i % 64;
  }
  uint8_t *const map = map_of(s, slab);
  for (uint32_t i = 0; i < c->pages; i++) {
    map[i] = (uint8_t)(i + 1);
  }
  enter(c, slab);
  return slab;
}

static void slab_drop(struct heap_slabs *s, class_t *c, slab_t *slab) {
  leave(c, slab);
  memset(map_of(s, slab), 0, c->pages);
  heap_space_give(s->space, (char *)slab, (size_t)c->pages * HEAP_SLAB_PAGE);
}

void *heap_slab_alloc(struct heap_slabs *s, size_t n) {
  class_t *const c = &s->classes[(n - 1) / 16];
  slab_t *slab = c->open;
  if (slab == NULL && (slab = slab_new(s, c)) == NULL) {
    return NULL;
  }
  if (slab == c->spare) {
    c->spare = NULL;
  }
  uint32_t w = 0;
  while (slab->free[w] == 0) {
    w++;
  }
  const uint32_t slot = w * 64 + (uint32_t)__builtin_ctzll(slab->free[w]);
  slab->free[w] &= slab->free[w] - 1;
  if (--slab->nfree == 0) {
    leave(c, slab);
  }
  return (char *)slab + c->first + slot * c->size;
}

slab_t *heap_slab_of(const struct heap_slabs *s, const void *p) {
  const uint8_t *const map = map_of(s, p);
  if (*map == 0 || heap_pages_has(s, p)) {
    return NULL;
  }
  const size_t page = (size_t)(map - s->map) - (*map - 1u);
  return (slab_t *)(s->space->base + page * HEAP_SLAB_PAGE);
}

/* Number of the slot that begins at p, or -1. */
static int slot_of(const class_t *c, const slab_t *slab, const void *p) {
  const uint32_t offset =
      (uint32_t)((const char *)p - (const char *)slab) - c->first;
  const uint32_t slot = (uint32_t)((uint64_t)offset * c->inverse >> 32);
  return slot < c->slots && slot * c->size == offset ? (int)slot : -1;
}

size_t heap_slab_slot(const struct heap_slabs *s, const slab_t *slab,
                      const void *p) {
  const class_t *const c = &s->classes[slab->class];
  const int slot = slot_of(c, slab, p);
  if (slot < 0 || slab->free[slot / 64] >> slot % 64 & 1) {
    return 0;
  }
  return c->size;
}

char *heap_slab_block(const struct heap_slabs *s, const slab_t *slab,
                      const void *p) {
  const class_t *const c = &s->classes[slab->class];
  const size_t offset = (size_t)((const char *)p - (const char *)slab);
  if (offset < c->first || (offset - c->first) / c->size >= c->slots) {
    return NULL;
  }
  return (char *)(uintptr_t)p - (offset - c->first) % c->size;
}

/* One empty slab per class is kept, the lowest that there was: a program that
   allocates and frees a single object must not make a slab each time. */
static void empty(struct heap_slabs *s, class_t *c, slab_t *slab) {
  slab_t *other = c->spare;
  if (other == NULL) {
    c->spare = slab;
    return;
  }
  if (slab < other) {
    c->spare = slab;
    slab = other;
  }
  slab_drop(s, c, slab);
}

void heap_slab_free(struct heap_slabs *s, slab_t *slab, void *p) {
  class_t *const c = &s->classes[slab->class];
  const uint32_t slot = (uint32_t)slot_of(c, slab, p);
  slab->free[slot / 64] |= (uint64_t)1 << slot % 64;
  if (slab->nfree++ == 0) {
    enter(c, slab);
  }
  if (slab->nfree == c->slots) {
    empty(s, c, slab);
  }
}

bool heap_slab_trim(struct heap_slabs *s) {
  bool trimmed = false;
  for (int i = 0; i < HEAP_SLAB_CLASSES; i++) {
    class_t *const c = &s->classes[i];
    if (c->spare == NULL) {
      continue;
    }
    slab_drop(s, c, c->spare);
    c->spare = NULL;
    trimmed = true;
  }
  return trimmed;
}

/* Whether the slab is tied into the pairing heap of its class. */
static bool linked(const class_t *c, const slab_t *slab) {
  const slab_t *const prev = slab->prev;
  if (slab->child != NULL &&
      (slab->child->prev != slab || slab->child <= slab)) {
    return false;
  }
  if (slab->next != NULL && slab->next->prev != slab) {
    return false;
  }
  if (slab == c->open) {
    return prev == NULL && slab->next == NULL;
  }
  return prev != NULL && (prev->child == slab || prev->next == slab);
}

size_t heap_slab_check(const struct heap_slabs *s, const char *at,
                       size_t *live) {
  const slab_t *const slab = (const slab_t *)at;
  const uint8_t *const map = map_of(s, at);
  if (slab->class >= HEAP_SLAB_CLASSES) {
    return 0;
  }
  const class_t *const c = &s->classes[slab->class];
  uint32_t nfree = 0;
  for (uint32_t i = 0; i < WORDS * 64; i++) {
    const uint32_t is_free = slab->free[i / 64] >> i % 64 & 1;
    if (is_free && i >= c->slots) {
      return 0;
    }
    nfree += is_free;
  }
  for (uint32_t i = 0; i < c->pages; i++) {
    if (map[i] != i + 1) {
      return 0;
    }
  }
  if (nfree != slab->nfree || slab->in_heap != (nfree > 0) ||
      (nfree == c->slots && slab != c->spare) ||
      (nfree > 0 && !linked(c, slab))) {
    return 0;
  }
  *live += (size_t)(c->slots - nfree) * c->size;
  return (size_t)c->pages * HEAP_SLAB_PAGE;
}
