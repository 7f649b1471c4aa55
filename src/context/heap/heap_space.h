/* A range of addresses dealt out in pieces, lowest fit first. It never reads
   or writes the range itself. Not thread-safe. Addresses and sizes of pieces
   are multiples of 16. */
#ifndef PEMS_CONTEXT_HEAP_HEAP_SPACE_H
#define PEMS_CONTEXT_HEAP_HEAP_SPACE_H

#include "context/heap/heap.h"
#include "context/heap/heap_tree.h"

struct heap_space {
  char *base;
  char *end;             /* of what may be dealt out now */
  char *limit;           /* of what may ever be */
  char *lacks;           /* where the end would have to be for the last piece
                            that could not be had, or NULL: that is no help */
  char *top;             /* end of the last piece; all above is free */
  char *high;            /* memory from here on is known to be zero */
  struct heap_tree free; /* the free ranges below top; none touches it */
  size_t pieces;         /* dealt out now */
  size_t most;           /* so many fit into the tree's pool in any case */
};

/* `pool` is zeroed native memory for the tree; it stays the caller's. */
void heap_space_init(struct heap_space *s, char *base, size_t size, void *pool,
                     size_t pool_bytes);

/* The lowest piece of n bytes such that the address `lead` bytes into it is a
   multiple of `align`, a power of two >= 16; NULL if there is none. With
   align > 16 a lower fit is missed after many free ranges that are large
   enough but lie wrongly. */
char *heap_space_take(struct heap_space *s, size_t n, size_t align,
                      size_t lead);
/* Is [at, at + n) free, and can it be had now? If it would be after
   heap_space_limit, `lacks` says so. */
bool heap_space_is_free(struct heap_space *s, char *at, size_t n);
/* The piece [at, at + n), which is known to be free. */
void heap_space_take_at(struct heap_space *s, char *at, size_t n);
/* Adds the `more` bytes behind piece [at, at + n) to it; 0, or -1 if they are
   not free. */
int heap_space_extend(struct heap_space *s, char *at, size_t n, size_t more);
/* Gives back a whole piece, or its end only. 0, or -1 if part of it is free
   already: then nothing happened. */
int heap_space_give(struct heap_space *s, char *at, size_t n);
int heap_space_give_end(struct heap_space *s, char *at, size_t n);

/* Moves the ends: base <= now <= most, and no piece lies above them. */
void heap_space_limit(struct heap_space *s, size_t now, size_t most);

/* See heap_extents. `page` is the page size. */
size_t heap_space_extents(const struct heap_space *s, size_t page, size_t merge,
                          struct heap_extent *out, size_t max);

#endif
