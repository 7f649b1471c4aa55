/* The free ranges of a heap, ordered by address, in native memory: a B+ tree
   whose every entry knows the largest range below it, so that the first fit
   from the lowest address, the neighbours of a block and an address-ordered
   walk over the large ranges all take O(log n). Not thread-safe. Ranges must
   not overlap or touch; the caller merges them. */
#ifndef PEMS_CONTEXT_HEAP_HEAP_TREE_H
#define PEMS_CONTEXT_HEAP_HEAP_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of pool that hold at least one range, however ranges come and go. */
#define HEAP_TREE_RANGE_COST 86

struct heap_tree_node;

struct heap_tree {
  struct heap_tree_node *nodes; /* the pool, not owned */
  uint32_t limit;               /* nodes in the pool */
  uint32_t used;                /* nodes ever taken from it */
  uint32_t unused;              /* first node given back, or HEAP_TREE_NONE */
  uint32_t nunused;             /* number of nodes given back */
  uint32_t root;                /* always a node */
  unsigned depth;               /* levels; 1 when the root is a leaf */
};

struct heap_range {
  char *at;
  size_t size; /* bytes */
};

enum {
  HEAP_TREE_NONE = -1,
  HEAP_TREE_DEPTH = 16,
  HEAP_TREE_NODE_BYTES = 512 /* of the pool */
};

/* A place in the tree; any insert or erase invalidates it. */
struct heap_cursor {
  uint32_t node[HEAP_TREE_DEPTH]; /* from the root down */
  int slot[HEAP_TREE_DEPTH];
};

/* Makes an empty tree over `pool`, which is 64-byte aligned and stays the
   caller's; pages of it are touched as they are needed. */
void heap_tree_init(struct heap_tree *t, void *pool, size_t pool_bytes);

/* Moves to the last range that starts at or below `at`. 1, or 0 if there is
   none: the cursor then stands before the first range, fit for
   heap_tree_next and heap_tree_insert. */
bool heap_tree_find(const struct heap_tree *t, const char *at,
                    struct heap_cursor *cur);
/* Move to the first, or next, range of at least `min` bytes in address order.
   1, or 0 if there is none (the cursor is then unchanged for _next). */
bool heap_tree_first(const struct heap_tree *t, size_t min,
                     struct heap_cursor *cur);
bool heap_tree_next(const struct heap_tree *t, size_t min,
                    struct heap_cursor *cur);
struct heap_range heap_tree_get(const struct heap_tree *t,
                                const struct heap_cursor *cur);

/* Changes the range at the cursor, which keeps its place in the order. */
void heap_tree_set(struct heap_tree *t, const struct heap_cursor *cur,
                   struct heap_range r);
/* Puts r right after the cursor. 0, or -1 if the pool is full. */
int heap_tree_insert(struct heap_tree *t, struct heap_cursor *cur,
                     struct heap_range r);
void heap_tree_erase(struct heap_tree *t, struct heap_cursor *cur);

/* 0 if the tree is consistent, -1 if not; for tests. */
int heap_tree_check(const struct heap_tree *t);

#endif
