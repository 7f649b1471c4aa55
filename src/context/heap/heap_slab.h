/* Small objects: runs of pages cut into slots of one size, with a header that
   says which slots are free. A map in native memory tells which pages belong
   to slabs. The lowest free slot of the lowest slab goes first, so that high
   slabs drain and can be given back. Not thread-safe. */
#ifndef PEMS_CONTEXT_HEAP_HEAP_SLAB_H
#define PEMS_CONTEXT_HEAP_HEAP_SLAB_H

#include "context/heap/heap_space.h"

#include <stdbool.h>

enum {
  HEAP_SLAB_MAX = 512, /* bytes of the largest slot */
  HEAP_SLAB_PAGE = 4096,
  HEAP_SLAB_CLASSES = HEAP_SLAB_MAX / 16
};

struct heap_slab;

struct heap_slab_class {
  struct heap_slab *open;  /* root of the heap of slabs with a free slot */
  struct heap_slab *spare; /* the one empty slab that is kept, or NULL */
  uint32_t size;           /* bytes of a slot */
  uint32_t first;          /* offset of the first slot in a slab */
  uint32_t slots;          /* of one slab, at most 256 */
  uint32_t pages;          /* of one slab */
  uint32_t inverse;        /* 2^32 / size, rounded up */
};

struct heap_slabs {
  struct heap_space *space; /* where slabs come from */
  uint8_t *map; /* per page of the space: 0 for no slab, else 1 + its number
                   within its slab */
  struct heap_slab_class classes[HEAP_SLAB_CLASSES];
};

/* `map`: zeroed native memory, one byte per HEAP_SLAB_PAGE of the space. */
void heap_slab_init(struct heap_slabs *s, struct heap_space *space,
                    uint8_t *map);

/* A slot for n bytes, 0 < n <= HEAP_SLAB_MAX, or NULL if no slab can be had.
   Slots for n bytes are multiples of the largest power of two in
   n rounded up to 16. */
void *heap_slab_alloc(struct heap_slabs *s, size_t n);
/* The slab around p, which is in the space; NULL if p is in none. */
struct heap_slab *heap_slab_of(const struct heap_slabs *s, const void *p);
/* Bytes of the slot that begins at p, or 0 if it is no live slot of `slab`. */
size_t heap_slab_slot(const struct heap_slabs *s, const struct heap_slab *slab,
                      const void *p);
/* The beginning of the slot around p, which is in `slab`; NULL if p is in its
   header or behind the last slot. */
char *heap_slab_block(const struct heap_slabs *s, const struct heap_slab *slab,
                      const void *p);
/* Frees a live slot. */
void heap_slab_free(struct heap_slabs *s, struct heap_slab *slab, void *p);
/* Gives the empty slabs that are kept back to the space; 1 if there were any.
 */
bool heap_slab_trim(struct heap_slabs *s);

/* Bytes of the slab that begins at page `at`, and adds its live bytes to
 *live; 0 if it is inconsistent; for tests. */
size_t heap_slab_check(const struct heap_slabs *s, const char *at,
                       size_t *live);

#endif
