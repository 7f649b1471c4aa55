/* Blocks that are larger than what a context can have in memory beside what it
   has: programs allocate more than they touch. Such a block lies beside its
   context, in a mapped scratch file that has room for all of it; what of it is
   in memory counts with the context, and leaves with it
   (residency/segment.h). Between two calls of MPI a rank may touch more than
   was counted: that, the system can write and take back.

   Where the user has chosen the size of contexts (--pems-context) there are
   none. All are for threads of c's VP while c is held; thread-safe. */
#ifndef PEMS_CONTEXT_CALLS_OVERSIZE_H
#define PEMS_CONTEXT_CALLS_OVERSIZE_H

#include "context/context.h"

#include <stdbool.h>
#include <stddef.h>

/* Smaller ones are part of the context, or refused. */
enum { OVERSIZE_LEAST = 8 << 20 };

/* From now on there may be blocks, in `dir`, which stays. */
void oversize_start(const char *dir);
/* n bytes of zeros, aligned to `align`, a power of two. NULL: such a block is
   too small, the disk has no room, or there are too many. Must not be called
   with a lock held. */
void *oversize_alloc(struct context *c, size_t n, size_t align);
/* Is all of [p, p + n) in a block of c? Is p? */
bool oversize_has(struct context *c, const void *p, size_t n);
static inline bool oversize_owns(struct context *c, const void *p) {
  return c->oversize.n && oversize_has(c, p, 0);
}
/* Bytes of the block that begins at p, or 0: none does. */
size_t oversize_size(struct context *c, const void *p);
/* False: no block begins at p. */
bool oversize_free(struct context *c, void *p);
/* Copies n bytes of a block of c, or of its heap, to where zeros are; what was
   never touched is not touched. */
void oversize_copy(struct context *c, char *to, char *from, size_t n);
/* Of [p, p + n), whole pages of one block: they become zeros, which take no
   memory; or are given back, and when all of a block's are, that is freed. 0
   or an errno value. */
int oversize_clear(struct context *c, void *p, size_t n);
int oversize_unmap(struct context *c, void *p, size_t n);
/* Frees what c has, whose VP ends. */
void oversize_end(struct context *c);

/* c's VP begins a call of MPI: counts what of its blocks it has touched, and
   waits for room for that as malloc does. `threads`: the program has others,
   which may have touched some. */
void oversize_settle(struct context *c, bool threads);
/* In the child of a fork: what c has becomes the child's own. */
void oversize_in_child(struct context *c);

#endif
