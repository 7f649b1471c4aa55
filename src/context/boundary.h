/* Boundary blocks: the parts of blocks that messages to a context on disk do
   not fill (PEMS2, section 6.2). */
#ifndef PEMS_CONTEXT_BOUNDARY_H
#define PEMS_CONTEXT_BOUNDARY_H

#include <stddef.h>
#include <stdint.h>

struct boundary_block;

/* Those of one context. A zeroed struct is empty. The caller locks. */
struct boundary {
  struct boundary_block **bucket;
  size_t buckets; /* power of two, or 0 */
  size_t n;       /* blocks held */
};

/* Keeps bytes [p, p + n), which lie in one block (BLOCK = DISK_BLOCK bytes).
   Returns 1 if the block is now complete, 0 if not, -1 if memory is short. */
int boundary_put(struct boundary *b, uintptr_t p, const void *in, size_t n);
/* Copies what is known of [p, p + n) over `out`. */
void boundary_overlay(const struct boundary *b, uintptr_t p, void *out,
                      size_t n);
/* Drops what is known of [p, p + n), whole blocks: they were overwritten. */
void boundary_drop(struct boundary *b, uintptr_t p, size_t n);
/* Calls f for each block with its address, then forgets all of them. `block`
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
