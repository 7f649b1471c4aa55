/* The range of addresses, and with it the file, is divided in pieces of 64 KiB.
   A block of up to 8 KiB lies in a piece with others of its size, a larger one
   has pieces of its own. Who looks for pieces takes the first that are free, so
   that what is memory, the beginning, is used before the file. */
#define _GNU_SOURCE
#include "disk/paged.h"

#include "config/memory_used.h"
#include "disk/spill.h"
#include "os/bits.h"
#include "os/lock.h"

#include <string.h>
#include <sys/mman.h>

enum {
  PIECE = 64 << 10,
  GRAIN = 16,
  FINE = 1 << 10,  /* up to it sizes are multiples of GRAIN */
  COARSE = 512,    /* then of this, */
  SMALL = 8 << 10, /* up to it */
  CLASSES = FINE / GRAIN + (SMALL - FINE) / COARSE,
  PUSHED = 8 << 20, /* so many new bytes are written at a time */
};
#define RANGE ((size_t)1 << 38)

/* Of small blocks; index 0 is none, so that zeros are an empty list. */
struct piece {
  uint32_t pieces;         /* of the block that begins here; 0: small ones */
  uint32_t size;           /* of each small block; 0: no piece of them */
  uint16_t used;           /* small blocks that are taken */
  uint16_t fresh;          /* so many were taken at any time */
  uint32_t free;           /* the first free one of them, + 1 */
  uint32_t next, previous; /* with free blocks of this size: index + 1 */
};

static struct {
  struct lock lock;
  struct spill *spill;
  char *base;
  struct piece *piece;
  uint64_t bound;
  bool mapped;               /* the file is, behind the bound */
  uint64_t pushed;           /* bytes of it that were on their way to disk */
  uint32_t partial[CLASSES]; /* first piece with a free block, + 1 */
} paged = {.lock = LOCK_INITIALIZER(LOCK_PAGED)};

static void *reserve(size_t n, int protection) {
  void *p = mmap(NULL, n, protection,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

void paged_start(const char *dir, uint64_t bound) {
  const size_t table = RANGE / PIECE * sizeof(struct piece);
  bound = bits_round_up(bound, PIECE);
  char *const base = bound < RANGE ? reserve(RANGE, PROT_NONE) : NULL;
  paged.piece = base ? reserve(table, PROT_READ | PROT_WRITE) : NULL;
  if (!paged.piece || mprotect(base, bound, PROT_READ | PROT_WRITE) != 0) {
    return;
  }
  /* Few of the table's pages are used, and little of the memory. */
  (void)madvise(paged.piece, table, MADV_NOHUGEPAGE);
  (void)madvise(base, bound, MADV_NOHUGEPAGE);
  paged.spill = spill_open_spared(dir, bound);
  paged.bound = paged.pushed = bound;
  paged.mapped = false;
  memset(paged.partial, 0, sizeof(paged.partial));
  paged.base = base;
}

void paged_end(void) {
  lock_take(&paged.lock);
  spill_close(paged.spill);
  paged.spill = NULL;
  lock_give(&paged.lock);
}

bool paged_owns(const void *p) {
  return paged.base && (uintptr_t)p - (uintptr_t)paged.base < RANGE;
}

/* --- pieces --- */

/* Bytes of [at, at + n) that are memory. */
static uint64_t in_memory(uint64_t at, uint64_t n) {
  return at < paged.bound ? bits_min(n, paged.bound - at) : 0;
}

/* What is new in the file is written from time to time: the system would find
   pages that are all dirty when memory is short. */
static void push_locked(uint64_t end) {
  if (end >= paged.pushed + PUSHED) {
    spill_push(paged.spill, paged.pushed, end - paged.pushed);
    paged.pushed = end;
  }
}

static bool map_locked(void) {
  if (!paged.mapped) {
    paged.mapped = !spill_map(paged.spill, paged.base + paged.bound,
                              paged.bound, RANGE - paged.bound);
  }
  return paged.mapped;
}

/* n bytes, whole pieces: their index, or -1. */
static int64_t take_pieces_locked(size_t n) {
  uint64_t at;
  if (!paged.spill || n > RANGE || spill_size(paged.spill) > RANGE - n ||
      !spill_take(paged.spill, n, &at)) {
    return -1;
  }
  if (at + n > paged.bound) {
    if (!map_locked()) {
      spill_give(paged.spill, at, n);
      return -1;
    }
    push_locked(at + n);
  }
  memory_used_add(MEMORY_RECORDS, in_memory(at, n));
  return (int64_t)(at / PIECE);
}

static void give_pieces_locked(size_t i, size_t n) {
  const uint64_t at = (uint64_t)i * PIECE;
  if (!paged.spill) {
    return; /* the job has ended */
  }
  memory_used_sub(MEMORY_RECORDS, in_memory(at, n));
  spill_give(paged.spill, at, n);
  if (spill_size(paged.spill) == 0) {
    paged.pushed = paged.bound;
  }
}

static char *address_of(size_t i) {
  return paged.base + i * PIECE;
}

static size_t index_of(const void *p) {
  return ((uintptr_t)p - (uintptr_t)paged.base) / PIECE;
}

/* --- small blocks --- */

static int class_of(size_t n) {
  return (int)(n <= FINE ? (n + GRAIN - 1) / GRAIN - (n > 0)
                         : FINE / GRAIN + (n - FINE - 1) / COARSE);
}

static size_t class_size(int class) {
  return class < FINE / GRAIN
             ? (size_t)(class + 1) * GRAIN
             : FINE + (size_t)(class - FINE / GRAIN + 1) * COARSE;
}

static void link_locked(size_t i) {
  struct piece *const k = &paged.piece[i];
  uint32_t *const first = &paged.partial[class_of(k->size)];
  k->previous = 0;
  k->next = *first;
  if (k->next) {
    paged.piece[k->next - 1].previous = (uint32_t)i + 1;
  }
  *first = (uint32_t)i + 1;
}

static void unlink_locked(size_t i) {
  struct piece *const k = &paged.piece[i];
  if (k->next) {
    paged.piece[k->next - 1].previous = k->previous;
  }
  *(k->previous ? &paged.piece[k->previous - 1].next
                : &paged.partial[class_of(k->size)]) = k->next;
}

static uint32_t blocks_in(const struct piece *k) {
  return PIECE / k->size;
}

static bool add_piece_locked(int class) {
  const int64_t i = take_pieces_locked(PIECE);
  if (i >= 0) {
    paged.piece[i] = (struct piece){.size = (uint32_t)class_size(class)};
    link_locked((size_t)i);
  }
  return i >= 0;
}

static void *small_alloc_locked(size_t n) {
  const int class = class_of(n);
  if (!paged.partial[class] && !add_piece_locked(class)) {
    return NULL;
  }
  const size_t i = paged.partial[class] - 1;
  struct piece *const k = &paged.piece[i];
  char *const start = address_of(i);
  char *p;
  if (k->free) {
    p = start + (size_t)(k->free - 1) * k->size;
    memcpy(&k->free, p, sizeof(k->free));
  } else {
    p = start + (size_t)k->fresh++ * k->size;
  }
  if (++k->used == blocks_in(k)) {
    unlink_locked(i);
  }
  return p;
}

static void small_free_locked(size_t i, char *p) {
  struct piece *const k = &paged.piece[i];
  if (k->used == blocks_in(k)) {
    link_locked(i);
  }
  memcpy(p, &k->free, sizeof(k->free));
  k->free = (uint32_t)((size_t)(p - address_of(i)) / k->size) + 1;
  if (--k->used == 0) {
    unlink_locked(i);
    k->size = 0;
    give_pieces_locked(i, PIECE);
  }
}

/* --- blocks --- */

static void *large_alloc_locked(size_t n) {
  const size_t whole = bits_round_up(n, PIECE);
  const int64_t i = n < RANGE ? take_pieces_locked(whole) : -1;
  if (i < 0) {
    return NULL;
  }
  paged.piece[i] = (struct piece){.pieces = (uint32_t)(whole / PIECE)};
  return address_of((size_t)i);
}

void *paged_alloc(size_t n) {
  if (!paged.base) {
    return NULL;
  }
  lock_take(&paged.lock);
  void *const p = n <= SMALL ? small_alloc_locked(n) : large_alloc_locked(n);
  lock_give(&paged.lock);
  return p;
}

void *paged_zalloc(size_t n) {
  void *const p = paged_alloc(n);
  return p ? memset(p, 0, n) : NULL;
}

void paged_free(void *p) {
  const size_t i = index_of(p);
  lock_take(&paged.lock);
  struct piece *const k = &paged.piece[i];
  if (k->pieces) {
    const size_t n = (size_t)k->pieces * PIECE;
    k->pieces = 0;
    give_pieces_locked(i, n);
  } else {
    small_free_locked(i, p);
  }
  lock_give(&paged.lock);
}

size_t paged_size(const void *p) {
  const struct piece *const k = &paged.piece[index_of(p)];
  return k->pieces ? (size_t)k->pieces * PIECE : k->size;
}
