/* Boundary blocks: the parts of blocks that messages to a context on disk do
   not fill (PEMS2, section 6.2). */
#ifndef PEMS_CONTEXT_BOUNDARY_H
#define PEMS_CONTEXT_BOUNDARY_H

#include "os/pages.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BOUNDARY_WORDS = PAGE / 64 };

struct boundary_block {
  struct boundary_block *next;
  uintptr_t address;              /* of the block's first byte */
  int unknown;                    /* bytes not yet known */
  uint64_t known[BOUNDARY_WORDS]; /* a bit per byte */
  char data[PAGE];
};

/* Those of one context. A zeroed struct is empty. The caller locks. */
struct boundary {
  struct boundary_block **bucket;
  size_t buckets;  /* power of two, or 0 */
  atomic_size_t n; /* blocks held; others may look, as a hint */
};

/* Keeps bytes [p, p + n), which lie in one block (BLOCK = PAGE bytes).
   Returns 1 if the block is now complete, 0 if not, -1 if memory is short. */
int boundary_put(struct boundary *b, uintptr_t p, const void *in, size_t n);
/* Copies what is known of [p, p + n) over `out`. */
void boundary_overlay(const struct boundary *b, uintptr_t p, void *out,
                      size_t n);
/* Is anything known of [p, p + n)? Perhaps only of the rest of its blocks. */
bool boundary_any(const struct boundary *b, uintptr_t p, size_t n);
/* Drops what is known of [p, p + n), whole blocks: they were overwritten. */
void boundary_drop(struct boundary *b, uintptr_t p, size_t n);
/* Takes all blocks out, as a list in order of address; each is to be given to
   boundary_release and counts as memory until then. */
struct boundary_block *boundary_take(struct boundary *b);
void boundary_release(struct boundary_block *k);
/* Calls f for each block, in order of address, and forgets them. `block`
   holds the bytes, `known` a bit for each byte that is known; `complete` is
   true when all are. */
typedef void boundary_visit(void *arg, uintptr_t p, const char *block,
                            const uint64_t *known, int complete);
void boundary_flush(struct boundary *b, boundary_visit *f, void *arg);
void boundary_free(struct boundary *b);

/* Copies the known bytes of a block over `out`. */
void boundary_apply(const char *block, const uint64_t *known, char *out);
/* Bytes of memory that all boundary blocks of the process take. */
size_t boundary_memory(void);

#endif
