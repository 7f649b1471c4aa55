/* Ranges of one contiguous memory. */
#ifndef PEMS_EM_CORE_ARENA_H
#define PEMS_EM_CORE_ARENA_H

#include <stddef.h>
#include <stdint.h>

/* A map with a bit for each unit, set where it is given out. */
struct arena {
  char *base;
  size_t unit;           /* bytes, a power of two */
  size_t units;          /* in all */
  size_t free;           /* units */
  size_t retired;        /* units that are out of use; they count as taken */
  uint64_t *taken, *out; /* the latter: retired */
};

/* Of n bytes at `base`, which stay the caller's; what is no whole unit is not
   used. 0 or ENOMEM (of the map). */
int arena_init(struct arena *a, void *base, size_t n, size_t unit);
void arena_destroy(struct arena *a);

/* n bytes, rounded up to units: the lowest range that fits, or the highest.
   NULL if there is none. */
void *arena_get(struct arena *a, size_t n);
void *arena_get_high(struct arena *a, size_t n);
/* The largest free range (of equal ones the lowest), or `most` bytes of it from
   its beginning; *n is how many. NULL if that would be less than `least`. */
void *arena_get_largest(struct arena *a, size_t least, size_t most, size_t *n);
/* Gives n bytes (rounded up to units) at p back: any whole units that were
   given out, not necessarily as they were. */
void arena_put(struct arena *a, void *p, size_t n);

/* Takes a free range out of use: the smallest one, or `most` bytes (rounded up)
   of its end; *n is how many. NULL if nothing is free. */
void *arena_retire(struct arena *a, size_t most, size_t *n);
/* Makes retired units free again, n bytes of them at most. Returns how many. */
size_t arena_restore(struct arena *a, size_t n);

/* Bytes that are in use or free, but not retired. */
size_t arena_bytes(const struct arena *a);
/* Bytes that are free, wherever. */
size_t arena_free(const struct arena *a);
/* Bytes that n take. */
size_t arena_rounded(const struct arena *a, size_t n);

#endif
