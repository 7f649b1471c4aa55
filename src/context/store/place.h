/* Which byte of a context lies at which offset on disk: its image's data come
   first, then its heap; data of libraries that were opened at run time take the
   place of a block of the heap. */
#ifndef PEMS_CONTEXT_STORE_PLACE_H
#define PEMS_CONTEXT_STORE_PLACE_H

#include "context/context.h"

/* The offset of address p, which may be the end of c's range. */
uint64_t place_offset(const struct context *c, const void *p);
/* How many bytes from address `at` on, up to `end`, lie on disk in a row. */
size_t place_piece(const struct context *c, uintptr_t at, uintptr_t end);
/* The address of an offset; shortens *n bytes to what follows it in memory. */
char *place_address(const struct context *c, uint64_t offset, size_t *n);

#endif
