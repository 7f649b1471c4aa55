/* The free space of one file: blocks of different sizes are taken and given
   back in any order. */
#ifndef PEMS_DISK_EXTENTS_H
#define PEMS_DISK_EXTENTS_H

#include <stdint.h>

struct extents;

/* All of [0, size) is free. NULL without memory. Not thread-safe. */
struct extents *extents_new(uint64_t size);
void extents_delete(struct extents *extents);

/* Takes the first n bytes in a row (n > 0) from the lowest address where there
   are so many. 0, or -1 if there is no such place. O(log of the gaps). */
int extents_take(struct extents *extents, uint64_t n, uint64_t *at);
/* Gives [at, at + n), which was taken, back; neighbours that are free become
   one with it. 0, or -1 without memory to note it: then it stays taken. */
int extents_give(struct extents *extents, uint64_t at, uint64_t n);

/* Bytes that are free, and the longest row of them. */
uint64_t extents_free(const struct extents *extents);
uint64_t extents_longest(const struct extents *extents);

#endif
